/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over the lines and the causes of a kernel for some stall reasons, and the places that follow
 * from them. For the rules of advice_kernels.c.
 */
#ifndef HPCPROF_VIEW_ADVICE_ADVICE_CAUSES_H
#define HPCPROF_VIEW_ADVICE_ADVICE_CAUSES_H

#include "hpcprof-lite/view/advice/advice_rule.h"

/* Instructions that a line issues for each access, if that is not known. */
#define INSTRUCTIONS_OF_ACCESS 4

/* Up to two reasons that belong together. */
struct advice_reasons {
	enum advice_reason first, second;
};

/* Samples of these reasons by what their causes do, and samples of warps that issued the causes. */
struct advice_causes {
	double all, of[ADVICE_N_OPERATIONS];
	double issued, issued_of[ADVICE_N_OPERATIONS];
	double sized, bytes; /* sized: those of `issued` whose bytes are known */
	double cycles;       /* cycles that a warp waits each time, mean over the samples */
	double in_loop;      /* share of the samples */
};

/* Share of all samples, and number of samples. */
double advice_idle_of(const struct advice_samples *s, struct advice_reasons r);
double advice_stalled_of(const struct advice_samples *s, struct advice_reasons r);
/* False if the causes of most samples are unknown. */
bool advice_sum_causes(const struct advice_kernel *k, struct advice_reasons r,
		       struct advice_causes *c);
/* Of special functions and conversions, which have one unit. */
double advice_special_of(const double of[ADVICE_N_OPERATIONS]);
/* Adds a line to those with the largest shares. */
void advice_add_place(struct view_advice *a, uint32_t context, double share);
/* Adds the lines that have most of the waiting. */
void advice_add_places(const struct advice_kernel *k, struct advice_reasons r,
		       struct view_advice *a);
/*
 * Adds the lines that warps waited for. `operation`: ADVICE_N_OPERATIONS means any. If the causes
 * are unknown, adds the waiting lines.
 */
void advice_add_cause_places(const struct advice_kernel *k, struct advice_reasons r,
			     enum advice_operation operation, struct view_advice *a);
/*
 * Adds up the waiting samples of the lines that often wait for these reasons, and what they issue.
 */
void advice_sum_lines(const struct advice_kernel *k, struct advice_reasons r, double *stalled,
		      double *issued);
/*
 * A warp has one sample "issued" for each sampled cycle in which it issues. So the waiting samples,
 * divided by the samples that issued an access, are the cycles that a warp waits for each access.
 */
double advice_cycles_of_access(const struct advice_kernel *k, struct advice_reasons r,
			       double issued);

#endif
