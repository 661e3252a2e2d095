/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of PAPI that the source and the probe share. It starts the library with only its CPU
 * component, and runs an event set in the calling thread that overflows for each of its events. Not
 * signal-safe. Test: tests/cli/launch/launch_papi.sh.
 */
#ifndef HPCRUN_LITE_SOURCE_PAPI_SET_H
#define HPCRUN_LITE_SOURCE_PAPI_SET_H

#include <papi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAPI_SET_COMPONENT "perf_event" /* only the events of this component overflow */

struct papi_set_event {
	const char *name;
	uint64_t period;
	int code; /* set by papi_set_find */
};

/*
 * Starts PAPI, also again in a forked child, and finds the events. Returns false and sets `cause`
 * on failure. Standard error is silenced while PAPI starts.
 */
bool papi_set_start_library(char *cause, size_t cause_bytes);
bool papi_set_find(struct papi_set_event *events, unsigned n_events, char *cause,
		   size_t cause_bytes);

/* Number of the component, and the signal that its overflows raise. */
int papi_set_component(void);
int papi_set_signal(void);

/* Starts an event set in the calling thread. On failure everything is undone and `cause` is set. */
bool papi_set_start(const struct papi_set_event *events, unsigned n_events,
		    PAPI_overflow_handler_t handler, int *set, char *cause, size_t cause_bytes);
void papi_set_stop(int set, unsigned n_events, const struct papi_set_event *events);

/*
 * Get the descriptors of the calling thread's running events, up to n_most, and pause or resume
 * their counting. We cannot ask PAPI in a handler: an overflow whose signal arrives after PAPI_stop
 * finds no running set, and PAPI fails. papi_set_rest is signal-safe.
 */
unsigned papi_set_descriptors(int *fds, unsigned n_most);
void papi_set_rest(const int *fds, unsigned n, bool rests);

/*
 * Lets paused events count until the next overflow, when the kernel disables them. PAPI's handler
 * does the same after each overflow. Calling this twice in a row would allow two overflows.
 */
void papi_set_arm(const int *fds, unsigned n);

#endif
