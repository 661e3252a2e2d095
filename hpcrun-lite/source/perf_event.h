/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One event of perf_event_open in the calling thread. It signals the thread at each expiry and
 * writes its count into a ring of one page, so that reading a weight needs no system call.
 *
 * The descriptor is closed once the ring is mapped. The mapping keeps the event and its signals
 * alive, so a thread does not use up a descriptor of the program. If the kernel refuses the mapping
 * (locked memory), there is no event: its descriptor would be one of the low numbers that programs
 * expect to get and close.
 *
 * All functions are signal-safe unless they say otherwise. Test: tests/cli/run/run_rate.sh.
 */
#ifndef HPCRUN_LITE_SOURCE_PERF_EVENT_H
#define HPCRUN_LITE_SOURCE_PERF_EVENT_H

#include "hpcrun-lite/source/source.h"

struct perf_event_mmap_page;

struct perf_event {
	struct perf_event_mmap_page *ring; /* NULL: closed */
	bool user_only;                    /* there are no expiries inside the kernel */
};

/* Returns true if the event is the kernel's task clock. */
bool perf_event_is_task_clock(const struct source_event *e);

/*
 * Opens the event and closes it again. Sets *user_only if this user may not measure the kernel.
 * Returns false and sets `cause` if the event is not available.
 *
 * The task clock is requested for a process that cannot exist. This checks rights and attributes,
 * but does not create the first event of a system, which takes 12 to 15 ms.
 */
bool perf_event_try(const struct source_event *e, bool *user_only, char *cause, size_t cause_bytes);

/*
 * Opens the event for the calling thread and starts it. If the program has given up the right to
 * measure the kernel since perf_event_try, `user_only` becomes true. Returns false on failure.
 */
bool perf_event_open(struct perf_event *p, const struct source_event *e, int signal);
void perf_event_close(struct perf_event *p);

/*
 * Returns true if this is the number of one of our descriptors, which their signals carry. The
 * program's events have lower numbers, unless the limit on open files is very low.
 */
bool perf_event_is_descriptor(int fd);

/*
 * Removes all records from the ring and returns the number of expiries. *count is the event's count
 * at the last expiry, unchanged if there was none. *full: the ring had no room for more.
 */
unsigned perf_event_drain(struct perf_event *p, uint64_t *count, bool *full);

#endif
