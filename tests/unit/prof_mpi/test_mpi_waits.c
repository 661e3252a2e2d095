/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/attribute/mpi: who waited for whom in collective calls of each kind, calls
 * whose arrivals are not all known, and clocks of two hosts that are known only through the calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/attribute/mpi/mpi_clocks.h"
#include "hpcprof-lite/attribute/mpi/mpi_waits.h"

#include <stdlib.h>

/* Each rank is a file with one thread, whose profile is 10 + rank. */
static uint32_t profile(const void *arg, uint32_t file, uint32_t thread)
{
	(void)arg;
	(void)thread;
	return 10 + file;
}
static const struct topic_where where = {NULL, profile, NULL};

static struct mpi_arrivals arrivals;
static struct mpi_waits waits;

static void arrive(unsigned call, uint64_t number, uint32_t rank, uint32_t size, int32_t root,
		   int64_t enter_ns, int64_t leave_ns)
{
	struct mpi_arrival *a = vec_push(&arrivals.list);
	assert_non_null(a);
	*a = (struct mpi_arrival){.comm = 5,
				  .number = number,
				  .enter_ns = enter_ns,
				  .leave_ns = leave_ns,
				  .file = rank,
				  .node = 7,
				  .context = 7,
				  .comm_id = 1,
				  .size = size,
				  .rank = rank,
				  .root = root,
				  .call = (uint16_t)call};
}

static void make(void)
{
	assert_true(mpi_waits_make(&waits, &arrivals, &where));
}

static uint64_t wait_of(unsigned call, uint32_t rank)
{
	const struct mpi_place_waits *p = mpi_waits_find(&waits, rank, 0, 7, 1, (uint16_t)call);
	return p ? p->wait_ns : UINT64_MAX;
}

static int clear(void **state)
{
	(void)state;
	mpi_arrivals_free(&arrivals);
	mpi_waits_free(&waits);
	waits.n_matched = waits.n_unmatched = 0;
	return 0;
}

static void everybody_waits_for_the_last(void **state)
{
	(void)state;
	arrive(MPI_CALL_Barrier, 0, 0, 3, -1, 100, 950);
	arrive(MPI_CALL_Barrier, 0, 1, 3, -1, 200, 960);
	arrive(MPI_CALL_Barrier, 0, 2, 3, -1, 900, 955);
	make();
	assert_int_equal(wait_of(MPI_CALL_Barrier, 0), 800);
	assert_int_equal(wait_of(MPI_CALL_Barrier, 1), 700);
	assert_int_equal(wait_of(MPI_CALL_Barrier, 2), 0);
	assert_int_equal(waits.sites.n, 1);
	assert_int_equal(waits.sites.at[0].waited_ns, 1500);
	assert_int_equal(waits.late.n, 1);
	assert_int_equal(waits.late.at[0].profile, 12);
	assert_int_equal(waits.late.at[0].waited_ns, 1500);
	assert_int_equal(waits.late.at[0].behind_ns, 750);
	assert_int_equal(waits.n_matched, 1);
}

static void nobody_waits_longer_than_its_call(void **state)
{
	(void)state;
	/* rank 0 left before rank 1 came: the call did not hold it */
	arrive(MPI_CALL_Allreduce, 0, 0, 2, -1, 100, 300);
	arrive(MPI_CALL_Allreduce, 0, 1, 2, -1, 900, 910);
	make();
	assert_int_equal(wait_of(MPI_CALL_Allreduce, 0), 200);
}

static void roots_and_prefixes(void **state)
{
	(void)state;
	/* a broadcast from rank 1, which comes between the others */
	arrive(MPI_CALL_Bcast, 0, 0, 3, 1, 100, 650);
	arrive(MPI_CALL_Bcast, 0, 1, 3, 1, 600, 610);
	arrive(MPI_CALL_Bcast, 0, 2, 3, 1, 900, 910);
	/* a reduction to rank 1; only the root waits, for rank 2 */
	arrive(MPI_CALL_Reduce, 1, 0, 3, 1, 1000, 1010);
	arrive(MPI_CALL_Reduce, 1, 1, 3, 1, 1100, 1950);
	arrive(MPI_CALL_Reduce, 1, 2, 3, 1, 1900, 1910);
	/* a scan: rank 1 waits for rank 0, rank 2 for the later of both */
	arrive(MPI_CALL_Scan, 2, 0, 3, -1, 2500, 2600);
	arrive(MPI_CALL_Scan, 2, 1, 3, -1, 2000, 2600);
	arrive(MPI_CALL_Scan, 2, 2, 3, -1, 2100, 2600);
	make();
	assert_int_equal(wait_of(MPI_CALL_Bcast, 0), 500);
	assert_int_equal(wait_of(MPI_CALL_Bcast, 1), 0);
	assert_int_equal(wait_of(MPI_CALL_Bcast, 2), 0);
	assert_int_equal(wait_of(MPI_CALL_Reduce, 0), 0);
	assert_int_equal(wait_of(MPI_CALL_Reduce, 1), 800);
	assert_int_equal(wait_of(MPI_CALL_Reduce, 2), 0);
	assert_int_equal(wait_of(MPI_CALL_Scan, 0), 0);
	assert_int_equal(wait_of(MPI_CALL_Scan, 1), 500);
	assert_int_equal(wait_of(MPI_CALL_Scan, 2), 400);
	/* by falling time: scan, reduction, broadcast */
	assert_int_equal(waits.sites.n, 3);
	assert_int_equal(waits.sites.at[0].call, MPI_CALL_Scan);
	assert_int_equal(waits.sites.at[2].call, MPI_CALL_Bcast);
	assert_int_equal(waits.late.at[waits.sites.at[2].first_late].profile, 11);
	assert_int_equal(waits.late.at[waits.sites.at[1].first_late].profile, 12);
}

