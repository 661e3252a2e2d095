/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hardware counters say about each kernel: bytes moved, hits of the L2 cache, operations, and
 * how near that is to what the GPU can do. doc/counters.md has the definitions. Test:
 * tests/unit/prof_gpu/test_counters.c.
 */
#ifndef HPCPROF_VIEW_COUNTERS_VIEW_COUNTERS_H
#define HPCPROF_VIEW_COUNTERS_VIEW_COUNTERS_H

#include "hpcprof-lite/view/counters/view_roofs.h"

/*
 * All counted launches of one kernel. A number that was not counted is 0; see struct view_counters.
 */
struct view_counters_row {
	uint32_t function;
	double launches, counted; /* all launches, and those whose counters were read */
	double seconds;           /* of the counted launches, like all below */
	double bytes_read, bytes_written;
	double hits, misses;      /* sectors in the L2 cache */
	double work[VIEW_N_WORKS];
	double operations;        /* the sum of work[] */
};

/* The part of the GPU that must be busy longest. */
enum view_bound { VIEW_BOUND_MEMORY, VIEW_BOUND_WORK, VIEW_BOUND_TENSOR, VIEW_BOUND_UNKNOWN };

/* The least time in which the GPU can do a kernel's work. */
struct view_bounds {
	double seconds;       /* 0: unknown */
	enum view_bound by;
	enum view_work work;  /* WORK, TENSOR: the kind that takes longest */
};

struct view_counters {
	/* kernels with a counted launch, by falling time, then function */
	struct view_counters_row *at;
	size_t n;
	double launches, counted;     /* of all kernels */
	/* what was counted at all: memory, L2 cache, operations of cores, of tensor cores */
	bool has_bytes, has_hits, has_work, has_tensor;
	struct view_roofs roofs;
};

/* False if memory is short; then there is nothing to free. n is 0 if nothing was counted. */
bool view_counters_make(const struct model *m, struct view_counters *c);
void view_counters_free(struct view_counters *c);
struct view_bounds view_counters_bounds(const struct view_counters *c,
					const struct view_counters_row *r);

#endif
