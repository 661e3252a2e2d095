/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of what a change gives. "Saved" is the share of the time that ends, 0 .. 1. Sources:
 *
 *   GPA: K. Zhou, X. Meng, R. Sai, J. Mellor-Crummey, "GPA: A GPU Performance Advisor Based on
 *   Instruction Sampling", CGO 2021, sections V-C (stall elimination, latency hiding) and V-D
 *   (parallelism).
 *
 * Pure functions. Test: tests/unit/prof_gpu/test_advice.c.
 */
#ifndef HPCPROF_VIEW_ADVICE_ADVICE_ESTIMATE_H
#define HPCPROF_VIEW_ADVICE_ADVICE_ESTIMATE_H

/* Both ends of what a change may give, as a factor of the speed: 1 <= low <= high. */
struct advice_interval {
	double low, high;
};

/* From two shares that may be saved, in any order. No factor exceeds 100. */
struct advice_interval advice_from_saved(double a, double b);
/* The middle of the interval, where factors multiply. */
double advice_middle(struct advice_interval i);
/* Both ends are at most `most`. */
struct advice_interval advice_bound(struct advice_interval i, double most);

/*
 * Latency hiding: independent instructions fill the cycles in which nothing was issued. There are
 * no more of them than were issued. active: share of cycles with an issue; matched: share of cycles
 * that were lost to the latency. Returns the share that is saved.
 */
double advice_hide_latency(double active, double matched);
/*
 * Parallelism: a scheduler issues if at least one of its warps is ready, and each is so with the
 * same probability, independently. Returns the factor by which it issues more with `new_warps`
 * instead of `warps`. active is below 1.
 */
double advice_more_warps(double active, double warps, double new_warps);

#endif
