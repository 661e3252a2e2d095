/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of what a change gives. "Saved" is the share of the time that ends, 0 .. 1. Sources:
 *
 *   GPA: K. Zhou, X. Meng, R. Sai, J. Mellor-Crummey, "GPA: A GPU Performance Advisor Based on
 *   Instruction Sampling", CGO 2021, sections V-C (stall elimination) and V-D (parallelism).
 *
 * Pure functions. Test: tests/unit/prof_gpu/test_advice.c.
 */
#ifndef HPCPROF_VIEW_ADVICE_ADVICE_ESTIMATE_H
#define HPCPROF_VIEW_ADVICE_ADVICE_ESTIMATE_H

/*
 * What a change may give, as a factor of the speed: if it ends about half of what it is for, if it
 * ends all of it, and if what depends on that ends, too. 1 <= low <= likely <= high.
 */
struct advice_interval {
	double low, likely, high;
};

/* From shares that are saved; each is raised to the one before it. No factor exceeds 100. */
struct advice_interval advice_from_saved(double low, double likely, double high);
/* All are at most `most`, and at least 1. */
struct advice_interval advice_bound(struct advice_interval i, double most);

/*
 * Parallelism: a scheduler issues if at least one of its warps is ready, and each is so with the
 * same probability, independently. Returns the factor by which it issues more with `new_warps`
 * instead of `warps`. active is below 1.
 */
double advice_more_warps(double active, double warps, double new_warps);

#endif
