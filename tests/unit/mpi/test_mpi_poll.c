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

static _Atomic uint64_t n_calls;
static uint64_t now_ns;

/* `n` polls that take `ns` each, `gap_ns` apart. Returns their time; *n_timed: how many were. */
static uint64_t poll(struct mpi_poll *p, unsigned n, uint64_t ns, uint64_t gap_ns,
		     unsigned *n_timed)
{
	uint64_t sum = 0;
	*n_timed = 0;
	while (n--) {
		const bool is_timed = mpi_poll_is_timed(p);
		now_ns += gap_ns + ns;
		if (is_timed) {
			sum += mpi_poll_ns(p, now_ns - ns, now_ns);
			p->n_calls = &n_calls;
			++*n_timed;
		}
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
	assert_in_range(n_timed, 1000000 / 68, 1000000 / 60);
	assert_in_range(sum, 100 * (1000000 - 96), 100 * 1000000);
}

/* A loop that polls at two places in turn is timed at both. */
static void places_in_turn_share(void **state)
{
	struct mpi_poll p = {0};
	unsigned n_timed, n_even = 0, n = 0;
	(void)state;
	poll(&p, MPI_POLL_ALL_TIMED, 100, 10, &n_timed);
	for (unsigned i = 0; i < 640000; i++) {
		poll(&p, 1, 100, 10, &n_timed);
		n += n_timed;
		n_even += n_timed && i % 2 == 0;
	}
	assert_in_range(n, 9500, 10500);
	assert_in_range(n_even, n * 45 / 100, n * 55 / 100);
}

static void long_ones_are_all_timed(void **state)
{
	struct mpi_poll p = {0};
	unsigned n_timed;
	(void)state;
	assert_int_equal(poll(&p, 100000, 5000, 10, &n_timed), UINT64_C(100000) * 5000);
	assert_int_equal(n_timed, 100000);
	poll(&p, MPI_POLL_ALL_TIMED, 100, 10, &n_timed);
	poll(&p, 200, 100, 10, &n_timed);
	assert_in_range(n_timed, 1, 8);
	/* a poll of ten short ones has ten polls timed after it */
	while (mpi_poll_is_timed(&p))
		mpi_poll_ns(&p, now_ns, now_ns);
	p.n_skip = p.n_skipped = 0;
	mpi_poll_ns(&p, now_ns, now_ns + UINT64_C(10) * MPI_POLL_SHORT_NS);
	now_ns += UINT64_C(10) * MPI_POLL_SHORT_NS;
	poll(&p, 10, 100, 10, &n_timed);
	assert_int_equal(n_timed, 10);
	assert_false(mpi_poll_is_timed(&p));
}

static void time_is_never_made_up(void **state)
{
	struct mpi_poll p = {0};
	unsigned n_timed;
	(void)state;
	poll(&p, MPI_POLL_ALL_TIMED, 100, 10, &n_timed);
	/* 50 polls were not timed; 300 ns have passed since the last that was */
	p.n_skip = 0;
	p.n_skipped = 50;
	assert_int_equal(mpi_poll_ns(&p, now_ns + 300, now_ns + 400), 400);
	now_ns += 400;
	/* the processor was taken away during the timed poll, not in each of the others */
	p.n_skip = 0;
	p.n_skipped = 50;
	assert_int_equal(mpi_poll_ns(&p, now_ns + 900000, now_ns + 1900000),
			 1000000 + 50 * MPI_POLL_SHORT_NS);
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
		cmocka_unit_test(long_ones_are_all_timed),
		cmocka_unit_test(time_is_never_made_up),
		cmocka_unit_test(another_generation_forgets),
		cmocka_unit_test(all_polls_have_a_state),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
