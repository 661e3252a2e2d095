/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tree of the report leaves out of Python programs: frames of the interpreter that stand
 * between a Python function and the one it calls, or between a thread's start and its first Python
 * function. The called function is shown where the chain begins; what the interpreter's frames took
 * beside it keeps its rows. Nothing is lost and no sum changes: the called functions' share goes
 * with them. Test: tests/unit/test_view_fold.c, tests/cli/python_report.sh.
 */
#ifndef HPCPROF_VIEW_VIEW_FOLD_H
#define HPCPROF_VIEW_VIEW_FOLD_H

#include "hpcprof-lite/view/view_values.h"

struct view_fold {
	uint32_t *
		caller; /* by context: of a Python function that is moved, the line (or entry) below
			   which it is shown; MODEL_NONE of all others. NULL: nothing is folded */
	bool *is_folded; /* by context: a frame of the interpreter, or part of one, from below which
			    a function is moved */
};

/* False when memory is short; view_fold_close() in any case. */
bool view_fold_open(const struct model *m, struct view_fold *f);
/* Takes from the totals of folded contexts what was moved. */
void view_fold_apply(const struct model *m, const struct view_fold *f, struct view_values *t);
void view_fold_close(struct view_fold *f);

#endif
