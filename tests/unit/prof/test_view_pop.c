/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel efficiencies (view_pop.h) of runs whose efficiencies are known. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/model/private.h"
#include "hpcprof-lite/view/parallel/view_pop.h"

#include <math.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

static const uint8_t id_app[2] = {0xab, 1}, id_mpi[2] = {0xab, 2};

/*
 * main at 0x1000 with a loop at main.c:20 from 0x1010 on; MPI_Recv at 0x1000 of libmpi and
 * PMPI_Init_thread at 0x1100.
 */
static void write_structures(const char *directory)
{
	struct gen_structure *s = gen_structure_new("/bin/app", id_app, sizeof id_app);
	uint32_t file = gen_structure_file(s, "/src/main.c");
	uint32_t main_ = gen_structure_function(s, gen_structure_definition(s, "main", file, 10),
						0x1000);
	uint32_t loop = gen_structure_loop(s, main_, file, 20, 0x1010);
	gen_structure_interval(s, 0x1000, main_, file, 12);
	gen_structure_interval(s, 0x1010, loop, file, 21);
	gen_structure_interval(s, 0x1020, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
	s = gen_structure_new("/lib/libmpi.so.40", id_mpi, sizeof id_mpi);
	uint32_t recv = gen_structure_function(
		s, gen_structure_definition(s, "MPI_Recv", STRUCTURE_NONE, 0), 0x1000);
	gen_structure_interval(s, 0x1000, recv, STRUCTURE_NONE, 0);
	uint32_t init = gen_structure_function(
		s, gen_structure_definition(s, "PMPI_Init_thread", STRUCTURE_NONE, 0), 0x1100);
	gen_structure_interval(s, 0x1100, init, STRUCTURE_NONE, 0);
	gen_structure_interval(s, 0x1200, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

static struct gen *begin(const char *directory, int32_t rank)
{
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = 100 + (uint32_t)rank,
								  .rank = rank,
								  .n_ranks = 2,
								  .start_mono_ns = 10 * SECOND,
								  .start_real_ns = 10 * SECOND});
	gen_module(g, "/bin/app", id_app, sizeof id_app, MSR_MODULE_MAIN);
	gen_module(g, "/lib/libmpi.so.40", id_mpi, sizeof id_mpi, 0);
	gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	return g;
}

/* A thread that works before the loop and in it, and is in MPI_Recv in the loop; seconds. */
static void add_thread(struct gen *g, uint64_t before, uint64_t work, uint64_t mpi)
{
	uint32_t t = gen_thread(g, "t");
	struct msr_thread *r = gen_thread_record(g, t);
	uint32_t entry = gen_entry(g, t, MSR_ENTRY_MAIN),
		 out = gen_child(g, t, entry, msr_addr_make(1, 0x1004, false)),
		 in = gen_child(g, t, entry, msr_addr_make(1, 0x1014, false)),
		 recv = gen_child(g, t, in, msr_addr_make(2, 0x1004, false));
	uint64_t now = 10 * SECOND;
	gen_sample(g, t, out, 0, now, 0);
	for (uint64_t i = 0; i < before; i++)
		gen_sample(g, t, out, 0, now += SECOND, SECOND);
	for (uint64_t i = 0; i < work; i++)
		gen_sample(g, t, in, 0, now += SECOND, SECOND);
	for (uint64_t i = 0; i < mpi; i++)
		gen_sample(g, t, recv, 0, now += SECOND, SECOND);
	r->start_ns = 10 * SECOND;
	r->end_ns = 20 * SECOND;
	gen_sample(g, t, out, 0, 20 * SECOND - 1000, 0);
}

/* The first thread of the process forked teams of that size. */
static void add_region(struct gen *g, uint32_t n_threads)
{
	gen_region(g, 0,
		   &(struct msr_omp_region){.function = msr_addr_make(1, 0x1014, false),
					    .call = msr_addr_make(1, 0x1014, false),
					    .n_threads = n_threads,
					    .instances = 1});
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-5;
}

static void test_one_process(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, -1);
	write_structures(directory);
	add_thread(g, 2, 6, 0);
	add_thread(g, 0, 4, 0);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	struct view_pops p;
	assert_true(view_pop_make(m, &p));
	assert_int_equal(p.n, 2);
	const struct view_pop *all = &p.at[0], *loop = &p.at[1];
	assert_true(near(all->elapsed, 10) && all->n_threads == 2 && !all->is_hybrid);
	assert_true(near(all->parallel, 6. / 10) && near(all->load_balance, 6. / 8) &&
		    near(all->communication, 8. / 10));
	assert_true(near(all->parallel, all->load_balance * all->communication));
	assert_int_equal(m->contexts[loop->context].kind, MODEL_CONTEXT_LOOP);
	assert_true(near(loop->elapsed, 6) && near(loop->parallel, 5. / 6) &&
		    near(loop->load_balance, 5. / 6) && near(loop->communication, 1));
	model_free(m);
	fixture_remove(directory);
}

