/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: what "-e NAME@HOW" means, whether this machine can deliver it, and the list for -L. perf::NAME events of the kernel are
 * opened directly; every other name is PAPI's business (papi_probe.h). Not for the measured process. Test: tests/unit/test_launch.c.
 */
#ifndef HPCRUN_LITE_LAUNCH_EVENT_H
#define HPCRUN_LITE_LAUNCH_EVENT_H

#include "common/base/status.h"
#include "hpcrun-lite/config/config.h"

#include <stdbool.h>
#include <stddef.h>

#define EVENT_DEFAULT "CPUTIME@f1000"

/* An event that the kernel delivers by perf_event_open. */
struct event_perf {
	const char *name, *other_name; /* without "perf::"; the other may be NULL */
	uint32_t type;
	uint64_t config;
	uint32_t unit;          /* enum msr_unit */
	uint64_t default_period;
	bool in_kernel;         /* happens in the kernel: counting it needs the right to look there */
	const char *about;
};

/*
 * Parses NAME[@HOW]. Names of PAPI are taken as they are and given a default period. STATUS_USAGE: not understood (logged).
 */
enum status event_parse(const char *text, struct config_event *event);

/* The table entry of a CONFIG_PERF event; NULL for others. */
const struct event_perf *event_perf_of(const struct config_event *event);
/* The table, `*n` long. */
const struct event_perf *event_perf_table(size_t *n);

/*
 * Opens the event as the run time will, for this process, and closes it. True when it can be had; else `why` says the cause
 * and the cure. For CPUTIME and REALTIME true always, and `why` says what is unusual ("" for nothing): a coarser source.
 */
bool event_available(const struct config_event *event, char *why, size_t why_bytes);

/* What may help where PAPI refuses an event: a name that is like it, a machine without counters; "; ..." or "". */
void event_advice(const char *name, char *text, size_t bytes);
/*
 * The known event whose name is nearest to `name`: written otherwise ("cputime", "cycles") or
 * mistyped ("CPUTIM"). NULL: none is near enough. Valid until the next call.
 */
const char *event_like(const char *name);

/* What the kernel says of the right to use its events: "perf_event_paranoid is 3 ..."; "" when it does not stand in the way. */
void event_paranoia(char *text, size_t bytes);

/* Length of the kernel's tick in ns: the grain of CPU timers. */
uint64_t event_tick_ns(void);

#endif
