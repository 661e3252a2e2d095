/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flat tables of one metric: sums over all contexts of one function, line of a function, module, or
 * operator or module of PyTorch. If a context is inside another of the same row, the total counts
 * it once. Recursion therefore does not exceed the whole. The self value of an operator or module
 * of PyTorch includes what it calls, up to the next one. Test: tests/unit/prof/test_view_table.c.
 */
#ifndef HPCPROF_VIEW_VIEW_TABLE_H
#define HPCPROF_VIEW_VIEW_TABLE_H

#include "hpcprof-lite/view/view_values.h"

enum view_by {
	VIEW_BY_FUNCTION,
	VIEW_BY_LINE,
	VIEW_BY_MODULE,
	VIEW_BY_OPERATOR,
	VIEW_BY_TORCH_MODULE
};

struct view_row {
	uint32_t context; /* the first context of the row; it names the row */
	double self, total;
	/*
	 * The part of the total that depends on a guessed frame, in the row or further in. Without
	 * this frame it would not belong to the row.
	 */
	double guessed;
	uint64_t n_samples;
};

struct view_rows {
	struct view_row *at; /* by falling self, then total, then first context */
	size_t n;
	bool has_guesses; /* some row has `guessed` */
};

/* Omits rows without self and total. False if memory is short. */
bool view_rows_make(const struct model *m, const struct view_values *t, enum view_by by,
		    struct view_rows *rows);
/*
 * For a table of functions: appends a row for each entry with a value of its own, such as idle
 * threads of OpenMP, whose calls are not shown. False if memory is short.
 */
bool view_rows_add_entries(const struct model *m, const struct view_values *t,
			   struct view_rows *rows);
/*
 * By context: true if it belongs to a row, and no context above belongs to the same one. Totals of
 * these contexts add up to the total of the row. False if memory is short.
 */
bool view_find_outermost(const struct model *m, enum view_by by, bool *is_outermost);
/* By falling total, then self, then first context. */
void view_rows_sort_by_total(struct view_row *rows, size_t n);
void view_rows_free(struct view_rows *rows);

#endif
