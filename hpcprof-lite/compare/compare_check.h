/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Judges the conditions of --fail-if. A condition fails a comparison only if it is true beyond its
 * uncertainty. Test: tests/unit/compare/test_compare.c, tests/cli/compare/compare_gate.sh.
 */
#ifndef HPCPROF_COMPARE_COMPARE_CHECK_H
#define HPCPROF_COMPARE_COMPARE_CHECK_H

#include "hpcprof-lite/compare/compare_condition.h"
#include "hpcprof-lite/compare/compare_values.h"

enum compare_verdict {
	COMPARE_PASSES, /* the condition is false */
	COMPARE_NOISE,  /* it is true, but chance may have made it so */
	COMPARE_FAILS,  /* it is true beyond its uncertainty */
	COMPARE_ABSENT  /* no run has the function, or a side has no launch to average over */
};

struct compare_check {
	const struct compare_condition *condition; /* borrowed */
	uint32_t metric;
	enum compare_verdict verdict;
	bool lacks_mean; /* ABSENT: the function is there, but a side has no launch */
	struct compare_estimate estimate;
	double limit; /* standard deviations by which it must be true */
};

/*
 * Judges conditions[0 .. n-1] into to[0 .. n-1]. Logs and returns STATUS_USAGE if a metric was not
 * measured or a unit does not fit it. `assumed`: as in compare_values_open().
 */
enum status compare_check(const struct compare *c, const struct compare_condition *conditions,
			  size_t n, double assumed, struct compare_check *to);
/* "pass", "pass (noise)", "FAIL", "absent" */
const char *compare_verdict_name(enum compare_verdict v);
/* Lists the metrics of both sides, for messages. */
void compare_list_metrics(const struct compare *c, char *to, size_t n_bytes);

#endif