static void calls_that_are_not_whole(void **state)
{
	(void)state;
	arrive(MPI_CALL_Barrier, 0, 0, 2, -1, 100, 900); /* rank 1 is not there */
	arrive(MPI_CALL_Barrier, 1, 0, 2, -1, 1000, 1900);
	arrive(MPI_CALL_Allreduce, 1, 1, 2, -1, 1500, 1900); /* another function */
	arrive(MPI_CALL_Barrier, 2, 0, 2, -1, 2000, 2900);
	arrive(MPI_CALL_Barrier, 2, 0, 2, -1, 2000, 2900); /* a rank twice */
	arrive(MPI_CALL_Bcast, 3, 0, 2, 0, 3000, 3900);
	arrive(MPI_CALL_Bcast, 3, 1, 2, 1, 3000, 3900); /* another root */
	make();
	assert_int_equal(waits.n_matched, 0);
	assert_int_equal(waits.n_unmatched, 4);
	assert_int_equal(waits.sites.n, 0);
	assert_int_equal(wait_of(MPI_CALL_Barrier, 0), UINT64_MAX);
}

/* Of calls 131072 to 262143 every eighth has a record; thinning out keeps every fourth, too. */
static void records_stand_for_calls(void **state)
{
	(void)state;
	arrivals.thinned = 3;
	for (int i = 0; i < 2; i++) {
		const uint64_t number = i ? 131072 : 0;
		arrive(MPI_CALL_Barrier, number, 0, 2, -1, 1000 * i + 100, 1000 * i + 900);
		arrive(MPI_CALL_Barrier, number, 1, 2, -1, 1000 * i + 800, 1000 * i + 900);
	}
	make();
	arrivals.thinned = 0;
	assert_int_equal(wait_of(MPI_CALL_Barrier, 0), (4 + 8) * 700);
	assert_int_equal(waits.sites.at[0].n_calls, 4 + 8);
	assert_int_equal(waits.sites.at[0].waited_ns, (4 + 8) * 700);
	assert_int_equal(waits.late.at[0].n_calls, 4 + 8);
	assert_int_equal(waits.late.at[0].waited_ns, (4 + 8) * 700);
	assert_int_equal(waits.late.at[0].behind_ns, (4 + 8) * 700);
	assert_int_equal(waits.late.at[0].most_behind_ns, 700);
	assert_int_equal(waits.n_matched, 2);
}

static void damaged_nodes_have_no_site(void **state)
{
	(void)state;
	arrive(MPI_CALL_Barrier, 0, 0, 2, -1, 100, 900);
	arrive(MPI_CALL_Barrier, 0, 1, 2, -1, 800, 900);
	arrivals.list.at[1].context = MODEL_NONE;
	make();
	assert_int_equal(waits.sites.n, 0);
	assert_int_equal(wait_of(MPI_CALL_Barrier, 0), 700);
}

/* Rank 1 is on another host, whose clock is ahead and drifts. */
static int64_t ahead(int64_t true_ns)
{
	return true_ns + INT64_C(5000000000000) + true_ns / 50000;
}

