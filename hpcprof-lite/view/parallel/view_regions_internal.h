/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of view_regions.h. Arrays have an element for each region of the view. */
#ifndef HPCPROF_VIEW_VIEW_REGIONS_INTERNAL_H
#define HPCPROF_VIEW_VIEW_REGIONS_INTERNAL_H

#include "common/base/map.h"
#include "hpcprof-lite/view/parallel/view_regions.h"

/* The line of a fork as one word, or its address if the line is unknown; 0: neither is known. */
static inline uint64_t region_place(uint32_t file, uint32_t line, uint64_t address)
{
	return line ? (uint64_t)file << 32 | line : address ? address | UINT64_C(1) << 63 : 0;
}

/* What the sums of the run time say of a region beside its row. Times in seconds. */
struct region_sums {
	uint64_t place;     /* of the fork: region_place() */
	bool shares_fork;   /* another region has the same one */
	double forks;       /* from fork to join, summed over all instances */
	double busy;        /* in the outlined function, of all threads */
	double body_work;   /* sampled work in the function */
	double most, mean;  /* busy time of a thread, summed over instances */
	double nested;      /* share of the sampled time that is inside of other regions, 0 to 1 */
	uint32_t last_process, schedule;
};

/*
 * Finds the contexts of the regions, adds their samples, loops and schedules to the rows, and the
 * threads of nested regions to the capacity of those around them. False if memory is short.
 */
bool regions_find_contexts(const struct model *m, struct view_regions *r, struct region_sums *sums);

#endif
