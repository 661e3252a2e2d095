/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Python frames of a thread, innermost first, in runs: the frames that one call of the interpreter's C function runs, with a place of that call on the C stack. Signal-safe.
 * Tests: tests/unit/test_python_frames.c, tests/unit/test_python_ahead.c, tests/cli/python_frames.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_FRAMES_H
#define HPCRUN_LITE_PYTHON_FRAMES_H

#include "hpcrun-lite/python/layout.h"
#include "hpcrun-lite/python/reader.h"

struct frames_frame {
	uintptr_t code;       /* not verified */
	uint64_t instruction; /* as in struct python_layout */
	bool is_generator;    /* the frame is one of a generator or coroutine */
};

struct frames_run {
	uintptr_t place;      /* on the C stack */
	uint32_t end;         /* one past its last frame; the first is where the run before it ends */
};

struct frames {
	struct frames_frame *frame;
	struct frames_run *run;
	uint32_t n_frames, n_runs, max; /* there is room for `max` of both */
	bool broken;          /* what follows further out could not be read, or made no sense */
	bool is_cut;          /* there are more frames than there is room for: those behind the last run are the innermost of another, whose place is not known */
};

enum { FRAMES_THREAD_BYTES = 192 }; /* of a thread state: all that a layout speaks of */

/* thread_state: a copy of the first FRAMES_THREAD_BYTES of what lies at `address`. f->frame, run and max are set. */
void frames_collect(struct frames *f, const struct python_layout *l, struct reader *r, const uint8_t *thread_state, uintptr_t address);

#endif
