/* SPDX-License-Identifier: BSD-3-Clause */
/* How one thread follows process.off (control.h). Test: tests/cli/run/control.sh. */
#ifndef HPCRUN_LITE_RUNTIME_THREAD_OFF_H
#define HPCRUN_LITE_RUNTIME_THREAD_OFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct thread;

/* A part of struct thread. The thread that ends the process reads it. */
struct thread_off {
	_Atomic bool is_off;           /* how far the thread has followed process.off */
	_Atomic uint64_t cpu_since_ns; /* its CPU clock when it went off */
	_Atomic uint64_t cpu_ns;       /* its CPU time in earlier periods while it was off */
	_Atomic uint64_t wall_since_ns; /* the same on CLOCK_MONOTONIC */
	_Atomic uint64_t wall_ns;
};

/* At the start of the thread's record, after its tid is set. */
void thread_off_begin(struct thread *t);

/* Returns the CPU time of a thread while it was off, if its CPU clock is at cpu_ns. */
uint64_t thread_off_ns(const struct thread *t, uint64_t cpu_ns);
/* The same on CLOCK_MONOTONIC. */
uint64_t thread_off_wall_ns(const struct thread *t, uint64_t now_ns);

/*
 * Stops or starts the sources of the calling thread as process.off demands. Signal-safe. The caller
 * has blocked RUNTIME_SIGNAL and may write the tree.
 */
void thread_follow(struct thread *t);

/*
 * Sends RUNTIME_SIGNAL to every other measured thread that has not followed process.off yet.
 * Signal-safe.
 */
void thread_signal_others(void);
#endif
