/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of what a change gives. "Saved" is the share of the time that it removes, 0 .. 1. Sources:
 *
 *   GPA: K. Zhou, X. Meng, R. Sai, J. Mellor-Crummey, "GPA: A GPU Performance Advisor Based on
 *   Instruction Sampling", CGO 2021, sections V-C (stall elimination) and V-D (parallelism).
 *
 * Pure functions. Test: tests/unit/prof_gpu/test_advice.c.
 */
#ifndef HPCPROF_VIEW_ADVICE_ADVICE_ESTIMATE_H
#define HPCPROF_VIEW_ADVICE_ADVICE_ESTIMATE_H

/*
 * The speedup that a change may give, as a factor: if it removes about half of what it aims at, if
 * it removes all of that, and if what depends on that ends, too. 1 <= low <= likely <= high.
 */
struct advice_interval {
	double low, likely, high;
};

/*
 * The factors for shares that are saved. A share below the one before it is raised to that one. No
 * factor exceeds 100.
 */
struct advice_interval advice_from_saved(double low, double likely, double high);
/* Limits all three factors to the larger of `most` and 1. */
struct advice_interval advice_bound(struct advice_interval i, double most);

/*
 * Parallelism: a scheduler issues if at least one of its warps is ready. Assumes that each warp is
 * ready with the same probability, independently. Returns the factor by which the scheduler issues
 * more with `new_warps` instead of `warps`. `active` is the share of cycles in which it issues;
 * below 1.
 */
double advice_more_warps(double active, double warps, double new_warps);

/* 1 - (1 - share)^times: how likely one of several is ready, each of which is in `share`. */
double advice_any_of(double share, double times);

#endif