static void clocks_of_two_hosts(void **state)
{
	struct load_job job = {0};
	uint64_t error_ns;
	int64_t truth[400];
	(void)state;
	srand(1);
	for (int i = 0; i < 400; i++) {
		/* one of the two comes late, by up to 20 ms; the barrier takes 10 to 60 us */
		int64_t at = INT64_C(1000000000) + i * INT64_C(50000000), late = rand() % 20000000,
			a = at + (i % 2 ? late : 0), b = at + (i % 2 ? 0 : late),
			end = (a > b ? a : b) + 10000 + rand() % 50000;
		truth[i] = b;
		arrive(MPI_CALL_Barrier, (uint64_t)i, 0, 2, -1, a, end);
		arrive(MPI_CALL_Barrier, (uint64_t)i, 1, 2, -1, ahead(b), ahead(end));
		arrivals.list.at[arrivals.list.n - 1].host = 1;
	}
	*(uint64_t *)vec_push(&arrivals.hosts) = 1;
	*(uint64_t *)vec_push(&arrivals.hosts) = 2;
	assert_true(mpi_clocks_join(&arrivals, &job, &error_ns));
	assert_in_range(error_ns, 1, 60000);
	for (size_t i = 0; i < 400; i++) {
		const struct mpi_arrival *b = &arrivals.list.at[2 * i + 1];
		int64_t off = b->enter_ns - truth[i];
		/* a window is 0.3 s long: 3 us of drift on both sides of its middle */
		if (llabs(off) > (int64_t)error_ns + 10000)
			fail_msg("call %zu is off by %lld ns; stated: %llu", i, (long long)off,
				 (unsigned long long)error_ns);
	}
}

/* Nobody needs to wait in an allreduce of nothing, so it says nothing of clocks. */
static void calls_without_data_bound_no_clock(void **state)
{
	struct msr_mpi_call call = {
		.node = 7, .comm = 1, .call = MPI_CALL_Allreduce, .n_calls = 1, .size_class = 1};
	uint64_t error_ns;
	(void)state;
	for (int is_empty = 0; is_empty < 2; is_empty++) {
		struct load_job job = {0};
		struct load_file *f = vec_push(&job.files);
		struct load_thread *t = vec_push(&f->threads);
		struct load_mpi_part *p = vec_push(&f->mpi.calls);
		t->n_nodes = 8;
		call.size_class = is_empty ? 0 : 1;
		*p = (struct load_mpi_part){(const void *)&call, 1, sizeof call, 0};
		arrive(MPI_CALL_Allreduce, 0, 0, 2, -1, 100, 300);
		arrive(MPI_CALL_Allreduce, 0, 1, 2, -1, 200, 300);
		arrivals.list.at[1].host = 1;
		*(uint64_t *)vec_push(&arrivals.hosts) = 1;
		*(uint64_t *)vec_push(&arrivals.hosts) = 2;
		assert_true(mpi_arrivals_mark(&arrivals, &job));
		assert_true(mpi_clocks_join(&arrivals, &job, &error_ns));
		assert_int_equal(error_ns == UINT64_MAX, is_empty);
		vec_free(&f->threads);
		load_mpi_free(&f->mpi);
		vec_free(&job.files);
		mpi_arrivals_free(&arrivals);
	}
}

static void clocks_without_a_common_call(void **state)
{
	struct load_job job = {0};
	uint64_t error_ns;
	(void)state;
	arrive(MPI_CALL_Bcast, 0, 0, 2, 0, 100, 200);
	arrive(MPI_CALL_Bcast, 0, 1, 2, 0, 100, 200);
	arrivals.list.at[1].host = 1;
	*(uint64_t *)vec_push(&arrivals.hosts) = 1;
	*(uint64_t *)vec_push(&arrivals.hosts) = 2;
	assert_true(mpi_clocks_join(&arrivals, &job, &error_ns));
	assert_true(error_ns == UINT64_MAX);
}

/* ---- clocks of a whole job ---- */

#define BARRIERS 2
static struct {
	struct load_job job;
	struct msr_mpi_collective barriers[4][BARRIERS]; /* by file */
} jobs;

static int clear_job(void **state)
{
	(void)state;
	for (size_t i = 0; i < jobs.job.files.n; i++) {
		vec_free(&jobs.job.files.at[i].threads);
		load_mpi_free(&jobs.job.files.at[i].mpi);
	}
	vec_free(&jobs.job.files);
	return 0;
}

/*
 * Adds a process on host `id`, which starts when its clock shows clock_ns. In MPI it is rank
 * `rank` of `size`. It makes barriers 1 s and 2 s later, which take `length_ns`. size 0: no MPI.
 */
static void start_process(uint64_t id, int64_t clock_ns, uint64_t comm, uint32_t rank,
			  uint32_t size, int64_t length_ns)
{
	const size_t n = jobs.job.files.n;
	struct load_file *f = vec_push(&jobs.job.files);
	f->header.host_id = id;
	f->header.start_real_ns = UINT64_C(1000000000000);
	f->header.start_mono_ns = (uint64_t)clock_ns;
	if (!size)
		return;
	struct load_thread *t = vec_push(&f->threads);
	t->n_nodes = 8;
	struct msr_mpi_comm *c = vec_extend(&f->mpi.comms, 2);
	c[1] = (struct msr_mpi_comm){.id = 1, .size = size, .rank = rank, .identity = comm};
	for (unsigned i = 0; i < BARRIERS; i++) {
		const uint64_t at_ns = (uint64_t)clock_ns + 1000000000u * (i + 1);
		jobs.barriers[n][i] =
			(struct msr_mpi_collective){.enter_ns = at_ns,
						    .leave_ns = at_ns + (uint64_t)length_ns,
						    .number = i,
						    .node = 7,
						    .comm = 1,
						    .call = MPI_CALL_Barrier};
	}
	struct load_mpi_part *p = vec_push(&f->mpi.collectives);
	*p = (struct load_mpi_part){(const void *)jobs.barriers[n], BARRIERS,
				    sizeof jobs.barriers[n][0], 0};
	f->mpi.is_present = true;
}

