/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/source/offcpu.c with a wait of the test's own: one for its timer's signal.
 * What handlers do to waits of programs is in tests/cli/offcpu.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/source/source.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#define PERIOD_NS 2000000u
#define ROUNDS 20

static long in_sleep(const void *context, bool *has_returned)
{
	(void)context;
	*has_returned = false;
	return SYS_clock_nanosleep;
}

/* Looks ROUNDS times at one wait. Returns how many of the looks found another wait than before. */
static unsigned count_waits(bool handler_waits)
{
	static _Alignas(64) char state[4096];
	const struct source_event event = {.name = "OFFCPU", .period = PERIOD_NS};
	const struct source_host host = {.interrupted_call = in_sleep, .signal = SIGRTMIN};
	const struct timespec moment = {.tv_nsec = 50000}, patience = {.tv_sec = 60};
	struct source_expiry expiry[1 + SOURCE_OFFCPU_MOST];
	struct msr_thread record;
	ucontext_t context;
	siginfo_t info;
	sigset_t set;
	char cause[100];
	unsigned n_new = 0;
	memset(&context, 0, sizeof context);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	assert_true(source_offcpu.thread_bytes(1) <= sizeof state);
	assert_true(source_offcpu.process_start(&event, 1, &host, cause, sizeof cause));
	assert_true(source_offcpu.thread_start(state, &record));
	for (int round = 0; round < ROUNDS; round++) {
		bool is_new = false;
		assert_int_equal(sigtimedwait(&set, &info, &patience), SIGRTMIN);
		const unsigned n = source_offcpu.poll(state, &info, &context, expiry);
		for (unsigned i = 0; i < n; i++)
			is_new |= expiry[i].wait && expiry[i].wait - 1 == MSR_WAIT_SLEEP &&
				  !expiry[i].is_again;
		n_new += is_new;
		for (int i = 0; handler_waits && i < 3; i++)
			nanosleep(&moment, NULL);
		source_offcpu.thread_handled(state);
	}
	source_offcpu.thread_stop(state);
	return n_new;
}

static void test_one_wait_stays_one(void **unused)
{
	(void)unused;
	assert_int_equal(count_waits(false), 1);
}

/* It writes to a page of the file that goes to the disk just now. */
static void test_handler_that_waits_ends_no_wait(void **unused)
{
	(void)unused;
	assert_int_equal(count_waits(true), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_wait_stays_one),
		cmocka_unit_test(test_handler_that_waits_ends_no_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
