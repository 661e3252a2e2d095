/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of PC sampling: when a GPU context was sampled, how, and how many samples to expect. One
 * sampler (an SM) takes a sample every `period` cycles while it has at least one warp. Code that
 * runs for a time t on n samplers gives n x t x clock / period samples. Test:
 * tests/unit/prof_gpu/test_gpu_ranges.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_RANGES_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_RANGES_H

#include "hpcprof-lite/load/load_file.h"

struct gpu_range {
	uint64_t start_ns, end_ns;     /* CLOCK_MONOTONIC */
	uint64_t latest_end_ns; /* of this range and the earlier ranges of the same context */
	double per_ns; /* samples of one busy sampler in one ns; 0: unknown, or a gap */
	uint32_t context, samplers, flags;
};

/* Zero-initialise. */
struct gpu_ranges {
	VEC(struct gpu_range) list;    /* by context, then start */
};

/* How much of a time span was sampled, and how. */
struct gpu_cover {
	/*
	 * gap_ns includes all time of a context that was never sampled, such as a second one on a
	 * GPU
	 */
	uint64_t serialized_ns, gap_ns;
	double expected;               /* samples if all samplers had been busy all the time */
	/* samples if one sampler had been busy for each group, up to all samplers */
	double promised;
};

/* False if memory is short. */
bool gpu_ranges_read(struct gpu_ranges *r, const struct load_gpu *g);
/*
 * Adds to *c what the ranges of a context say about the time from start to end. A range with
 * context 0 applies to any context. n_groups groups ran in this time; 0: unknown, which means
 * enough for all samplers.
 */
void gpu_ranges_cover(const struct gpu_ranges *r, uint32_t context, uint64_t start_ns,
	uint64_t end_ns, uint64_t n_groups, struct gpu_cover *c);
/* The clock of the context's device in MHz; 0: unknown. */
uint32_t gpu_ranges_clock_mhz(const struct load_gpu *g, uint32_t context);
void gpu_ranges_free(struct gpu_ranges *r);

#endif
