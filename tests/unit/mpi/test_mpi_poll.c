/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/mpi/mpi_poll: when polls are timed, and what a timed poll stands for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/mpi/mpi_poll.h"

#define TICKS 3u /* in a nanosecond */

static _Atomic uint64_t n_calls;
static uint64_t now_ns = 1000;

/* One poll. Returns the time that is recorded after it; 0: none. */
static uint64_t one(struct mpi_poll *p, uint64_t ns, bool has_found, unsigned *n_timed)
{
	const bool is_timed = mpi_poll_is_timed(p);
	now_ns += ns;
	*n_timed += is_timed;
	if (is_timed) {
		p->n_calls = &n_calls;
		mpi_poll_compare(p, now_ns, now_ns * TICKS, now_ns);
		return mpi_poll_ns(p, now_ns - ns, now_ns, has_found);
	}
	const int64_t ticks = (int64_t)(ns * TICKS);
	if (!mpi_poll_is_skipped(p, ticks, has_found))
		return mpi_poll_ticks_ns(p, ticks, now_ns);
	p->n_skipped++;
	return 0;
}

/* `n` polls that take `ns` each, `gap_ns` apart. Returns their time; *n_timed: how many were. */
static uint64_t poll(struct mpi_poll *p, unsigned n, uint64_t ns, uint64_t gap_ns,
		     unsigned *n_timed)
{
	uint64_t sum = 0;
	*n_timed = 0;
	while (n--) {
		now_ns += gap_ns;
		sum += one(p, ns, false, n_timed);
	}
	return sum;
}

static void the_first_are_all_timed(void **state)
{
	struct mpi_poll p = {0};
	unsigned n_timed;
	(void)state;
	assert_int_equal(poll(&p, MPI_POLL_ALL_TIMED, 100, 10, &n_timed),
			 MPI_POLL_ALL_TIMED * 100);
	assert_int_equal(n_timed, MPI_POLL_ALL_TIMED);
	const uint64_t sum = poll(&p, 1000000, 100, 10, &n_timed);
	assert_in_range(n_timed, 1000000 / 134, 1000000 / 124);
	assert_in_range(sum, 100 * (1000000 - 192), 100 * 1000000);
}

/* A loop that polls at two places in turn is timed at both. */
static void places_in_turn_share(void **state)
{
	struct mpi_poll p = {0};
	unsigned n_timed, n_even = 0, n = 0;
	(void)state;
	poll(&p, MPI_POLL_ALL_TIMED, 100, 10, &n_timed);
	for (unsigned i = 0; i < 1280000; i++) {
		poll(&p, 1, 100, 10, &n_timed);
		n += n_timed;
		n_even += n_timed && i % 2 == 0;
	}
	assert_in_range(n, 9500, 10500);
	assert_in_range(n_even, n * 45 / 100, n * 55 / 100);
}

/* Of 2000 polls one is long, and 19 are as long as a short one can be. */
static void rare_long_ones_count_in_full(void **state)
{
	struct mpi_poll p = {0};
	unsigned n_timed;
	uint64_t truth = 0, sum = 0;
	(void)state;
	poll(&p, MPI_POLL_ALL_TIMED, 40, 10, &n_timed);
	for (unsigned i = 0; i < 4000000; i++) {
		const uint64_t ns = i % 2000 == 0 ? 8000 : i % 100 == 0 ? 1900 : 40;
		truth += ns;
		now_ns += 10;
		sum += one(&p, ns, false, &n_timed);
	}
	assert_in_range(sum, truth - truth / 25, truth + truth / 25);
}

/* What finds something is recorded with its own time, and others do not stand for it. */
static void what_finds_something_stands_for_itself(void **state)
{
	struct mpi_poll p = {0};
	unsigned n_timed;
	(void)state;
	poll(&p, MPI_POLL_ALL_TIMED, 100, 10, &n_timed);
	for (unsigned i = 0; i < 500; i++)
		assert_int_equal(one(&p, 700, true, &n_timed), 700);
	assert_int_equal(p.n_skipped, 0);
}

static void time_is_never_made_up(void **state)
{
	struct mpi_poll p = {0};
	unsigned n_timed;
	(void)state;
	poll(&p, MPI_POLL_ALL_TIMED, 100, 0, &n_timed);
	/* 50 polls were not timed; 300 ns have passed since the last that was */
	p.n_skip = 0;
	p.n_skipped = 50;
	assert_int_equal(mpi_poll_ns(&p, now_ns + 300, now_ns + 400, false), 400);
	now_ns += 400;
	/* the processor was taken away during the timed poll, not in each of the others */
	p.n_skip = 0;
	p.n_skipped = 50;
	assert_int_equal(mpi_poll_ns(&p, now_ns + 900000, now_ns + 1900000, false), 1000000);
	/* the next short one stands for them */
	assert_int_equal(mpi_poll_ns(&p, now_ns + 1900000, now_ns + 1900010, false), 51 * 10);
}

