/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the PAPI module which events are available, for the launcher. The launcher opens the module
 * in a child process, so that PAPI touches neither the launcher nor the program. Test:
 * tests/cli/launch/launch_papi.sh.
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
	 * Adds all events to one event set, enables their overflow and starts it, as the run time
	 * will do. Returns false if that fails, with the name of the event and the cause in `why`.
	 * Once per process.
	 */
	bool (*check)(struct papi_probe_event *events, unsigned n_events, char *why,
		      size_t why_bytes);
	/*
	 * Writes to `fd` a line "PAPI VERSION", then a line "NAME\tdescription" for each event that
	 * can be sampled, or a line "-cause". Once per process.
	 */
	void (*list)(int fd);
};

#endif
