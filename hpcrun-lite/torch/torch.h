/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How libhpcrun-lite-torch.so, which replaces two functions of PyTorch, tells the run time about
 * nodes of autograd's graph. The module knows PyTorch; the run time knows call paths, threads and
 * stacks. See doc/torch.md.
 *
 *     torch_host_fn *find = dlsym(RTLD_DEFAULT, TORCH_HOST_SYMBOL);
 *     const struct torch_host *host = find(TORCH_HOST_VERSION);
 *
 * Every function may be called from any thread, but not from our signal handlers. It keeps errno,
 * waits for nothing and calls no function of PyTorch. Test: tests/cli/torch/torch_backward.sh.
 */
#ifndef HPCRUN_LITE_TORCH_TORCH_H
#define HPCRUN_LITE_TORCH_TORCH_H

#include <stddef.h>
#include <stdint.h>

#define TORCH_HOST_VERSION 1u
#define TORCH_HOST_SYMBOL "hpcrun_lite_torch_host"

/* Identifies a node: PyTorch's number of the thread that made it, and its number in that thread. */
struct torch_node {
	uint64_t thread; /* from 1 */
	uint64_t number; /* TORCH_NO_NUMBER: no operator made it (leaves of the graph) */
};
#define TORCH_NO_NUMBER UINT64_MAX

struct torch_host {
	uint32_t version;
	/*
	 * The calling thread makes the node. Finds and remembers its call path, without the frames
	 * of the module that holds `text`.
	 */
	void (*made)(const struct torch_node *node, const void *text);
	/* Says where the function is that evaluates nodes. Call before the first evaluate(). */
	void (*code)(const void *start, size_t n_bytes);
	/*
	 * The calling thread is about to call that function for the node. `place` is an address in
	 * the frame that the function will get.
	 */
	void (*evaluate)(const struct torch_node *node, uintptr_t place);
};

/* The exported symbol. NULL: the process is not measured, or not with --torch. */
typedef const struct torch_host *torch_host_fn(uint32_t version);

#endif
