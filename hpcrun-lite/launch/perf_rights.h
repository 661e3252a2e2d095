/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why the kernel refuses perf events on this machine, and the one setting that helps, in words of
 * at most 80 columns. Not for the measured process. Test: tests/unit/run/test_launch.c.
 */
#ifndef HPCRUN_LITE_LAUNCH_PERF_RIGHTS_H
#define HPCRUN_LITE_LAUNCH_PERF_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#define PERF_RIGHTS_NONE (-100) /* no kernel.perf_event_paranoid: the kernel has no perf events */

enum perf_container { PERF_NO_CONTAINER, PERF_DOCKER, PERF_PODMAN, PERF_KUBERNETES };

/* What the answer depends on. */
struct perf_machine {
	int paranoid;        /* kernel.perf_event_paranoid, or PERF_RIGHTS_NONE */
	int last_capability; /* the last one that the kernel knows */
	bool is_filtered;    /* a seccomp filter checks our system calls */
	bool has_units;      /* the kernel found counters in the processor */
	bool is_virtual;     /* a virtual machine */
	enum perf_container container;
};

/* `cure` is one line, or "" if nothing helps. */
struct perf_refusal {
	char why[192], cure[160];
};

void perf_machine_read(struct perf_machine *m);

/*
 * perf_event_open failed with `error`: EACCES, EPERM or ENOSYS. The event would be allowed at
 * kernel.perf_event_paranoid `level`.
 */
void perf_refused(const struct perf_machine *m, int error, int level, struct perf_refusal *r);

/* The processor has no counter for the event, or none that can interrupt. */
void perf_no_counter(const struct perf_machine *m, struct perf_refusal *r);

/* Reads the number of the line "NAME: N" in a text such as /proc/self/status; -1: there is none. */
int perf_rights_field(const char *text, const char *name);

#endif
