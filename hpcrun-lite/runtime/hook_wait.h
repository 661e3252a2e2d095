/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls that the kernel does not restart after a signal handler, whatever SA_RESTART says (signal(7)). When it was a signal of ours
 * alone that ended one early, it goes on for the time that is left, and the program does not see it. The rest of a wait is
 * made with all signals blocked but for the wait itself, so that a signal of the program's cannot slip in between unseen.
 * Test: tests/cli/sacred_wait.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_HOOK_WAIT_H
#define HPCRUN_LITE_RUNTIME_HOOK_WAIT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Find the functions behind the hooks. Once, not signal-safe. */
void hook_wait_start(void);
void hook_sleep_start(void);
void hook_wait_signal_start(void);

/* ---- for the hooks. All signal-safe. --------------------------------------------------------------------------- */

/* What signals this thread had when a wait began. */
struct wait_mark {
	unsigned ours, handlers;
};
struct wait_mark wait_mark(void);

/* The call failed with EINTR, a signal of ours came since `mark`, and no handler of the program ran. */
bool wait_was_ours(const struct wait_mark *mark);

/*
 * Blocks all signals. True: still no handler of the program ran since `mark`; the wait is to be repeated with the mask in *open, then
 * wait_unblock called. False: one did; the mask is as before, errno EINTR.
 */
bool wait_block(const struct wait_mark *mark, sigset_t *open);
void wait_unblock(const sigset_t *open);

/* A timeout as a point in time of CLOCK_MONOTONIC, in ns. */
#define WAIT_FOREVER UINT64_MAX
uint64_t wait_deadline(const struct timespec *timeout); /* NULL: WAIT_FOREVER */
/* What is left until then, 0 when it is over; NULL for WAIT_FOREVER. */
struct timespec *wait_left(uint64_t deadline_ns, struct timespec *left);

/* Waits until the deadline or a handler of the program's. True: the time is over. False: interrupted, errno EINTR. */
bool wait_sleep(const struct wait_mark *mark, uint64_t deadline_ns);

#endif
