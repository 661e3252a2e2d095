/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC samples of GPUs, and counters. A sample whose launch is known counts at this launch. Other
 * samples are apportioned over the contexts that launched the kernel in the process, in proportion
 * to the kernel's time in each. This time excludes ranges with known launches and gaps in sampling.
 * The shares are whole numbers that add up to the samples. Test:
 * tests/unit/prof_gpu/test_gpu_samples.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLES_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLES_H

#include "hpcprof-lite/attribute/expand/expand.h"
#include "hpcprof-lite/attribute/gpu/metrics/gpu_metrics.h"

/* A file whose cells have their contexts (of struct expand). */
struct gpu_sampled {
	struct gpu_join *join;
	const uint32_t *context_of;    /* by cell */
	/* by code id of the file: module of struct expand_module, or MODEL_NONE */
	const uint32_t *module_of;
	struct expand_run *expand;
	struct gpu_metrics *metrics;
	gpu_extras *extras;
	struct model_gpu_sampling *sampling;
	/*
	 * Set to the yardsticks of `sampling`, with contexts of struct expand. The caller owns the
	 * memory.
	 */
	struct model_gpu_yardstick **yardsticks;
	struct gpu_blames *blames;     /* NULL: no structure of the run lists causes of waits */
};

/* The function in the form that expand uses. */
struct expand_kernel gpu_samples_function(const struct load_gpu *g, const uint32_t *module_of,
	uint32_t function);
/* False if memory is short. */
bool gpu_samples_add(const struct gpu_sampled *s);

#endif
