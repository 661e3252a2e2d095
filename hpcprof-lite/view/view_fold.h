/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removes interpreter frames of Python programs from the tree of the report: frames between a
 * Python function and the function or operator it calls, or between the start of a thread and its
 * first Python function. The called function is shown where the chain of interpreter frames begins.
 * Other work of the interpreter's frames keeps its rows. Sums do not change, because the values of
 * the called functions move with them. Test: tests/unit/prof/test_view_fold.c,
 * tests/cli/python/python_report.sh.
 */
#ifndef HPCPROF_VIEW_VIEW_FOLD_H
#define HPCPROF_VIEW_VIEW_FOLD_H

#include "hpcprof-lite/view/view_values.h"

struct view_fold {
	uint32_t *
		/*
		 * By context. If a Python function or operator moves, the line (or entry) below
		 * which it is shown. All others: MODEL_NONE. NULL: nothing is folded.
		 */
		caller;
	/* By context: an interpreter frame, or a part of one, below which a function moved away. */
	bool *is_folded;
};

/* False if memory is short. In all cases call view_fold_close(). */
bool view_fold_open(const struct model *m, struct view_fold *f);
/* Subtracts what moved from the totals of folded contexts. */
void view_fold_apply(const struct model *m, const struct view_fold *f, struct view_values *t);
void view_fold_close(struct view_fold *f);

#endif
