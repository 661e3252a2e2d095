/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication split into serialisation and transfer (view_pop.h), from known calls of MPI. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/view/parallel/view_pop.h"
#include "tests/gen/gen_mpi.h"

#include <math.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)

enum { RANKS = 2, ELAPSED = 10 };

static const uint8_t id_app[2] = {0xab, 1};

static struct msr_mpi_call call_of(unsigned call, uint64_t n, uint64_t bytes, uint64_t ns,
				   uint64_t least_ns)
{
	return (struct msr_mpi_call){.node = 2,
				     .call = (uint16_t)call,
				     .size_class = msr_mpi_size_class(bytes),
				     .comm = 1,
				     .peer = MSR_MPI_NO_PEER,
				     .n_calls = n,
				     .received = n * bytes,
				     .ns = ns,
				     .least_ns = least_ns};
}

/* A rank whose threads work for `work` seconds of ten each. Its main thread makes these calls. */
static void write_rank(const char *directory, uint32_t rank, uint32_t n_threads, uint64_t work,
		       const struct msr_mpi_call *calls, size_t n)
{
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = 100 + rank,
								  .rank = (int32_t)rank,
								  .n_ranks = RANKS,
								  .start_mono_ns = SECOND,
								  .start_real_ns = SECOND});
	uint16_t module = gen_module(g, "/bin/app", id_app, sizeof id_app, MSR_MODULE_MAIN);
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, MILLISECOND, MSR_SOURCE_TEST);
	for (uint32_t t = 0; t < n_threads; t++) {
		gen_thread(g, "t");
		uint32_t node = gen_child(g, t, gen_entry(g, t, MSR_ENTRY_MAIN),
					  msr_addr_make(module, 0x1000, false));
		assert_int_equal(node, 2);
		gen_sample(g, t, node, metric, SECOND, work * SECOND);
		gen_sample(g, t, node, metric, (1 + ELAPSED) * SECOND, 0);
		gen_thread_record(g, t)->start_ns = SECOND;
		gen_thread_record(g, t)->end_ns = (1 + ELAPSED) * SECOND;
	}
	if (n_threads > 1)
		gen_region(
			g, 0,
			&(struct msr_omp_region){.function = msr_addr_make(module, 0x1000, false),
						 .n_threads = n_threads,
						 .instances = 1});
	char *path = gen_close(g, MSR_EXIT_RETURN, 0);
	const struct msr_mpi_comm comm = {
		.id = 1, .size = RANKS, .rank = rank, .flags = MSR_MPI_COMM_WORLD, .identity = 1};
	gen_mpi_add(path, MSR_MPI_COMM, 0, &comm, 1);
	gen_mpi_add(path, MSR_MPI_CALL, 0, calls, n);
	free(path);
}

/* Two ranks that work for 6 and 4 s, with equal calls. */
static struct view_pop split(const struct msr_mpi_call *calls, size_t n)
{
	char *directory = fixture_directory();
	struct view_pops p;
	write_rank(directory, 0, 1, 6, calls, n);
	write_rank(directory, 1, 1, 4, calls, n);
	struct model *m = fixture_model(directory, 1);
	assert_true(view_pop_make(m, &p));
	assert_int_equal(p.n, 1);
	model_free(m);
	fixture_remove(directory);
	return p.at[0];
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-4;
}

static void split_is(const struct view_pop *x, double serialisation, double transfer)
{
	assert_true(x->has_transfer);
	if (!near(x->serialisation, serialisation) || !near(x->transfer, transfer))
		fail_msg("%g x %g, not %g x %g", x->serialisation, x->transfer, serialisation,
			 transfer);
	assert_true(near(x->communication, x->serialisation * x->transfer));
}

/* Most receives wait for the sender; the shortest takes 1 us. */
static void test_late_sender(void **state)
{
	(void)state;
	const struct msr_mpi_call c = call_of(MPI_CALL_Recv, 100, 8, 3 * SECOND, 1000);
	struct view_pop x = split(&c, 1);
	split_is(&x, 0.6 / (1 - 100e-6 / 10), 1 - 100e-6 / 10);
}

/* Messages of 100 MB that take 20 ms each: a network explains that. */
static void test_large_messages(void **state)
{
	(void)state;
	const struct msr_mpi_call c =
		call_of(MPI_CALL_Recv, 100, 100000000, 2 * SECOND, 20 * MILLISECOND);
	struct view_pop x = split(&c, 1);
	split_is(&x, 0.75, 0.8);
}

