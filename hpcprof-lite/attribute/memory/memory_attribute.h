/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds memory to the model: metrics of what was live at the peak and at the end, and an account for
 * each process. The peak is that of the process: over several, metrics are sums of their peaks.
 * Tests: tests/unit/memory/test_memory_model.c, tests/cli/memory/memory_truth.sh.
 */
#ifndef HPCPROF_ATTRIBUTE_MEMORY_MEMORY_ATTRIBUTE_H
#define HPCPROF_ATTRIBUTE_MEMORY_MEMORY_ATTRIBUTE_H

#include "hpcprof-lite/attribute/topic/topic.h"

extern const struct topic_ops topic_memory;

/* A sampled allocation. Times are CLOCK_MONOTONIC. */
struct memory_sample {
	uint64_t alloc_ns, free_ns; /* UINT64_MAX: not freed */
	uint64_t bytes;
	double weight;
	uint32_t flags; /* MSR_MEMORY_* */
	uint32_t profile, context;
};

/*
 * Sets all of *to but the process, the period, the losses and the clock of peak_ns. [start_ns,
 * end_ns]: the life of the process. False if memory is short.
 */
bool memory_account(const struct memory_sample *samples, size_t n, uint64_t start_ns,
		    uint64_t end_ns, struct model_memory *to);

static inline bool memory_sample_is_live(const struct memory_sample *s, uint64_t at_ns)
{
	return s->alloc_ns <= at_ns && at_ns < s->free_ns && !(s->flags & MSR_MEMORY_UNFOLLOWED);
}

#endif
