/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blame: a thread that waits for a lock causes a sample of the thread that holds the lock. The
 * sample has the metric BLAME; its weight is the time that others waited. All functions are
 * signal-safe. Tests: tests/cli/offcpu/offcpu_blame.sh, tests/unit/run/test_waits.c.
 */
#ifndef HPCRUN_LITE_RUNTIME_WAITS_BLAME_H
#define HPCRUN_LITE_RUNTIME_WAITS_BLAME_H

#include "hpcrun-lite/source/source.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* At the start of the thread's record. */
void blame_reset_record(struct thread *t);

/*
 * For struct source_host: adds `ns` to the time that thread `tid` of this process is blamed for.
 * Sends it our signal, unless `is_over` (it no longer holds the lock) or another waiter has just
 * sent it. Returns true if it sent the signal. Does nothing if no measured thread has this tid.
 */
bool blame_add(int tid, uint64_t ns, bool is_over);

/* In the handler: takes the time that the thread is blamed for. Returns false if there is none. */
bool blame_take(struct thread *t, struct source_expiry *expiry);

/* At the end of the thread: records the remaining time at the node of its last sample of BLAME. */
void blame_end(struct thread *t);

#endif
