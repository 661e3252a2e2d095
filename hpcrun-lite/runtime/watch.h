/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds threads whose CPU clock runs ahead of their samples. A timer on a thread's CPU clock expires on the kernel's
 * tick. A thread that runs in short bursts beside others that use the processor up may never run at a tick, for the
 * tick is what makes the scheduler switch. Such a thread is sent a signal, at which its source looks at the clock.
 *
 * Threads that are sampled look at the others while they are at it. For a process in which none is, the first thread
 * has a timer on CLOCK_MONOTONIC: 50 ms after its start, then after four times as long each time that nothing was found.
 * All functions are signal-safe. Test: tests/cli/run_switches.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_WATCH_H
#define HPCRUN_LITE_RUNTIME_WATCH_H

#include "hpcrun-lite/runtime/thread.h"

/* The timer of the calling thread, which is the first of the process. */
void watch_start(void);
void watch_stop(void);
/* In the child of fork: the timer was the parent's. watch_start may follow. */
void watch_forked(void);

/* After a sample of `t`: looks at other threads when nobody has for 50 ms. */
void watch_after_sample(const struct thread *t, uint64_t now_ns);

/* In the first thread, when it was asked to look at its clock; `found` says that it had reason to. */
void watch_expired(const struct thread *t, bool found);

#endif