static void test_hybrid(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	write_structures(directory);
	struct gen *g = begin(directory, 0);
	add_thread(g, 0, 8, 2); /* outside of MPI: 8 */
	add_thread(g, 0, 4, 0);
	add_region(g, 2);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	g = begin(directory, 1);
	add_thread(g, 0, 4, 6); /* outside of MPI: 4 */
	add_thread(g, 0, 2, 0);
	add_region(g, 2);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	struct view_pops p;
	assert_true(view_pop_make(m, &p));
	const struct view_pop *all = &p.at[0];
	assert_true(all->is_hybrid && all->n_processes == 2 && all->n_threads == 4);
	assert_true(near(all->parallel, 18. / 40) && near(all->load_balance, 4.5 / 8) &&
		    near(all->communication, 8. / 10));
	assert_true(near(all->mpi, 6. / 10) && near(all->mpi_load_balance, 6. / 8) &&
		    near(all->mpi_communication, 8. / 10));
	assert_true(near(all->omp, (18. / 40) / (6. / 10)));
	assert_true(near(all->parallel, all->mpi * all->omp));
	model_free(m);
	fixture_remove(directory);
}

/* Two ranks with a thread each: helper threads of MPI make no hybrid program of that. */
static void test_helper_threads(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	write_structures(directory);
	for (int32_t rank = 0; rank < 2; rank++) {
		struct gen *g = begin(directory, rank);
		add_thread(g, 0, 8 - 4 * (uint64_t)rank, 2);
		add_thread(g, 0, 0, 0);
		free(gen_close(g, MSR_EXIT_RETURN, 0));
	}
	struct model *m = fixture_model(directory, 1);
	struct view_pops p;
	for (uint32_t i = 0; i < m->n_profiles; i++)
		m->private_->profiles[i].cpu_ns = m->profiles[i].thread ? 1 : 8 * SECOND;
	assert_true(view_pop_make(m, &p));
	const struct view_pop *all = &p.at[0];
	assert_true(!all->has_setup && !all->is_hybrid);
	assert_true(all->n_processes == 2 && all->n_threads == 2);
	assert_true(near(all->parallel, 6. / 10) && near(all->load_balance, 6. / 8));
	model_free(m);
	fixture_remove(directory);
}

/* MPI_Init is no communication: the run is that much shorter. */
static void test_set_up(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	write_structures(directory);
	for (int32_t rank = 0; rank < 2; rank++) {
		struct gen *g = begin(directory, rank);
		add_thread(g, 0, 6, 2);
		gen_weight(g, 0, gen_child(g, 0, 2, msr_addr_make(2, 0x1104, false)), 0, 1,
			   2 * SECOND);
		if (rank)
			add_thread(g, 0, 3, 0);
		add_region(g, rank ? 2 : 1);
		free(gen_close(g, MSR_EXIT_RETURN, 0));
	}
	struct model *m = fixture_model(directory, 1);
	struct view_pops p;
	assert_true(view_pop_make(m, &p));
	const struct view_pop *all = &p.at[0], *loop = &p.at[1];
	assert_true(all->has_setup && !loop->has_setup);
	assert_true(near(all->elapsed, 8) && near(all->communication, 6. / 8));
	assert_true(all->is_hybrid && near(all->mpi, 6. / 8));
	assert_true(p.n == 2 && near(loop->elapsed, 8) && near(loop->mpi, 6. / 8));
	model_free(m);
	fixture_remove(directory);
}

static void test_one_thread_has_none(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, -1);
	write_structures(directory);
	add_thread(g, 2, 6, 0);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	struct view_pops p;
	assert_true(view_pop_make(m, &p));
	assert_int_equal(p.n, 0);
	model_free(m);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_process),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_helper_threads),
		cmocka_unit_test(test_set_up),
		cmocka_unit_test(test_one_thread_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
