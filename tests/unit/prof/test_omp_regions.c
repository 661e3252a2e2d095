/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/load/load_regions.c and attribute/expand/omp_regions.c: sums of parallel
 * regions get functions and lines, those of several threads of a process add up, and what cannot be
 * right is damage.
 */
#include "tests/unit/prof/prof_fixture.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t id_app[3] = {0xaa, 0xbb, 0xcc};

/*
 * /bin/app: main at 0x1000 (main.c:10), at 0x1020 solve inlined (work.c:5), which forks in line 7;
 * solve._omp_fn.0 at 0x2000 (work.c:7).
 */
static void write_structure(const char *directory)
{
	struct gen_structure *s = gen_structure_new("/bin/app", id_app, sizeof id_app);
	uint32_t main_c = gen_structure_file(s, "/src/main.c"),
		 solve_c = gen_structure_file(s, "/src/work.c");
	uint32_t d_main = gen_structure_definition(s, "main", main_c, 10),
		 d_solve = gen_structure_definition(s, "solve", solve_c, 5),
		 d_outlined = gen_structure_definition(s, "solve._omp_fn.0", solve_c, 7);
	uint32_t main_ = gen_structure_function(s, d_main, 0x1000),
		 solve = gen_structure_inline(s, main_, d_solve, main_c, 12, 0x1020),
		 outlined = gen_structure_function(s, d_outlined, 0x2000);
	gen_structure_interval(s, 0x1000, main_, main_c, 11);
	gen_structure_interval(s, 0x1020, solve, solve_c, 7);
	gen_structure_interval(s, 0x1030, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	gen_structure_interval(s, 0x2000, outlined, solve_c, 8);
	gen_structure_interval(s, 0x3000, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

static struct run {
	char *directory;
	struct gen *g;
	uint16_t app, bare;
	uint32_t threads[2];
	struct model *m;
} r;

static int setup(void **state)
{
	(void)state;
	r.directory = fixture_directory();
	r.g = gen_open(r.directory, &(struct gen_process){.pid = 1, .rank = -1});
	r.app = gen_module(r.g, "/bin/app", id_app, sizeof id_app, MSR_MODULE_MAIN);
	r.bare = gen_module(r.g, "/lib/libbare.so", NULL, 0, 0);
	for (int i = 0; i < 2; i++)
		r.threads[i] = gen_thread(r.g, "t");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_free(r.m);
	fixture_remove(r.directory);
	return 0;
}

static void add(int thread, uint16_t module, uint64_t call, uint64_t function, uint32_t n_threads)
{
	const struct msr_omp_region record = {
		.call = call ? msr_addr_make(module, call, false) : 0,
		.function = function ? msr_addr_make(module, function, false) : 0,
		.n_threads = n_threads,
		.instances = 10,
		.elapsed_ns = 5000,
		.n_timed = 10 * n_threads,
		.busy_ns = 8000,
		.max_ns = 4500,
		.min_ns = 3500};
	gen_region(r.g, r.threads[thread], &record);
}

static void finish(void)
{
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	write_structure(r.directory);
	r.m = fixture_model(r.directory, 1);
	fixture_check_model(r.m);
}

static const char *function_name(uint32_t id)
{
	return id == MODEL_NONE ? "none" : r.m->functions[id].name;
}

static void threads_add_up(void **state)
{
	(void)state;
	add(0, r.app, 0x1024, 0x2000, 2);
	add(1, r.app, 0x1024, 0x2000, 2);
	add(1, r.app, 0x1024, 0x2000, 4);
	finish();
	assert_int_equal(r.m->n_omp_regions, 2);
	const struct model_omp_region *region = &r.m->omp_regions[0];
	assert_int_equal(region->n_threads, 2);
	assert_string_equal(function_name(region->function), "solve._omp_fn.0");
	assert_string_equal(function_name(region->call_function), "solve");
	assert_string_equal(r.m->files[region->file].path, "/src/work.c");
	assert_int_equal(region->line, 7);
	assert_int_equal(region->instances, 20);
	assert_int_equal(region->elapsed_ns, 10000);
	assert_int_equal(region->n_timed, 40);
	assert_int_equal(region->busy_ns, 16000);
	assert_int_equal(region->max_ns, 9000);
	assert_int_equal(region->min_ns, 7000);
	assert_int_equal(r.m->omp_regions[1].n_threads, 4);
}

static void what_is_not_known(void **state)
{
	(void)state;
	add(0, r.app, 0, 0x2000, 2); /* a tail call */
	add(0, r.bare, 0x1024, 0, 3);
	add(0, MSR_MODULE_UNKNOWN, 0x1024, 0x2000, 4);
	add(0, 0, 0, 0, 0);
	finish();
	assert_int_equal(r.m->processes[0].ledger.bytes_damaged, 0);
	assert_int_equal(r.m->n_omp_regions, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct model_omp_region *region = &r.m->omp_regions[i];
		static const char *const function[] = {"none", "", "solve._omp_fn.0", "none",
						       "none"};
		static const char *const call[] = {"none", "", "none",
						   "<unknown function> [libbare.so]", "none"};
		assert_string_equal(function_name(region->function), function[region->n_threads]);
		assert_string_equal(function_name(region->call_function), call[region->n_threads]);
		assert_int_equal(region->file, MODEL_NONE);
	}
}

static void damage(void **state)
{
	struct msr_omp_region record = {.n_threads = 2, .elapsed_ns = UINT64_MAX};
	(void)state;
	add(0, 17, 0x1024, 0x2000, 2); /* no such module */
	gen_region(r.g, r.threads[0], &record);
	record = (struct msr_omp_region){.call = MSR_WAIT}; /* a synthetic frame */
	gen_region(r.g, r.threads[0], &record);
	record = (struct msr_omp_region){.call = msr_addr_make(r.app, 0x1024, true)};
	gen_region(r.g, r.threads[0], &record);
	add(0, r.app, 0x1024, 0x2000, 2);
	finish();
	assert_int_equal(r.m->n_omp_regions, 1);
	assert_int_equal(r.m->processes[0].ledger.bytes_damaged, 4 * sizeof record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known, setup, teardown),
		cmocka_unit_test_setup_teardown(damage, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
