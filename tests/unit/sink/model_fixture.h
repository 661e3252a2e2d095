/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hand-made struct model for the tests and the benchmark of the sinks: a few processes and
 * threads, functions with lines, inlined calls, a callback through code without lines, recursion,
 * partial paths, names that are hard to quote, several metrics, time lines made up on the fly. With
 * n_gpu_ops each process also has a device with an in-order queue and an out-of-order queue of two
 * lanes, kernels from two CPU paths with PC samples below, copies both ways, a wait, and an
 * operation whose launch is not known; the losses of its GPU ledger are made up. It defines the
 * model's own functions (model_find_total() ...) and must not be linked with model.c.
 */
#ifndef TESTS_UNIT_MODEL_FIXTURE_H
#define TESTS_UNIT_MODEL_FIXTURE_H

#include "hpcprof-lite/model/model.h"

struct fixture_options {
	uint32_t n_processes, n_threads; /* threads of each process */
	uint32_t n_metrics;              /* 1 to 3 */
	uint32_t n_extra; /* functions with 8 lines each added below main, for size */
	uint32_t recursion;              /* depth of the recursive function */
	uint64_t n_samples;              /* of each thread and metric */
	uint32_t n_gpu_ops;              /* of each lane (three for each process); 0: no GPU */
	uint32_t gpu_depth; /* calls between main and the launch of a kernel; 0: main launches */
	bool ranks, traces, loops;
	const char *source; /* an existing source file, absolute; NULL: all files are missing */
	const char *kernels;             /* likewise, of the GPU's */
};

/* Never NULL: ends the program when memory is short. */
struct model *fixture_make(const struct fixture_options *o);
void fixture_free(struct model *m);

#endif
