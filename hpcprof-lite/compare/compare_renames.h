/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds functions that may have been renamed. A pair is suggested if one function is only in base
 * runs and the other only in new runs, which chance does not explain, most of their callers are the
 * same, and their totals are alike. A suggestion matches nothing by itself: compare_rename() does
 * that when the user asks for it. Test: tests/unit/compare/test_compare.c.
 */
#ifndef HPCPROF_COMPARE_COMPARE_RENAMES_H
#define HPCPROF_COMPARE_COMPARE_RENAMES_H

#include "hpcprof-lite/compare/compare_rows.h"

struct compare_renamed {
	uint32_t from, to; /* functions */
	struct compare_estimate total;
};

struct compare_renames {
	VEC(struct compare_renamed);
};

/* `rows`: by function. Each function is in one pair at most. False if memory is short. */
bool compare_renames_find(const struct compare_values *v, const struct compare_rows *rows,
			  struct compare_renames *to);

#endif
