/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parallel regions of OpenMP: how long they took, how well they used their threads, and how
 * much time could be saved. Times are exact sums of struct model_omp_region; work and waits come
 * from samples below the call that forked the region, where tasks and workers are, too. Test:
 * tests/unit/prof/test_view_regions.c.
 */
#ifndef HPCPROF_VIEW_VIEW_REGIONS_H
#define HPCPROF_VIEW_VIEW_REGIONS_H

#include "hpcprof-lite/model/model.h"

/* A region of the source, over all processes and sizes of teams. */
struct view_region {
	uint32_t function;       /* the outlined function; MODEL_NONE: unknown */
	uint32_t call_function;  /* the function that forked; MODEL_NONE: unknown */
	uint32_t file, line;     /* of the fork; MODEL_NONE and 0: unknown */
	/* the only outermost loop of the outlined function; MODEL_NONE and 0: none or several */
	uint32_t loop_file, loop_line;
	/* "dynamic 16": how the iterations of loops are shared among threads; "": unknown */
	char schedule[40];
	uint32_t n_processes;
	uint32_t least_threads, most_threads;
	uint64_t instances;
	/*
	 * From fork to join, the mean of the processes that forked it. Regions of a process that
	 * run at the same time share the elapsed time.
	 */
	double seconds;
	double capacity;         /* time x threads, nested regions included, of all processes */
	bool is_known;           /* there are samples in it: the next three are known */
	double work;             /* the part of the capacity in which threads worked */
	double efficiency;       /* work / capacity */
	/*
	 * Elapsed time that a process would save if all work were spread evenly at no cost over the
	 * threads, or over the processors if these are fewer.
	 */
	double gain;
	bool has_imbalance;
	/*
	 * (most - mean) / most of the threads' time in the region's function, in each instance; of
	 * their work over all instances if tasks or other threads did much of it.
	 */
	double imbalance;
	/* Sampled time in the region by enum model_activity; 0 without samples. */
	double activity[MODEL_N_ACTIVITIES];
};

struct view_regions {
	struct view_region *at; /* by falling gain, or time if the gain is unknown */
	size_t n;
	double seconds; /* time that the processes spent in regions; nested ones do not count */
};

/* False if memory is short; then there is nothing to free. */
bool view_regions_make(const struct model *m, struct view_regions *r);
void view_regions_free(struct view_regions *r);
/*
 * The number of regions, from the first, that could gain this share of the run as far as is known.
 * 0: all regions.
 */
size_t view_regions_count_worth(const struct model *m, const struct view_regions *r, double share);
/* False: all teams have one thread, so no region can gain. */
bool view_regions_have_teams(const struct view_regions *r);
/*
 * "solve, parallel region at FILE:57, dynamic 16". `place` is what the caller calls the fork:
 * "FILE:57", or "". Returns `name`.
 */
const char *view_region_name(const struct model *m, const struct view_region *r, const char *place,
	char *name, size_t n_bytes);

#endif
