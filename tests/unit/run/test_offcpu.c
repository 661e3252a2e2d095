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

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PERIOD_NS 2000000u
#define ROUNDS 20

static long in_sleep(const void *context, bool *has_returned)
{
	(void)context;
	*has_returned = false;
	return SYS_clock_nanosleep;
}

static _Alignas(64) char state[4096];
static sigset_t set;

static void start(long (*interrupted_call)(const void *, bool *))
{
	static struct source_event event;
	static struct source_host host;
	struct msr_thread record;
	char cause[100];
	event = (struct source_event){.name = "OFFCPU", .period = PERIOD_NS};
	host = (struct source_host){.interrupted_call = interrupted_call, .signal = SIGRTMIN};
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	assert_true(source_offcpu.thread_bytes(1) <= sizeof state);
	assert_true(source_offcpu.process_start(&event, 1, &host, cause, sizeof cause));
	assert_true(source_offcpu.thread_start(state, &record));
}

/* Looks ROUNDS times at one wait. Returns how many of the looks found another wait than before. */
static unsigned count_waits(bool handler_waits)
{
	const struct timespec moment = {.tv_nsec = 50000}, patience = {.tv_sec = 60};
	struct source_expiry expiry[1 + SOURCE_OFFCPU_MOST];
	ucontext_t context;
	siginfo_t info;
	unsigned n_new = 0;
	memset(&context, 0, sizeof context);
	start(in_sleep);
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

/* ---- without a processor ---- */

enum { IN_TIME_ROUNDS = 4, MOST_ROUNDS = 2000 };

static long computes(const void *context, bool *has_returned)
{
	(void)context;
	*has_returned = false;
	return SOURCE_CALL_NONE;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t lost_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC) - clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Starts a process that computes on our processor. */
static pid_t start_neighbour(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	return child;
}

/* Computes until the next tick. Returns true if the thread then ran, as far as it can see. */
static bool compute_until_tick(void)
{
	uint64_t now = 0, last = 0, before_last;
	sigset_t pending;
	do {
		before_last = last;
		last = now;
		sigpending(&pending);
		now = clock_ns(CLOCK_MONOTONIC);
	} while (!sigismember(&pending, SIGRTMIN));
	return now - before_last < 20000;
}

/* Looks at a tick. Returns what it gives to the run queue. */
static uint64_t look_at_tick(void)
{
	struct source_expiry expiry[1 + SOURCE_OFFCPU_MOST];
	const struct timespec patience = {.tv_sec = 60};
	uint64_t given = 0;
	ucontext_t context;
	siginfo_t info;
	memset(&context, 0, sizeof context);
	assert_int_equal(sigtimedwait(&set, &info, &patience), SIGRTMIN);
	const unsigned n = source_offcpu.poll(state, &info, &context, expiry);
	for (unsigned i = 0; i < n; i++)
		given += expiry[i].wait - 1 == MSR_WAIT_RUN_QUEUE ? expiry[i].weight : 0;
	source_offcpu.thread_handled(state);
	return given;
}

/*
 * The thread gives its processor away, then computes. A tick that finds it there leaves the lost
 * time to one that finds it without a processor. (A timer may be late, too.)
 */
static void test_lost_processor_is_where_it_was_lost(void **unused)
{
	unsigned n_in_time = 0, n_wrong = 0;
	uint64_t owed = 0, given = 0;
	(void)unused;
	const pid_t child = start_neighbour();
	start(computes);
	const uint64_t first = lost_ns();
	for (unsigned i = 0; i < MOST_ROUNDS && n_in_time < IN_TIME_ROUNDS; i++) {
		const uint64_t before = lost_ns();
		while (lost_ns() < before + 300000)
			sched_yield();
		const bool ran = compute_until_tick();
		const uint64_t at_tick = lost_ns(), now = look_at_tick();
		owed += at_tick - before;
		if (ran && lost_ns() - at_tick < 20000 && owed < 8 * PERIOD_NS) {
			n_in_time++;
			n_wrong += now != 0;
		}
		owed = now ? 0 : owed;
		given += now;
	}
	const uint64_t lost = lost_ns() - first;
	source_offcpu.thread_stop(state);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_in_range(n_in_time, 1, IN_TIME_ROUNDS);
	assert_in_range(n_wrong, 0, IN_TIME_ROUNDS / 4);
	/* the period is twice as long, and eight of them are kept at most */
	assert_in_range(lost + PERIOD_NS, given, given + 21 * PERIOD_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_wait_stays_one),
		cmocka_unit_test(test_handler_that_waits_ends_no_wait),
		cmocka_unit_test(test_lost_processor_is_where_it_was_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
