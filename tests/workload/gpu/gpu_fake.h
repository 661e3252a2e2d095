/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A vendor that does not exist, with its back end: calls that a program makes of a GPU API, which
 * the back end tells the profiler. For tests of the GPU core and of what reads its records. The
 * library is found by dlopen, as a layer of an ICD loader is. Without the profiler all calls do
 * nothing.
 */
#ifndef TESTS_GPU_FAKE_H
#define TESTS_GPU_FAKE_H

#include "hpcrun-lite/gpu/gpu.h"

#include <stdbool.h>
#include <stdint.h>

struct fake_api {
	/* Finds the profiler's table for `name` and defines a device, a context, two queues, a code
	 * object with two functions. False: not measured. */
	bool (*enter)(const char *name);
	const struct gpu_host *(*host)(void);
	uint32_t (*queue)(unsigned i);
	/* Launches an operation; `kernel` 0 or 1 for kernels. Frames: caller -> this ->
	 * profiler. */
	bool (*launch)(enum msr_gpu_kind kind, unsigned kernel, uint64_t id, struct gpu_ticket *t);
	/* It is done; it took `ns` and moved `amount`. */
	void (*done)(const struct gpu_ticket *t, unsigned kernel, uint64_t ns, uint64_t amount);
	void (*done_by_id)(uint64_t id, enum msr_gpu_kind kind, unsigned kernel, uint64_t ns);
	/* How often the at-end callback ran. */
	unsigned (*n_ends)(void);
	/* threads of which it was told that they end, with the sampling signal blocked */
	unsigned (*n_thread_ends)(void);
	/* Operations to be delivered by the at-end callback. */
	void (*leave)(const struct gpu_ticket *t);
};
#define FAKE_SYMBOL "fake_api"

#endif
