/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data that parts of the run time keep in struct thread. The functions of a part are in its own
 * folder. That folder includes thread.h, so its struct must be here. Tests:
 * tests/unit/run/test_sample.c, tests/unit/run/test_waits.c.
 */
#ifndef HPCRUN_LITE_RUNTIME_THREAD_PARTS_H
#define HPCRUN_LITE_RUNTIME_THREAD_PARTS_H

#include "common/format/measurement.h"
#include "hpcrun-lite/source/source.h"
#include "hpcrun-lite/unwind/memo.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* sample.h: the cost of samples, pauses, and weights of lost samples. */
struct sample_thread {
	uint32_t suspended;
	uint32_t n_long;        /* consecutive samples that left the program too little time */
	uint64_t left_ns;       /* CLOCK_MONOTONIC: end of the last sample */
	uint64_t rest_until_ns; /* CLOCK_MONOTONIC: no sample before this; see leave() */
	uint64_t cost_start_ns; /* CPU clock when a sample with measured cost began, else 0 */
	uint32_t n_handled;     /* samples entered; see sample_begin_cost() */
	/* weights of samples lost as busy, for the next sample */
	_Atomic uint64_t carried[MSR_MAX_METRICS];
	_Atomic uint32_t wait_node;     /* node of the last wait of OFFCPU; 0: none */
	_Atomic uint64_t offcpu_given_ns; /* recorded weights of OFFCPU */
	uint64_t traced_ns;     /* time of the last trace record */
};

#define SAMPLE_MAX_HELD 16u

/* sample.h: samples held back; see sample_hold(). */
struct sample_held {
	uint32_t n_holds;       /* nests */
	bool is_recording;
	uintptr_t sp;           /* stack pointer when the thread last went inside */
	_Atomic uint32_t n;
	struct source_expiry expiry[SAMPLE_MAX_HELD];
};

/* blame.h. Other threads write it. */
struct blame_thread {
	/* by others, for locks that this thread holds; not yet in a sample */
	_Atomic uint64_t waited_ns;
	_Atomic uint64_t late_ns;   /* the same, for locks that it has released since */
	_Atomic uint64_t sent_ns;   /* CLOCK_MONOTONIC: when others last sent it our signal */
	uint32_t node;              /* node of its last sample of BLAME; 0: none */
};

/* call_path.h. All zero at the start of the thread. */
struct call_thread {
	struct unwind_memo *memo;
	bool has_no_memory;
};

#endif
