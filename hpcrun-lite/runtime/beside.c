/* SPDX-License-Identifier: BSD-3-Clause */
/* See beside.h. Tests: tests/cli/storage/storage_local.sh, tests/cli/run/run_gone.sh. */
#include "hpcrun-lite/runtime/beside.h"

#include "common/safe/newer.h"
#include "common/safe/sys.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define KILL_WAIT_MS 100

void beside_exit(int status)
{
	for (;;)
		sys_call3(SYS_exit_group, status, 0, 0);
}

void beside_close_from(int first)
{
	newer_close_range(first, INT_MAX);
}

long beside_spawn(void (*run)(void), uint8_t stack[BESIDE_STACK_BYTES], long flags,
		  _Atomic uint32_t *runs)
{
	return machine_clone(run, stack + BESIDE_STACK_BYTES, CLONE_VM | flags, runs);
}

static _Atomic uint64_t cpu_ns; /* relaxed: a sum that nothing else depends on */

uint64_t beside_cpu_ns(void)
{
	return atomic_load_explicit(&cpu_ns, memory_order_relaxed);
}

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

/* Waits until the child has ended. Returns false if that takes longer than limit_ms. */
static bool wait_for_child(struct beside *b, long child, uint64_t limit_ms)
{
	const uint64_t end_ns = sys_clock_ns(CLOCK_MONOTONIC) + limit_ms * UINT64_C(1000000);
	while (b->runs) {
		uint64_t now_ns = sys_clock_ns(CLOCK_MONOTONIC);
		if (now_ns >= end_ns)
			return false;
		const uint64_t left_ns = end_ns - now_ns;
		const struct timespec left = {(time_t)(left_ns / 1000000000u),
					      (long)(left_ns % 1000000000u)};
		/* not a private futex, because the kernel wakes us */
		sys_call4(SYS_futex, (long)&b->runs, FUTEX_WAIT, 1, (long)&left);
	}
	struct rusage use = {0};
	while (sys_call4(SYS_wait4, child, 0, __WCLONE, (long)&use) == -EINTR)
		;
	atomic_fetch_add_explicit(&cpu_ns, ns_of(&use.ru_utime) + ns_of(&use.ru_stime),
				  memory_order_relaxed);
	return true;
}

enum beside_end beside_run(struct beside *b, void (*run)(void), long flags, uint64_t limit_ms)
{
	const uint64_t all = ~UINT64_C(0);
	uint64_t old = 0;
	b->runs = 1;
	/* A handler in the child would run in our memory. */
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, sizeof old);
	const long child = beside_spawn(run, b->stack, flags | CLONE_CHILD_CLEARTID, &b->runs);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof old);
	if (child <= 0)
		return BESIDE_FAILED;
	if (wait_for_child(b, child, limit_ms))
		return BESIDE_ENDED;
	sys_call3(SYS_kill, child, SIGKILL, 0);
	return wait_for_child(b, child, KILL_WAIT_MS) ? BESIDE_LATE : BESIDE_STAYS;
}
