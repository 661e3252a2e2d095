/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds threads whose CPU clock is ahead of their samples. A timer on a thread's CPU clock expires
 * on the kernel's tick. A thread that runs in short bursts, beside others that use all of the
 * processor, may never run at a tick, because the scheduler switches threads at the tick. We send a
 * signal to this thread, and its source then looks at the clock.
 *
 * Threads that take samples also check the others. If no thread takes samples, the first thread has
 * a timer on CLOCK_MONOTONIC. It expires after 50 ms; the time quadruples whenever the check finds
 * nothing. All functions are signal-safe. Test: tests/cli/run/run_switches.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_WATCH_H
#define HPCRUN_LITE_RUNTIME_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct thread;

/* A part of struct thread. Other threads read it. */
struct watch_thread {
	_Atomic uint64_t cpu_given_ns; /* recorded weights of CPUTIME */
	_Atomic uint64_t cpu_asked_ns; /* its CPU clock when another thread last asked it to look */
	bool is_watcher;               /* the first thread of the process */
};

/* At the start of the thread's record. */
void watch_reset_record(struct thread *t);

/* Start and stop the timer. The caller is the first thread of the process. */
void watch_start(void);
void watch_stop(void);
/* In a forked child: the timer belongs to the parent. watch_start may follow. */
void watch_forked(void);

/* After a sample of `t`: checks the other threads if no thread has done so for 50 ms. */
void watch_after_sample(const struct thread *t, uint64_t now_ns);

/* In the first thread, after it was asked to look at its clock. `found`: there was a reason to. */
void watch_expired(const struct thread *t, bool found);

#endif
