/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks on the stack of a thread. A path that passes a marked frame gets a synthetic frame inside
 * it. The adapter for PyTorch marks frames in which autograd's engine runs a node. We never remove
 * marks, because we do not see when a function returns or a C++ exception leaves it. Instead, a
 * mark counts only if the walk finds a frame of the marked function at its place. Every call of
 * that function marks its place anew. Signal-safe. Test: tests/unit/openmp/test_region.c.
 */
#ifndef HPCRUN_LITE_REGIONS_STACK_MARKS_H
#define HPCRUN_LITE_REGIONS_STACK_MARKS_H

#include "hpcrun-lite/unwind/unwind.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { STACK_MARKS_MAX = 8 };

struct stack_mark {
	_Atomic uintptr_t place; /* an address in the frame, as in region.h */
	_Atomic uint64_t frame;  /* packed address of the synthetic frame */
};

/* One writer: the thread itself. All zero at its start. */
struct stack_marks {
	_Atomic uint32_t n; /* the outermost first, so places descend */
	struct stack_mark mark[STACK_MARKS_MAX];
};

/* Sets the marked function: packed addresses from lo to before hi. Only the first call counts. */
void stack_marks_set_code(uint64_t lo, uint64_t hi);

/*
 * The thread calls the marked function, whose frame contains `place`. frame 0: paths stay as they
 * are. Returns false if there are too many marks.
 */
bool stack_marks_enter(struct stack_marks *m, uintptr_t place, uint64_t frame);

static inline bool stack_marks_any(const struct stack_marks *m)
{
	return atomic_load_explicit(&m->n, memory_order_relaxed) != 0;
}

/*
 * In the path that `walk` walked last, finds the frame of mark i, counted from the innermost.
 * Returns false if it is not there. *index is that of the marked frame. *scan: see unwind.h; pass
 * the same one for ascending i.
 */
bool stack_marks_find(const struct stack_marks *m, uint32_t i, const struct unwind_thread *walk,
		      const struct unwind_path *walked, struct unwind_scan *scan, uint32_t *index,
		      uint64_t *frame);

/* Identifies the marks that paths of calls from `sp` depend on. 0: no marks. */
uint64_t stack_marks_tag(const struct stack_marks *m, uintptr_t sp);

#endif