/* All receives of 8 bytes take 20 ms: nobody knows whether the sender is always late. */
static void test_always_late(void **state)
{
	(void)state;
	const struct msr_mpi_call c = call_of(MPI_CALL_Recv, 100, 8, 2 * SECOND, 20 * MILLISECOND);
	assert_false(split(&c, 1).has_transfer);
}

/* What completes requests: little was sent, so it waits; or it may be transfer. */
static void test_requests(void **state)
{
	(void)state;
	struct msr_mpi_call c[] = {call_of(MPI_CALL_Irecv, 100, 8, 0, 0),
				   call_of(MPI_CALL_Waitall, 100, 0, 3 * SECOND, 100)};
	struct view_pop x = split(c, 2);
	assert_true(x.has_transfer && x.transfer > 0.999);
	c[0] = call_of(MPI_CALL_Irecv, 100, 10000000, 0, 0);
	assert_false(split(c, 2).has_transfer);
	c[0] = call_of(MPI_CALL_Start, 100, 0, 0, 0); /* of an unknown size */
	assert_false(split(c, 2).has_transfer);
}

/* Polls in vain wait: they transfer no more than the messages that were started need. */
static void test_polls(void **state)
{
	(void)state;
	struct msr_mpi_call c[] = {call_of(MPI_CALL_Recv, 100, 8, 10000, 100),
				   call_of(MPI_CALL_Iprobe, 1000000, 0, 3 * SECOND, 100)};
	struct view_pop x = split(c, 2);
	split_is(&x, 0.6 / (1 - 10e-6 / 10), 1 - 10e-6 / 10);
	c[0] = call_of(MPI_CALL_Irecv, 100, 8, 0, 0);
	c[1] = call_of(MPI_CALL_Test, 1000000, 0, 3 * SECOND, 100);
	x = split(c, 2);
	assert_true(x.has_transfer && x.transfer > 0.999 && x.serialisation < 0.601);
	/* large messages: the polls may have moved them */
	c[0] = call_of(MPI_CALL_Irecv, 100, 10000000, 0, 0);
	assert_false(split(c, 2).has_transfer);
}

/* Files are no network, and set-up is no communication. */
static void test_others(void **state)
{
	(void)state;
	const struct msr_mpi_call c[] = {
		call_of(MPI_CALL_Recv, 10, 8, 10000, 1000),
		call_of(MPI_CALL_File_write_at, 10, 1000, 2 * SECOND, 1000),
		call_of(MPI_CALL_Finalize, 1, 0, SECOND, SECOND)};
	struct view_pop x = split(c, 3);
	assert_true(x.has_transfer && x.transfer > 0.999);
}

static void test_without_calls(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct view_pops p;
	for (uint32_t rank = 0; rank < RANKS; rank++)
		write_rank(directory, rank, 1, 6, NULL, 0);
	struct model *m = fixture_model(directory, 1);
	assert_true(view_pop_make(m, &p));
	assert_true(p.n == 1 && !p.at[0].has_transfer);
	model_free(m);
	fixture_remove(directory);
}

/* Calls that block have no samples of CPUTIME; what was measured at the calls counts. */
static void test_hybrid(void **state)
{
	(void)state;
	const struct msr_mpi_call c[] = {call_of(MPI_CALL_Recv, 100, 8, 2 * SECOND, 1000),
					 call_of(MPI_CALL_Recv, 100, 8, 4 * SECOND, 1000)};
	char *directory = fixture_directory();
	struct view_pops p;
	for (uint32_t rank = 0; rank < RANKS; rank++)
		write_rank(directory, rank, 2, 3, &c[rank], 1);
	struct model *m = fixture_model(directory, 1);
	assert_true(view_pop_make(m, &p));
	assert_true(p.n == 1 && p.at[0].is_hybrid);
	assert_true(near(p.at[0].parallel, 0.3) && near(p.at[0].mpi, 0.7) &&
		    near(p.at[0].mpi_load_balance, 7. / 8) &&
		    near(p.at[0].mpi_communication, 0.8) && near(p.at[0].omp, 3. / 7));
	model_free(m);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_sender), cmocka_unit_test(test_large_messages),
		cmocka_unit_test(test_always_late), cmocka_unit_test(test_requests),
		cmocka_unit_test(test_polls),       cmocka_unit_test(test_others),
		cmocka_unit_test(test_without_calls), cmocka_unit_test(test_hybrid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
