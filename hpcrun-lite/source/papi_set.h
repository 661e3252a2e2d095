/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI, as far as the source and the probe share it: the library's start with nothing but its CPU component, and one event set in
 * the calling thread that overflows for each of its events. Not signal-safe. Tests: tests/cli/launch_papi.sh.
 */
#ifndef HPCRUN_LITE_SOURCE_PAPI_SET_H
#define HPCRUN_LITE_SOURCE_PAPI_SET_H

#include <papi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAPI_SET_COMPONENT "perf_event" /* the only component of PAPI whose events overflow */

struct papi_set_event {
	const char *name;
	uint64_t period;
	int code; /* filled in by papi_set_start_library */
};

/*
 * Starts PAPI, or starts it anew in a forked child, and finds the events. False: `cause` says why. Standard error is
 * silent while PAPI starts.
 */
bool papi_set_start_library(char *cause, size_t cause_bytes);
bool papi_set_find(struct papi_set_event *events, unsigned n_events, char *cause, size_t cause_bytes);

/* Number of the component, and the signal that its overflows raise. */
int papi_set_component(void);
int papi_set_signal(void);

/* An event set of the calling thread that runs. On failure everything is undone and `cause` says why. */
bool papi_set_start(const struct papi_set_event *events, unsigned n_events, PAPI_overflow_handler_t handler, int *set, char *cause,
                    size_t cause_bytes);
void papi_set_stop(int set, unsigned n_events, const struct papi_set_event *events);

/*
 * The descriptors of the calling thread's events, up to n_most; a set of it runs. And whether they count: PAPI itself must not be asked in a handler, since an overflow whose signal comes after PAPI_stop finds no set that runs, which
 * PAPI does not bear. The second is signal-safe.
 */
unsigned papi_set_descriptors(int *fds, unsigned n_most);
void papi_set_rest(const int *fds, unsigned n, bool rests);

#endif
