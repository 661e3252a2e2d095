/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One event of perf_event_open in the calling thread: it signals the thread at each expiry and writes the
 * event's count into a ring of one page, so that a weight costs no system call.
 *
 * Once the ring is mapped the descriptor is closed. The mapping keeps the event and its signals alive, and a
 * thread costs the program no descriptor. Where the kernel refuses the mapping (locked memory) there is no
 * event: its descriptor would be one of the low numbers that programs count on and close.
 *
 * All functions are signal-safe unless they say otherwise. Test: tests/cli/run_rate.sh.
 */
#ifndef HPCRUN_LITE_SOURCE_PERF_EVENT_H
#define HPCRUN_LITE_SOURCE_PERF_EVENT_H

#include "hpcrun-lite/source/source.h"

struct perf_event_mmap_page;

struct perf_event {
	struct perf_event_mmap_page *ring; /* NULL: closed */
	bool user_only;                    /* expiries in the kernel are not delivered */
};

/* The event is the kernel's task clock. */
bool perf_event_is_task_clock(const struct source_event *e);

/*
 * Asks the kernel for the event and gives it back. Sets *user_only where this user may not look into the
 * kernel. False, with the cause in `cause`, where the event cannot be had. The task clock is asked for a
 * process that cannot exist: rights and attributes are checked, and the first event of a system, which
 * costs 12 to 15 ms, is not made.
 */
bool perf_event_try(const struct source_event *e, bool *user_only, char *cause, size_t cause_bytes);

/*
 * Opens the event for the calling thread and starts it. A program may have given up the right to look into
 * the kernel since `user_only` was found out: then it becomes true. False: there is no event.
 */
bool perf_event_open(struct perf_event *p, const struct source_event *e, int signal);
void perf_event_close(struct perf_event *p);

/*
 * Takes all records out of the ring. Returns how many expiries there were; *count is the event's count at
 * the last one (untouched when there was none), *full says that the ring had no room for more.
 */
unsigned perf_event_drain(struct perf_event *p, uint64_t *count, bool *full);

#endif
