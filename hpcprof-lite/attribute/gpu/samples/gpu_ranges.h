/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of PC sampling: when a GPU context was sampled, how, and how many samples that promised. One sampler (an SM) takes a sample every `period` cycles while at least one warp is on it, so
 * what runs for a time t on n of them gives n x t x clock / period samples. Test: tests/unit/test_gpu_ranges.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_RANGES_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_RANGES_H

#include "hpcprof-lite/load/load_file.h"

struct gpu_range {
	uint64_t start_ns, end_ns;     /* CLOCK_MONOTONIC */
	uint64_t latest_end_ns;        /* of this range and those before it in the same context */
	double per_ns;                 /* samples of one sampler in a ns in which it is busy; 0: not known, or a gap */
	uint32_t context, samplers, flags;
};

/* Zero-initialise. */
struct gpu_ranges {
	VEC(struct gpu_range) list;    /* by context, then start */
};

/* What of a time was sampled, and how. */
struct gpu_cover {
	uint64_t serialized_ns, gap_ns; /* gap_ns: also all time of a context that was never sampled, as a second one on a GPU */
	double expected;               /* samples, were all samplers busy all the time */
	double promised;               /* ... as many as there were groups */
};

/* False when memory is short. */
bool gpu_ranges_read(struct gpu_ranges *r, const struct load_gpu *g);
/* Adds what the ranges of a context (0 in a range: of any) say of the time from start to end, in which n_groups groups ran (0: not known, enough for all samplers). */
void gpu_ranges_cover(const struct gpu_ranges *r, uint32_t context, uint64_t start_ns, uint64_t end_ns, uint64_t n_groups, struct gpu_cover *c);
/* The clock of a context's device in MHz; 0: not known. */
uint32_t gpu_ranges_clock_mhz(const struct load_gpu *g, uint32_t context);
void gpu_ranges_free(struct gpu_ranges *r);

#endif