enum { HOUR = 3600 };
#define SECONDS(n) (INT64_C(1000000000) * (n))

/* Both differ from the first by at most a length, so from each other by at most the sum. */
static void errors_of_two_other_hosts_add_up(void **state)
{
	uint64_t error_ns;
	(void)state;
	start_process(1, SECONDS(10), 5, 0, 3, 20000);
	start_process(2, SECONDS(500), 5, 1, 3, 20000);
	start_process(3, SECONDS(9000), 5, 2, 3, 20000);
	assert_true(mpi_clocks_align(&jobs.job, &error_ns));
	/* 20 us each, and 50 us for what clocks may drift in the half second to the next call */
	assert_in_range(error_ns, 100000, 140000);
	mpi_arrivals_collect(&arrivals, &jobs.job, NULL);
	assert_true(mpi_clocks_join(&arrivals, &jobs.job, &error_ns));
	assert_in_range(error_ns, 100000, 140000);
	mpi_arrivals_free(&arrivals);
}

static void hosts_without_calls_are_unknown(void **state)
{
	uint64_t error_ns;
	(void)state;
	start_process(1, SECONDS(10), 5, 0, 2, 20000);
	start_process(2, SECONDS(500), 5, 1, 2, 20000);
	assert_true(mpi_clocks_align(&jobs.job, &error_ns));
	assert_in_range(error_ns, 20000, 70000);
	start_process(3, SECONDS(9000), 0, 0, 0, 0);
	assert_true(mpi_clocks_align(&jobs.job, &error_ns));
	assert_true(error_ns == UINT64_MAX);
}

/* Two runs; between them host 1 was rebooted, or host 2. */
static void one_difference_does_not_outlive_a_reboot(void **state)
{
	(void)state;
	for (uint64_t rebooted = 1; rebooted <= 2; rebooted++) {
		uint64_t error_ns;
		start_process(1, SECONDS(HOUR), 5, 0, 2, 20000);
		start_process(2, SECONDS(2 * HOUR), 5, 1, 2, 20000);
		start_process(1, rebooted == 1 ? SECONDS(60) : SECONDS(HOUR), 6, 0, 2, 20000);
		start_process(2, rebooted == 2 ? SECONDS(60) : SECONDS(2 * HOUR), 6, 1, 2, 20000);
		assert_true(mpi_clocks_align(&jobs.job, &error_ns));
		assert_true(error_ns == UINT64_MAX);
		for (size_t i = 0; i < 4; i++)
			assert_true(jobs.job.files.at[i].header.start_real_ns ==
				    (uint64_t)SECONDS(1000));
		/* then the times of day stand in, of each run by itself */
		mpi_arrivals_collect(&arrivals, &jobs.job, NULL);
		assert_true(mpi_clocks_join(&arrivals, &jobs.job, &error_ns));
		assert_true(error_ns == UINT64_MAX);
		for (size_t i = 0; i < arrivals.list.n; i += 2)
			assert_true(arrivals.list.at[i].enter_ns ==
				    arrivals.list.at[i + 1].enter_ns);
		mpi_arrivals_free(&arrivals);
		clear_job(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(everybody_waits_for_the_last, clear),
		cmocka_unit_test_teardown(nobody_waits_longer_than_its_call, clear),
		cmocka_unit_test_teardown(roots_and_prefixes, clear),
		cmocka_unit_test_teardown(calls_that_are_not_whole, clear),
		cmocka_unit_test_teardown(records_stand_for_calls, clear),
		cmocka_unit_test_teardown(damaged_nodes_have_no_site, clear),
		cmocka_unit_test_teardown(clocks_of_two_hosts, clear),
		cmocka_unit_test_teardown(calls_without_data_bound_no_clock, clear),
		cmocka_unit_test_teardown(clocks_without_a_common_call, clear),
		cmocka_unit_test_teardown(errors_of_two_other_hosts_add_up, clear_job),
		cmocka_unit_test_teardown(hosts_without_calls_are_unknown, clear_job),
		cmocka_unit_test_teardown(one_difference_does_not_outlive_a_reboot, clear_job),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
