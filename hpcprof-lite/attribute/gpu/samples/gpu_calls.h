/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls in GPU code: how a kernel reached a device function that was not inlined. A PC sample has
 * no caller, but the structure file knows which instruction calls which function. If a function has
 * several call sites, its samples are apportioned by how often each call returned.
 *
 * Samples at the instruction after the call measure this if their stall reasons take a fixed time
 * (issued, wait, branch resolving). Samples at the call itself do not: warps wait there for its
 * operands. If there are no samples after the calls, the samples at the calls decide. If there are
 * none at all, the shares are equal. A path contains a function at most once, so recursion ends.
 * Test: tests/unit/prof_gpu/test_gpu_calls.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_CALLS_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_CALLS_H

#include "common/base/vec.h"
#include "common/format/structure.h"

enum { GPU_CALLS_DEEPEST = 32, GPU_CALLS_MOST_PATHS = 64 };

struct gpu_call_path {
	/* link addresses of call instructions, the kernel's first */
	uint64_t calls[GPU_CALLS_DEEPEST];
	uint32_t n;
	/* its share is weight / sum of all weights; at least one path has a weight above 0 */
	uint64_t weight;
};

struct gpu_call_edge {
	uint32_t caller, target; /* function scopes */
	uint64_t link_addr;
	/* samples that count returns of the call; samples at the call */
	uint64_t n_returns, n_samples;
};

/* The calls of one code object. Zero-initialise. */
struct gpu_calls {
	VEC(struct gpu_call_edge) edges; /* by target, then address */
};

typedef VEC(struct gpu_call_path) gpu_call_paths;

/*
 * PC samples at an instruction. n: all samples. n_issues: samples of reasons with a fixed time,
 * which count how often the instruction was reached. n_issued: samples of warps that issued it, in
 * proportion to how often it ran.
 */
struct gpu_call_counts {
	uint64_t n, n_issues, n_issued;
};
enum { GPU_CALLS_INSTRUCTION = 16 }; /* bytes: NVIDIA GPUs since Volta */
/* Calls counts_at(arg, link_addr). False if memory is short. In all cases call gpu_calls_free(). */
bool gpu_calls_read(struct gpu_calls *c, const struct structure *s,
	struct gpu_call_counts (*counts_at)(const void *arg, uint64_t link_addr), const void *arg);
/*
 * Empties `paths`, then fills it with the call paths from the kernel's scope to the function's
 * scope. It stays empty if no call leads there. False if memory is short.
 */
bool gpu_calls_find(const struct gpu_calls *c, uint32_t kernel, uint32_t function,
	gpu_call_paths *paths);
void gpu_calls_free(struct gpu_calls *c);

/* The function scope that contains an address, or STRUCTURE_NONE. */
uint32_t gpu_calls_function_at(const struct structure *s, uint64_t link_addr);

#endif
