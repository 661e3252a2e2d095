/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the PAPI module answers to the launcher: which events can be had. The launcher opens the module in a child process
 * of its own, so that PAPI touches neither the launcher nor the program. Test: tests/cli/launch_papi.sh.
 */
#ifndef HPCRUN_LITE_SOURCE_PAPI_PROBE_H
#define HPCRUN_LITE_SOURCE_PAPI_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAPI_PROBE_SYMBOL "hpcrun_lite_papi_probe"

struct papi_probe_event {
	const char *name;
	uint64_t period;
	uint32_t unit;      /* enum msr_unit, set by check */
};

struct papi_probe {
	/*
	 * Adds all events to one event set, sets their overflow and starts it, as the run time will. False: they cannot be had, with the
	 * cause, the event's name in front, in `why`. Once a process.
	 */
	bool (*check)(struct papi_probe_event *events, unsigned n_events, char *why, size_t why_bytes);
	/*
	 * Writes one line for each event that can be sampled ("NAME\tdescription"), then for each component that cannot ("-NAME\tcause"), to
	 * `fd`. The first line is the version of PAPI. Once a process.
	 */
	void (*list)(int fd);
};

#endif
