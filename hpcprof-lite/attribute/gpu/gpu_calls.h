/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls inside GPU code: how a device function that was not inlined was reached from a kernel. PC samples say where the device was, not who called; the structure file
 * says which instructions call which function. A function that several call sites lead to is shared out over them by how often each call came back: by the samples at the instruction behind the
 * call with reasons that take a fixed time (issued, wait, branch resolving; at the call itself warps wait for what the call needs, which says nothing of how often). Where there are none of these, by the samples at the calls;
 * evenly where there are none at all. No function stands twice on a path, which is where recursion ends. Test: tests/unit/test_gpu_calls.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_CALLS_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_CALLS_H

#include "common/base/vec.h"
#include "common/format/structure.h"

enum { GPU_CALLS_DEEPEST = 32, GPU_CALLS_MOST_PATHS = 64 };

struct gpu_call_path {
	uint64_t calls[GPU_CALLS_DEEPEST]; /* link addresses of call instructions, the kernel's first */
	uint32_t n;
	uint64_t weight;                   /* its part of what all paths have together; not 0 for all of them */
};

struct gpu_call_edge {
	uint32_t caller, target; /* function scopes */
	uint64_t link_addr;
	uint64_t n_returns, n_samples; /* that count how often the call came back; at the call */
};

/* The calls of one code object. Zero-initialise. */
struct gpu_calls {
	VEC(struct gpu_call_edge) edges; /* by target, then address */
};

typedef VEC(struct gpu_call_path) gpu_call_paths;

/* PC samples at an instruction: all, and those that count how often it was reached. */
struct gpu_call_counts {
	uint64_t n, n_issues;
};
enum { GPU_CALLS_INSTRUCTION = 16 }; /* bytes: NVIDIA's from Volta on */
/* counts_at(arg, link_addr). False when memory is short; gpu_calls_free() in any case. */
bool gpu_calls_read(struct gpu_calls *c, const struct structure *s, struct gpu_call_counts (*counts_at)(const void *arg, uint64_t link_addr), const void *arg);
/* Fills `paths` (emptied first) with the ways from the kernel's scope to the function's; none where no call leads there. False when memory is short. */
bool gpu_calls_find(const struct gpu_calls *c, uint32_t kernel, uint32_t function, gpu_call_paths *paths);
void gpu_calls_free(struct gpu_calls *c);

/* The function scope that holds an address; STRUCTURE_NONE. */
uint32_t gpu_calls_function_at(const struct structure *s, uint64_t link_addr);

#endif
