/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that a report of a comparison shows, computed. A report formats it. `values` has the
 * tree for a differential flame graph: compare_estimate() of the totals of each node of compare.h.
 * Test: tests/unit/compare/test_compare.c, tests/cli/compare/compare.sh.
 */
#ifndef HPCPROF_COMPARE_COMPARE_REPORT_H
#define HPCPROF_COMPARE_COMPARE_REPORT_H

#include "hpcprof-lite/compare/compare_check.h"
#include "hpcprof-lite/compare/compare_renames.h"
#include "hpcprof-lite/compare/compare_rows.h"

struct compare_options {
	const char *metric; /* NULL: the first CPU metric, else the first */
	bool by_total;
	double assumed; /* as in compare_values_open() */
	const struct compare_condition *conditions;
	size_t n_conditions;
};

/* A metric over everything. */
struct compare_whole {
	uint32_t metric;
	struct compare_estimate estimate;
	bool is_real; /* the difference is more than noise */
};

struct compare_report {
	const struct compare *c;
	struct compare_values values;  /* of the metric */
	struct compare_values kernels; /* of the time of kernels; empty: no run has kernels */
	struct compare_values launches;
	struct compare_rows rows[COMPARE_N_BY];
	struct compare_rows launches_of; /* by kernel */
	struct compare_renames renames;
	VEC(struct compare_whole) wholes; /* of metrics that people read as sums */
	struct compare_check *checks;     /* n_checks */
	size_t n_checks;
};

/* Logs failures. In all cases call compare_report_close(). */
enum status compare_report_open(const struct compare *c, const struct compare_options *o,
				struct compare_report *r);
void compare_report_close(struct compare_report *r);
/* The values that the table is about. */
const struct compare_values *compare_report_values(const struct compare_report *r,
						   enum compare_by by);
/* True if a condition fails. */
bool compare_report_fails(const struct compare_report *r);
/*
 * The name of a row; if it is longer than n_bytes, at least its end. A call path has " > " between
 * its functions and leaves out the first ones if it needs more than `columns` (0: unlimited).
 */
void compare_row_name(const struct compare *c, enum compare_by by, uint32_t id, size_t columns,
		      char *to, size_t n_bytes);
/* Where it is: "file.c:12", a module, or "". */
void compare_row_place(const struct compare *c, enum compare_by by, uint32_t id, char *to,
		       size_t n_bytes);

#endif
