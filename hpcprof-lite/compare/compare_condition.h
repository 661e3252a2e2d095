/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions of --fail-if, such as "CPUTIME self in cg_solve > +5%":
 *
 *     METRIC [total | self] [in FUNCTION] > | < VALUE
 *
 * VALUE is a number with a unit. With a sign it is a change, and may be in per cent; without one it
 * is the value of the new side. Test: tests/unit/compare/test_compare_condition.c.
 */
#ifndef HPCPROF_COMPARE_COMPARE_CONDITION_H
#define HPCPROF_COMPARE_COMPARE_CONDITION_H

#include "common/base/status.h"
#include "hpcprof-lite/model/model.h"

#include <stdbool.h>
#include <stddef.h>

struct compare_condition {
	const char *text;   /* as given; borrowed */
	const char *metric; /* part of `text` */
	size_t n_metric;
	const char *function; /* part of `text`; NULL: the whole program */
	size_t n_function;
	bool is_self, is_greater;
	bool is_change, is_percent;
	double value; /* per cent, or in the unit of its dimension: s, B, count */
	enum model_unit unit; /* MODEL_COUNT, MODEL_SECONDS or MODEL_BYTES */
};

/* Logs the place of an error and returns STATUS_USAGE. */
enum status compare_condition_parse(const char *text, struct compare_condition *to);

#endif
