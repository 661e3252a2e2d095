/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phases that a program marks: each begins at a call of hpctoolkit_sampling_start() and ends at
 * the next stop or start. Signal-safe. Test: tests/cli/parallel/phases.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CONTROL_PHASE_H
#define HPCRUN_LITE_RUNTIME_CONTROL_PHASE_H

#include "common/format/measurement.h"

#include <stdint.h>

/* Where a phase begins. */
struct phase_place {
	uint32_t thread; /* UINT32_MAX: not measured */
	uint32_t node;   /* 0: unknown */
};

/* More phases than this are counted, but not recorded. */
#define PHASES_MOST 65536u

/* At the start of a process and in a forked child, after store_open: there is no phase. */
void phase_start(void);
/* The calling thread is at a call that starts measurement. Its signals are blocked. */
struct phase_place phase_here(void);
/* One thread at a time calls these. */
void phase_begin(struct phase_place place); /* ends the phase before it */
void phase_end(void);

#endif
