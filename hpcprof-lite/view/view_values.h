/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds metrics by what they count, and gives the totals of one metric by context. Test:
 * tests/unit/prof/test_view_table.c.
 */
#ifndef HPCPROF_VIEW_VIEW_VALUES_H
#define HPCPROF_VIEW_VIEW_VALUES_H

#include "hpcprof-lite/model/model.h"

/* The first metric with this role, or MODEL_NONE. */
uint32_t view_find_metric(const struct model *m, enum model_metric_role role);
/* The total of the metric over everything; 0 if `metric` is MODEL_NONE. */
double view_total(const struct model *m, uint32_t metric);

/* The totals of one metric by context; 0 if there is none. */
struct view_values {
	uint32_t metric;
	double *total;       /* inclusive */
	double *self;        /* at the context itself */
	uint64_t *n_samples; /* at the context itself */
	double whole;        /* of the root */
	double least;        /* reports hide rows with less; 0: see view_values_need_samples() */
	uint64_t n_all;
	bool spread; /* GPU time that view_gpu_spread() divided inside kernels */
};

/* False if memory is short; then there is nothing to close. */
bool view_values_open(const struct model *m, uint32_t metric, struct view_values *v);
void view_values_close(struct view_values *v);
/*
 * Sets v->least so that rows need `n` samples, or the whole if there are no more. A row's samples
 * are its value divided by the average sample, rounded. Does nothing for values that are measured:
 * those of GPUs and MPI, and of waits, where one sample may be a long one.
 */
void view_values_need_samples(const struct model *m, struct view_values *v, unsigned n);

#endif