static void ticks_are_compared_with_the_clock(void **state)
{
	struct mpi_poll p = {0};
	(void)state;
	mpi_poll_compare(&p, 500000, 11, 900000); /* interrupted */
	mpi_poll_compare(&p, 1000000, 7000, 1000020);
	mpi_poll_compare(&p, 1030000, 3000, 1030020);
	assert_int_equal(p.short_ticks, 0); /* not yet: the error is 40 ns of 30,000 */
	mpi_poll_compare(&p, 5000000, 7000 + 3 * 4000000, 5000020);
	assert_int_equal(p.short_ticks, 3 * MPI_POLL_SHORT_NS);
	/* interrupted between the readings, for 3 ms, and a second after the first */
	mpi_poll_compare(&p, 6000000, 7000 + 3 * 5000000, 9000000);
	mpi_poll_compare(&p, 1002000000, 7000, 1005000000);
	assert_int_equal(p.short_ticks, 3 * MPI_POLL_SHORT_NS);
	/* a processor whose counter starts anew */
	mpi_poll_compare(&p, 7000000, 5, 7000020);
	assert_int_equal(p.short_ticks, 3 * MPI_POLL_SHORT_NS);
	/* one whose counter stands where that of the other one stood, and one far ahead */
	mpi_poll_compare(&p, 8000000, p.base_ticks + 1, 8000020);
	mpi_poll_compare(&p, 8100000, p.base_ticks + (UINT64_C(1) << 63), 8100020);
	assert_int_equal(p.short_ticks, 3 * MPI_POLL_SHORT_NS); /* polls divide by it */
	assert_int_equal(mpi_poll_ticks_ns(&p, 3, 1000), 1);
	assert_int_equal(mpi_poll_ticks_ns(&p, INT64_C(3) << 60, UINT64_MAX), UINT64_C(1) << 60);
}

/* A thread moves to a processor whose counter is far behind or far ahead. */
static void counters_of_processors_differ(void **state)
{
	struct mpi_poll p = {0};
	unsigned n_timed;
	(void)state;
	poll(&p, MPI_POLL_ALL_TIMED, 100, 10, &n_timed);
	assert_true(mpi_poll_is_skipped(&p, -1, false));
	assert_true(mpi_poll_is_skipped(&p, INT64_MIN, false));
	assert_int_equal(mpi_poll_ticks_ns(&p, -1, now_ns + 700), 0);
	assert_false(mpi_poll_is_skipped(&p, INT64_MAX, false));
	assert_int_equal(mpi_poll_ticks_ns(&p, INT64_MAX, now_ns + 700), 700);
}

static void another_generation_forgets(void **state)
{
	(void)state;
	struct mpi_poll *p = mpi_poll_of(MPI_CALL_Test, 1);
	unsigned n_timed;
	poll(p, MPI_POLL_ALL_TIMED, 100, 10, &n_timed);
	assert_false(mpi_poll_is_timed(mpi_poll_of(MPI_CALL_Test, 1)));
	assert_true(mpi_poll_is_timed(mpi_poll_of(MPI_CALL_Testany, 1)));
	assert_true(mpi_poll_is_timed(mpi_poll_of(MPI_CALL_Test, 2)));
	assert_null(p->n_calls);
}

/* Calls that poll are neighbours in the table, and the thread's states have room for them. */
static void all_polls_have_a_state(void **state)
{
	unsigned n = 0;
	(void)state;
	for (unsigned i = 0; i < MPI_N_CALLS; i++) {
		if (!mpi_call_forms[i].found)
			continue;
		assert_in_range(i, MPI_CALL_Iprobe, MPI_CALL_Testsome);
		n++;
	}
	assert_int_equal(n, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_are_all_timed),
		cmocka_unit_test(places_in_turn_share),
		cmocka_unit_test(rare_long_ones_count_in_full),
		cmocka_unit_test(what_finds_something_stands_for_itself),
		cmocka_unit_test(time_is_never_made_up),
		cmocka_unit_test(ticks_are_compared_with_the_clock),
		cmocka_unit_test(counters_of_processors_differ),
		cmocka_unit_test(another_generation_forgets),
		cmocka_unit_test(all_polls_have_a_state),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
