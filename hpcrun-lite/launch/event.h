/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: the meaning of "-e NAME@HOW", whether this machine can deliver the event, and the list
 * for -L. perf::NAME events of the kernel are opened directly; all other names belong to PAPI
 * (papi_probe.h). Not for the measured process. Test: tests/unit/run/test_launch.c.
 */
#ifndef HPCRUN_LITE_LAUNCH_EVENT_H
#define HPCRUN_LITE_LAUNCH_EVENT_H

#include "common/base/status.h"
#include "hpcrun-lite/config/config.h"
#include "hpcrun-lite/launch/perf_rights.h"

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
	/* Happens in the kernel: counting it requires permission to measure the kernel. */
	bool in_kernel;
	const char *about;
};

/*
 * Parses NAME[@HOW]. PAPI names are accepted unchecked and get a default period. STATUS_USAGE
 * (logged): wrong syntax.
 */
enum status event_parse(const char *text, struct config_event *event);

/* The table entry of a CONFIG_PERF event; NULL for others. */
const struct event_perf *event_perf_of(const struct config_event *event);
/* The table, `*n` long. */
const struct event_perf *event_perf_table(size_t *n);

/*
 * Opens the event for this process, as the run time will, and closes it. Returns false if it is not
 * available; *r has the cause and the cure. Always true for CPUTIME, unless the kernel's event was
 * asked for, and for REALTIME; r->why then says if the source is coarser than usual, else it is "".
 */
bool event_available(const struct config_event *event, struct perf_refusal *r);

/*
 * True if the kernel samples CPU time with its event here; in_kernel: also inside of the kernel.
 * Else *r has the cause and the cure.
 */
bool event_permitted(bool in_kernel, struct perf_refusal *r);

/* False, and the cause and the cure in *r, if this machine has no hardware counters for perf::. */
bool event_has_counters(struct perf_refusal *r);

/* Advice if PAPI refuses an event: a similar name, or a machine without counters; "; ..." or "". */
void event_advice(const char *name, char *text, size_t bytes);
/*
 * The known event whose name is most similar to `name`: written differently ("cputime", "cycles")
 * or mistyped ("CPUTIM"). NULL: none is similar enough. Valid until the next call.
 */
const char *event_like(const char *name);

/* Length of the kernel's tick in ns, which is the resolution of CPU timers. */
uint64_t event_tick_ns(void);

#endif
