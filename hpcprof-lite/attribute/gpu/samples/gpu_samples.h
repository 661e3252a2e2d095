/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC samples of GPUs, and counters. A sample that knows its launch counts there; any other is shared out over the contexts that launched its kernel in the process, in
 * proportion to the kernel's time in each (without the time in which launches were known, or nothing was sampled), so that the shares are whole numbers and add up to what was sampled. Test: tests/unit/test_gpu_samples.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLES_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLES_H

#include "hpcprof-lite/attribute/expand.h"
#include "hpcprof-lite/attribute/gpu/gpu_metrics.h"

/* A file whose cells have their contexts (of struct expand). */
struct gpu_sampled {
	struct gpu_join *join;
	const uint32_t *context_of;    /* by cell */
	const uint32_t *module_of;     /* by the file's code id: module of struct expand_module, MODEL_NONE */
	struct expand_run *expand;
	struct gpu_metrics *metrics;
	gpu_extras *extras;
	struct model_gpu_sampling *sampling;
	struct model_gpu_yardstick **yardsticks; /* what sampling refers to; contexts are of struct expand; set to memory of the caller's */
};

/* The function as expand knows it. */
struct expand_kernel gpu_samples_function(const struct load_gpu *g, const uint32_t *module_of, uint32_t function);
/* False when memory is short. */
bool gpu_samples_add(const struct gpu_sampled *s);

#endif
