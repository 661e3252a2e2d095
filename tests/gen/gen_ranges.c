/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a measurement of a training step into the directory that the argument names: the main
 * thread is in the ranges "step" and in it "forward" and "backward", and launches 3 ms of kernels
 * in "forward". The thread pt_autograd_0, which is in no range, launches 5 ms of kernels during
 * "backward" and 1 ms after the step. There are a mark, a range that was started and ended, and
 * payloads.
 */
#include "tests/gen/gen_gpu.h"
#include "tests/gen/gen_nvtx.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEP, FORWARD, BACKWARD, MARK, STARTED, N_RANGES };
enum { MS = 1000000, START = 1000 * MS };

struct step {
	struct gen *g;
	uint16_t app;
	uint32_t main_thread, autograd, metric, queue, shape;
	struct msr_nvtx_range ranges[N_RANGES];
	struct msr_nvtx_event events[N_RANGES];
};

static uint32_t at(const struct step *x, uint32_t parent, uint64_t address)
{
	return gen_child(x->g, x->main_thread, parent, msr_addr_make(x->app, address, false));
}

static void kernel(struct step *x, uint32_t thread, uint32_t node, uint64_t id, uint64_t enter_ms,
		   uint64_t start_ms, uint64_t ms)
{
	gen_gpu_launch(x->g, thread, node, id, MSR_GPU_KERNEL, START + enter_ms * MS);
	gen_gpu_op(x->g, &(struct gen_gpu_op){.id = id,
					      .kind = MSR_GPU_KERNEL,
					      .start_ns = START + start_ms * MS,
					      .end_ns = START + (start_ms + ms) * MS,
					      .queue = x->queue,
					      .shape = x->shape});
}

static void range(struct step *x, uint32_t i, enum msr_nvtx_range_kind kind, uint32_t node,
		  uint64_t enter_ms, uint64_t leave_ms)
{
	const uint64_t ns = (leave_ms - enter_ms) * MS;
	x->ranges[i] = (struct msr_nvtx_range){.node = node,
					       .name = i + 1,
					       .kind = kind,
					       .n_begun = kind != MSR_NVTX_MARKED,
					       .n = 1,
					       .n_events = 1,
					       .ns = ns,
					       .least_ns = ns,
					       .most_ns = ns};
	x->events[i] = (struct msr_nvtx_event){.enter_ns = START + enter_ms * MS,
					       .leave_ns = START + leave_ms * MS,
					       .range = i};
}

static void set_value(struct msr_nvtx_range *r, double value)
{
	union {
		double d;
		uint64_t bits;
	} v = {value};
	r->n_values = 1;
	r->value_sum = r->value_least = r->value_most = v.bits;
}

static void make_gpu(struct step *x)
{
	static const uint64_t hash[2] = {1, 2};
	gen_gpu_tally(x->g, 0, "cupti", "test");
	const uint32_t device = gen_gpu_device(
		x->g, "Device", "driver 1",
		(struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_GPU, .uuid = {7}});
	const uint32_t context = gen_gpu_context(x->g, device, 0);
	x->queue = gen_gpu_queue(x->g, "stream 7",
				 (struct msr_gpu_def_queue){.context = context, .device = device});
	const uint32_t code = gen_gpu_code(x->g, "", "", hash, MSR_GPU_CODE_ELF);
	x->shape = gen_gpu_shape(
		x->g, (struct msr_gpu_shape){.function = gen_gpu_function(x->g, code, "mul", ""),
					     .grid = {1, 1, 1},
					     .block = {32, 1, 1}});
}

/* main 0x1000, in it step 0x1100; forward and backward are called there. */
static void make_paths(struct step *x)
{
	const uint32_t entry = gen_entry(x->g, x->main_thread, MSR_ENTRY_MAIN),
		       step = at(x, entry, 0x1100);
	range(x, STEP, MSR_NVTX_PUSHED, at(x, entry, 0x1000), 0, 20);
	const uint32_t in_step = gen_nvtx_inside(x->g, x->main_thread, step, STEP);
	range(x, FORWARD, MSR_NVTX_PUSHED, in_step, 1, 8);
	range(x, BACKWARD, MSR_NVTX_PUSHED, in_step, 9, 18);
	range(x, MARK, MSR_NVTX_MARKED, in_step, 8, 8);
	range(x, STARTED, MSR_NVTX_STARTED, step, 2, 26);
	set_value(&x->ranges[BACKWARD], 2.5);
	const uint32_t forward = gen_nvtx_inside(x->g, x->main_thread, step, FORWARD),
		       engine = gen_entry(x->g, x->autograd, MSR_ENTRY_THREAD);
	gen_sample(x->g, x->main_thread, forward, x->metric, START + 4 * MS, 4 * MS);
	gen_sample(x->g, x->main_thread, entry, x->metric, START + 21 * MS, MS);
	kernel(x, x->main_thread, forward, 1, 5, 6, 3);
	kernel(x, x->autograd, engine, 2, 10, 11, 5);
	kernel(x, x->autograd, engine, 3, 19, 20, 1);
	kernel(x, x->autograd, engine, 4, 25, 26, 1);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"step", "forward", "backward", "tick", "whole"};
	struct step x = {0};
	if (argc != 2)
		return 2;
	x.g = gen_open(argv[1], &(struct gen_process){.pid = 7,
						      .rank = -1,
						      .start_mono_ns = START,
						      .start_real_ns = 2 * (uint64_t)START});
	x.app = gen_module(x.g, "/bin/train", NULL, 0, MSR_MODULE_MAIN);
	x.metric = gen_metric(x.g, "CPUTIME", MSR_UNIT_NS, MS, MSR_SOURCE_TEST);
	x.main_thread = gen_thread(x.g, "train");
	x.autograd = gen_thread(x.g, "pt_autograd_0");
	make_gpu(&x);
	make_paths(&x);
	char *file = gen_close(x.g, MSR_EXIT_RETURN, 0);
	for (uint32_t i = 0; i < N_RANGES; i++)
		gen_nvtx_name(file,
			      (struct msr_nvtx_name){.kind = MSR_NVTX_NAME_RANGE, .id = i + 1},
			      names[i]);
	gen_nvtx_name(file, (struct msr_nvtx_name){.kind = MSR_NVTX_NAME_THREAD, .thread = 1},
		      "autograd, by NVTX");
	gen_nvtx_ranges(file, x.main_thread, x.ranges, N_RANGES);
	gen_nvtx_events(file, x.main_thread, x.events, N_RANGES);
	free(file);
	return 0;
}
