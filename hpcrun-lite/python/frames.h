/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Python frames of a thread, innermost first, in runs. A run has the frames of one call of the
 * interpreter's C function, and a place of that call on the C stack. Signal-safe. Tests:
 * tests/unit/run/test_python_frames.c, tests/unit/run/test_python_ahead.c,
 * tests/cli/python/python_frames.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_FRAMES_H
#define HPCRUN_LITE_PYTHON_FRAMES_H

#include "hpcrun-lite/python/layout.h"
#include "hpcrun-lite/python/reader.h"

struct frames_frame {
	uintptr_t code;       /* not verified */
	uint64_t instruction; /* as in struct python_layout */
	uintptr_t at;         /* the frame itself */
	uint64_t first_local; /* an object; 0: unknown, or the caller must read it at `at` */
	bool is_generator;    /* the frame of a generator or coroutine */
};

struct frames_run {
	uintptr_t place; /* on the C stack */
	uint32_t end;    /* one past its last frame; the first is where the previous run ends */
};

struct frames {
	struct frames_frame *frame;
	struct frames_run *run;
	uint32_t n_frames, n_runs, max; /* frame and run have room for `max` entries */
	bool broken;                    /* frames further out were unreadable or inconsistent */
	/*
	 * There are more frames than fit. Frames after the last run are the innermost of another
	 * run, whose place is unknown.
	 */
	bool is_cut;
	bool with_locals; /* set by the caller: load first_local even if loads are guarded */
};

enum { FRAMES_THREAD_BYTES = 192 }; /* the part of a thread state that the layouts describe */

/*
 * thread_state: a copy of the first FRAMES_THREAD_BYTES at `address`. The caller sets f->frame, run
 * and max.
 */
void frames_collect(struct frames *f, const struct python_layout *l, struct reader *r,
		    const uint8_t *thread_state, uintptr_t address);

#endif
