/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of differences of one metric: by function, line, call path, kernel or rank, with what is
 * noise and what is not. Test: tests/unit/compare/test_compare.c.
 */
#ifndef HPCPROF_COMPARE_COMPARE_ROWS_H
#define HPCPROF_COMPARE_COMPARE_ROWS_H

#include "hpcprof-lite/compare/compare_values.h"

enum compare_by {
	COMPARE_BY_FUNCTION,
	COMPARE_BY_LINE,
	COMPARE_BY_PATH, /* own values of the function at the end of the path */
	COMPARE_BY_KERNEL,
	COMPARE_BY_RANK,
	COMPARE_N_BY
};

struct compare_row {
	uint32_t id; /* of the function, line, node (PATH) or rank: index into struct compare */
	struct compare_estimate self, total; /* LINE, PATH, RANK: total is the same as self */
};

struct compare_rows {
	enum compare_by by;
	bool by_total;
	struct compare_row *at; /* real differences first, then by falling size */
	size_t n, n_real;
	size_t n_all; /* with rows that have only a value which the table does not judge */
	double limit; /* standard deviations that a real difference exceeds; by own values */
	double noise; /* sum of the differences of the others */
};

/*
 * Rows without a value are left out. `by_total` judges and sorts functions and kernels by their
 * totals. False if memory is short; then there is nothing to free.
 */
bool compare_rows_make(const struct compare_values *v, enum compare_by by, bool by_total,
		       struct compare_rows *rows);
void compare_rows_free(struct compare_rows *rows);

/* The estimate that the table is about. */
static inline const struct compare_estimate *compare_row_judged(const struct compare_rows *rows,
								const struct compare_row *r)
{
	return rows->by_total ? &r->total : &r->self;
}

#endif
