/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiencies (view_pop.h) of ranks that ran several programs. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/view/parallel/view_pop.h"

#include <math.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

static const uint8_t id_app[2] = {0xab, 1};

static void write_structure(const char *directory)
{
	struct gen_structure *s = gen_structure_new("/bin/app", id_app, sizeof id_app);
	uint32_t file = gen_structure_file(s, "/src/main.c");
	uint32_t main_ =
		gen_structure_function(s, gen_structure_definition(s, "main", file, 10), 0x1000);
	uint32_t loop = gen_structure_loop(s, main_, file, 20, 0x1010);
	gen_structure_interval(s, 0x1000, main_, file, 12);
	gen_structure_interval(s, 0x1010, loop, file, 21);
	gen_structure_interval(s, 0x1020, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

/* A thread lives for `life` seconds and works for the first of them, in a loop of main. */
static void add_thread(struct gen *g, uint64_t start, uint64_t work, uint64_t life)
{
	uint32_t t = gen_thread(g, "t"), entry = gen_entry(g, t, MSR_ENTRY_MAIN),
		 n = gen_child(g, t, entry, msr_addr_make(1, 0x1014, false)),
		 out = gen_child(g, t, entry, msr_addr_make(1, 0x1004, false));
	struct msr_thread *r = gen_thread_record(g, t);
	r->start_ns = start * SECOND;
	r->end_ns = (start + life) * SECOND;
	gen_sample(g, t, n, 0, start * SECOND, 0);
	for (uint64_t i = 1; i <= work; i++)
		gen_sample(g, t, n, 0, (start + i) * SECOND - 2000, SECOND);
	gen_sample(g, t, out, 0, (start + life) * SECOND - 1000, 0);
}

/* A process with threads that work for so many seconds; `second` 0: one thread. */
static void add_process(const char *directory, uint32_t pid, int32_t rank, uint64_t start,
			uint64_t life, uint64_t first, uint64_t second)
{
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = pid,
								  .rank = rank,
								  .n_ranks = 2,
								  .start_mono_ns = start * SECOND,
								  .start_real_ns = start * SECOND});
	gen_module(g, "/bin/app", id_app, sizeof id_app, MSR_MODULE_MAIN);
	gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	add_thread(g, start, first, life);
	if (second)
		add_thread(g, start, second, life);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
}

static struct view_pops efficiencies(char *directory)
{
	struct view_pops p;
	struct model *m = fixture_model(directory, 1);
	assert_true(view_pop_make(m, &p));
	model_free(m);
	fixture_remove(directory);
	return p;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-5;
}

/* Each rank runs two programs one after the other; the second one of rank 0 has two threads. */
static void test_one_after_the_other(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	write_structure(directory);
	add_process(directory, 100, 0, 10, 4, 4, 0);
	add_process(directory, 101, 0, 15, 6, 6, 2);
	add_process(directory, 103, 1, 14, 6, 3, 0);
	add_process(directory, 102, 1, 10, 4, 2, 0);
	struct view_pops p = efficiencies(directory);
	const struct view_pop *all = &p.at[0], *loop = &p.at[1];
	assert_int_equal(all->n_processes, 2);
	assert_int_equal(all->n_threads, 3);
	assert_true(near(all->elapsed, 10));
	/* the threads worked for 4 + 6, 2, and 3 + 2 seconds */
	assert_true(near(all->parallel, 17. / 30) && near(all->load_balance, 17. / 30) &&
		    near(all->communication, 1));
	assert_int_equal(p.n, 2);
	assert_true(near(loop->elapsed, 10) && near(loop->parallel, 17. / 30));
}

/* Programs of one rank that run at the same time are processes of their own. */
static void test_at_the_same_time(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	write_structure(directory);
	add_process(directory, 100, 0, 10, 10, 10, 0);
	add_process(directory, 101, 0, 11, 4, 4, 0);
	add_process(directory, 102, 0, 15, 4, 2, 0);
	add_process(directory, 103, 1, 10, 10, 8, 0);
	struct view_pops p = efficiencies(directory);
	assert_int_equal(p.at[0].n_processes, 3);
	assert_int_equal(p.at[0].n_threads, 3);
	assert_true(near(p.at[0].elapsed, 10) && near(p.at[0].parallel, 24. / 30) &&
		    near(p.at[0].load_balance, 8. / 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_at_the_same_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
