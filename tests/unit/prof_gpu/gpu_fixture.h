/* SPDX-License-Identifier: BSD-3-Clause */
/* What the unit tests of GPU joins share: one process with one thread, a call of the GPU's API, a
 * queue of our clock, and a kernel of known structure. */
#ifndef TESTS_UNIT_GPU_FIXTURE_H
#define TESTS_UNIT_GPU_FIXTURE_H

#include "tests/gen/gen_gpu.h"
#include "tests/unit/prof/prof_fixture.h"

#include <stdlib.h>
#include <string.h>

#define RUN_START_NS 1000
#define RUN_START_REAL_NS 9001000 /* real time is ours plus 9,000,000 */
#define RUN_TO_REAL_NS 9000000

struct run {
	char *directory;
	struct gen *g;
	uint16_t module;
	uint32_t thread, entry, call, other_call; /* call: 0x1010 below main, other_call: 0x1020 */
	uint32_t device, context, queue, code, function, shape;
	struct msr_gpu_tally *tally;
};

static inline void run_begin_as(struct run *r, char *directory, uint32_t pid, uint16_t flags_off)
{
	static const uint64_t hash[2] = {UINT64_C(0x0123456789abcdef),
					 UINT64_C(0xfedcba9876543210)};
	*r = (struct run){.directory = directory};
	r->g = gen_open(r->directory, &(struct gen_process){.host = "h",
							    .pid = pid,
							    .rank = -1,
							    .start_mono_ns = RUN_START_NS,
							    .start_real_ns = RUN_START_REAL_NS});
	gen_header(r->g)->flags &= ~(uint32_t)flags_off;
	gen_info(r->g, "executable", "/opt/bin/app");
	r->module = gen_module(r->g, "/opt/bin/app", NULL, 0, MSR_MODULE_MAIN);
	r->thread = gen_thread(r->g, "first");
	r->entry = gen_entry(r->g, r->thread, MSR_ENTRY_MAIN);
	r->call = gen_child(r->g, r->thread, r->entry, msr_addr_make(r->module, 0x1010, false));
	r->other_call =
		gen_child(r->g, r->thread, r->entry, msr_addr_make(r->module, 0x1020, false));
	r->tally = gen_gpu_tally(r->g, 0, "opencl", "preloaded");
	r->device = gen_gpu_device(
		r->g, "Device", "driver 1",
		(struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_GPU, .uuid = {7}});
	r->context = gen_gpu_context(r->g, r->device, 0);
	r->queue = gen_gpu_queue(
		r->g, "queue 0",
		(struct msr_gpu_def_queue){.context = r->context, .device = r->device});
	r->code = gen_gpu_code(r->g, "0123456789abcdeffedcba9876543210.gpubin", "", hash,
			       MSR_GPU_CODE_ELF);
	r->function = gen_gpu_function(r->g, r->code, "saxpy", "");
	r->shape = gen_gpu_shape(r->g, (struct msr_gpu_shape){.function = r->function,
							      .grid = {10, 2, 1},
							      .block = {32, 4, 1},
							      .registers = 24,
							      .static_shared_bytes = 100,
							      .dynamic_shared_bytes = 28});
}

static inline void run_begin(struct run *r)
{
	run_begin_as(r, fixture_directory(), 3, 0);
}

static inline struct model *run_finish_as(struct run *r, enum msr_exit_kind kind)
{
	free(gen_close(r->g, kind, 0));
	struct model *m = fixture_model(r->directory, 1);
	fixture_check_model(m);
	return m;
}

static inline struct model *run_finish(struct run *r)
{
	return run_finish_as(r, MSR_EXIT_RETURN);
}

static inline void run_clean(struct run *r, struct model *m)
{
	model_free(m);
	fixture_remove(r->directory);
}

/* A kernel launched at `node` that ran from start to end. */
static inline void run_kernel(struct run *r, uint32_t node, uint64_t id, uint64_t enter_ns,
			      uint64_t start_ns, uint64_t end_ns)
{
	gen_gpu_launch(r->g, r->thread, node, id, MSR_GPU_KERNEL, enter_ns);
	gen_gpu_op(r->g, &(struct gen_gpu_op){.id = id,
					      .kind = MSR_GPU_KERNEL,
					      .start_ns = start_ns,
					      .end_ns = end_ns,
					      .queue = r->queue,
					      .shape = r->shape});
}

static inline uint32_t run_metric(const struct model *m, const char *name)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (strcmp(m->metrics[i].name, name) == 0)
			return i;
	return MODEL_NONE;
}

/* Sum over all profiles; 0 where there is none, -1 where the metric does not occur. */
static inline double run_value(const struct model *m, uint32_t context, const char *metric,
			       enum model_scope scope)
{
	uint32_t k = run_metric(m, metric);
	if (k == MODEL_NONE)
		return -1;
	const struct model_total *t = model_find_total(m, context, k);
	return t ? t->sum[scope] : 0;
}

/* The first FUNCTION context with this name below `from` in preorder; MODEL_NONE. */
static inline uint32_t run_find(const struct model *m, uint32_t from, const char *name)
{
	for (uint32_t c = from + 1; c < from + m->contexts[from].subtree_n; c++)
		if (m->contexts[c].kind == MODEL_CONTEXT_FUNCTION &&
		    strcmp(m->functions[m->contexts[c].function].name, name) == 0)
			return c;
	return MODEL_NONE;
}

static inline uint32_t run_find_entry(const struct model *m, enum model_entry entry)
{
	for (uint32_t c = 1; c < m->n_contexts; c += m->contexts[c].subtree_n)
		if (m->contexts[c].entry == entry)
			return c;
	return MODEL_NONE;
}

#endif
