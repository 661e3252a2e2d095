/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A comparison as text for people. Test: tests/cli/compare/compare.sh.
 */
#ifndef HPCPROF_COMPARE_COMPARE_TEXT_H
#define HPCPROF_COMPARE_COMPARE_TEXT_H

#include "hpcprof-lite/compare/compare_report.h"

#include <stdio.h>

struct compare_text {
	unsigned by;   /* bits 1 << enum compare_by; 0: all */
	size_t n_rows; /* the most rows of a table */
};

/* Logs failures. */
enum status compare_text_write(const struct compare_report *r, const struct compare_text *o,
			       FILE *out);

/* "+1.23 s", "-45.0 ms", "0 s" */
const char *compare_change(char cell[32], enum model_unit unit, double value);
/* "1.100", "new", "gone" */
const char *compare_factor(char cell[32], const struct compare_estimate *e);
/* "+1.5%" of `whole`; "" if it is 0. */
const char *compare_share(char cell[32], double change, double whole);
/* The unit of a metric. */
enum model_unit compare_unit(const struct compare *c, uint32_t metric);

#endif
