/* SPDX-License-Identifier: BSD-3-Clause */
/* Synthetic GPU work for the threads of gen_job(); see gen_gpu.h. The same random numbers give the
 * same bytes. */
#include "tests/gen/gen_gpu.h"

#include "tests/gen/gen_structure.h"

#include <stdlib.h>
#include <string.h>

enum {
	CLOCK = 1,
	DEVICE_LAG_NS = 7000000,  /* the device's clock is so much behind and loses 20 ns each ms */
	KERNEL_BYTES = 0x400,
	LINE_BYTES = 0x40
};

static const uint64_t code_hash[2] = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};
static const char *const kernels[4] = {"saxpy", "stencil", "reduce", "undocumented"};

/* xorshift64* (Vigna 2016) */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static uint32_t pick(uint64_t *state, uint32_t n)
{
	return (uint32_t)((next_random(state) >> 32) * n >> 32);
}

static uint64_t device_time(uint64_t mono_ns)
{
	return mono_ns - DEVICE_LAG_NS - mono_ns / 1000000 * 20;
}

static void define(struct gen *g, struct gen_gpu_job *job, const struct gen_gpu_work *w)
{
	struct msr_gpu_def_device device = {.n_units = 16,
					    .threads_per_unit = 2048,
					    .group_max = 1024,
					    .lanes = 32,
					    .clock_mhz = 1500,
					    .memory_bytes = UINT64_C(8) << 30,
					    .uuid = {1, 2, 3, w->gpu},
					    .type = MSR_GPU_DEVICE_GPU};
	gen_gpu_tally(g, 0, "opencl", "ICD loader's layer");
	job->device = gen_gpu_device(g, "Synthetic GPU", "OpenCL 3.0 synthetic", device);
	job->context = gen_gpu_context(g, job->device, 0);
	for (uint32_t q = 0; q < 2; q++)
		job->queues[q] = gen_gpu_queue(
			g, q ? "queue 1" : "queue 0",
			(struct msr_gpu_def_queue){.context = job->context,
						   .device = job->device,
						   .ordinal = q,
						   .clock = CLOCK,
						   .flags = q ? MSR_GPU_QUEUE_OUT_OF_ORDER : 0});
	job->code = gen_gpu_code(g, "0123456789abcdeffedcba9876543210.gpubin",
				 "-cl-fast-relaxed-math", code_hash, MSR_GPU_CODE_ELF);
	for (unsigned i = 0; i < 4; i++)
		job->functions[i] = gen_gpu_function(g, job->code, kernels[i], "");
	for (uint32_t i = 0; i < 6; i++)
		job->shapes[i] =
			gen_gpu_shape(g, (struct msr_gpu_shape){.function = job->functions[i % 4],
								.grid = {64 << i, 1, 1},
								.block = {i < 4 ? 256 : 128, 1, 1},
								.registers = 32 + 8 * i,
								.dynamic_shared_bytes = i * 256});
	job->counter =
		gen_gpu_counter(g, "l2_misses", "misses of the second cache", MSR_UNIT_COUNT);
	gen_gpu_stall(g, 1, "smsp__pcsamp_warps_issue_stalled_selected", "the warp issued",
		      MSR_GPU_STALL_ISSUED);
	gen_gpu_stall(g, 2, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", "waits for memory",
		      0);
	gen_gpu_stall(g, 3, "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
		      "waits for memory", MSR_GPU_STALL_ONLY_NOT_ISSUED);
	for (uint64_t i = 0; i < 8; i++) /* a pair a second */
		gen_gpu_pair(g, CLOCK, device_time(w->start_ns + i * 1000000000),
			     w->start_ns + i * 1000000000, 500);
	/* of the three kernels of each graph the first was captured in a call, the second is a copy
	 * of it, of the third nothing is known */
	gen_gpu_graph_node(g, &(struct msr_gpu_graph_node){.node = 1,
							   .thread = w->thread,
							   .context = w->nodes[w->n_nodes / 2]});
	gen_gpu_graph_node(g, &(struct msr_gpu_graph_node){.node = 2, .original = 1});
	job->next_id = 1;
}

/* Asks for an operation and does it. Returns how long it took. */
static uint64_t operate(struct gen *g, struct gen_gpu_job *job, const struct gen_gpu_work *w,
			uint64_t now, enum msr_gpu_kind kind)
{
	uint32_t node = w->nodes[pick(w->random, w->n_nodes < 12 ? w->n_nodes : 12)],
		 shape = pick(w->random, 6), queue = pick(w->random, 4) == 0;
	uint64_t id = job->next_id++, start = now + 5000 + (queue ? pick(w->random, 40000) : 0),
		 length = 3000 + pick(w->random, 20000);
	struct gen_gpu_op op = {.id = id,
				.kind = kind,
				.queue = job->queues[queue],
				.has_waits = pick(w->random, 2),
				.queued_before_ns = 3000,
				.submitted_before_ns = 1000};
	gen_gpu_launch(g, w->thread, pick(w->random, 40) ? node : 0, id, kind, now);
	bool on_cpu = kind == MSR_GPU_SYNC || kind == MSR_GPU_ALLOC || kind == MSR_GPU_FREE;
	op.start_ns = on_cpu ? now + 100 : device_time(start);
	op.end_ns = op.start_ns + length;
	op.amount = kind == MSR_GPU_KERNEL ? 0
		    : kind == MSR_GPU_SYNC || kind == MSR_GPU_MARKER
			    ? 0
			    : 4096 + pick(w->random, 65536);
	op.detail = kind == MSR_GPU_COPY                               ? 1 + pick(w->random, 3)
		    : kind == MSR_GPU_SYNC                             ? MSR_GPU_SYNC_QUEUE
		    : kind == MSR_GPU_KERNEL || kind == MSR_GPU_MARKER ? 0
								       : 1;
	op.shape = kind == MSR_GPU_KERNEL ? job->shapes[shape] : 0;
	if (on_cpu)
		op.queue = 0;
	if (w->losses && pick(w->random, 50) == 0)
		gen_gpu_lost(g, id, kind,
			     pick(w->random, 2) ? MSR_GPU_LOSS_FAILED : MSR_GPU_LOSS_NEVER_DONE);
	else
		gen_gpu_op(g, &op);
	if (kind == MSR_GPU_KERNEL && pick(w->random, 16) == 0) {
		struct msr_gpu_pc s = {pick(w->random, KERNEL_BYTES / 16) * 16,
				       id,
				       1 + pick(w->random, 20),
				       job->functions[shape % 4],
				       1 + (uint16_t)pick(w->random, 2),
				       0};
		gen_gpu_pc(g, &s);
		job->n_sampled += s.count;
		gen_gpu_value(g, &(struct msr_gpu_value){id, pick(w->random, 100000), job->counter,
							 job->queues[queue]});
	}
	return length + 10000;
}

/* One launch, several operations. */
static uint64_t operate_graph(struct gen *g, struct gen_gpu_job *job, const struct gen_gpu_work *w,
			      uint64_t now)
{
	uint64_t id = job->next_id++;
	gen_gpu_launch(g, w->thread, w->nodes[pick(w->random, w->n_nodes)], id, MSR_GPU_GRAPH, now);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t start = device_time(now + 6000 + i * 8000);
		gen_gpu_op(g, &(struct gen_gpu_op){.id = id,
						   .kind = MSR_GPU_KERNEL,
						   .start_ns = start,
						   .end_ns = start + 7000,
						   .amount = i + 1,
						   .queue = job->queues[0],
						   .shape = job->shapes[i]});
	}
	return 40000;
}

/* Samples that know no launch. */
static void sample(struct gen *g, struct gen_gpu_job *job, const struct gen_gpu_work *w)
{
	for (uint32_t i = 0; i < 24; i++) {
		struct msr_gpu_pc s = {pick(w->random, KERNEL_BYTES / 16) * 16,
				       0,
				       1 + pick(w->random, 1000),
				       job->functions[i % 4],
				       1 + (uint16_t)pick(w->random, 3),
				       0};
		gen_gpu_pc(g, &s);
		job->n_sampled += s.stall == 3 ? 0 : s.count;
	}
}

/* Launches that the driver refused: recorded, and summed up. */
static void refuse(struct gen *g, struct gen_gpu_job *job, const struct gen_gpu_work *w,
		   uint64_t now)
{
	gen_gpu_launch(g, w->thread, w->nodes[0], job->next_id, MSR_GPU_KERNEL, now);
	gen_gpu_refused(g, job->next_id++, MSR_GPU_KERNEL, 719);
	gen_gpu_aggregate(g, 0, &(struct msr_gpu_aggregate){.thread = w->thread,
							    .node = w->nodes[0],
							    .kind = MSR_GPU_COPY,
							    .n_launches = 3,
							    .n_lost = {1}});
	gen_gpu_aggregate(g, 0, &(struct msr_gpu_aggregate){.thread = w->thread,
							    .node = w->nodes[0],
							    .kind = MSR_GPU_COPY,
							    .detail = 1,
							    .n_lost = {2}});
}

void gen_gpu_work(struct gen *g, struct gen_gpu_job *job, const struct gen_gpu_work *w)
{
	static const enum msr_gpu_kind kinds[] = {MSR_GPU_KERNEL, MSR_GPU_KERNEL, MSR_GPU_KERNEL,
						  MSR_GPU_KERNEL, MSR_GPU_COPY,   MSR_GPU_COPY,
						  MSR_GPU_SET,    MSR_GPU_ALLOC,  MSR_GPU_FREE,
						  MSR_GPU_SYNC,   MSR_GPU_MARKER};
	uint64_t now = w->start_ns + 1000;
	if (w->first)
		define(g, job, w);
	for (uint32_t i = 0; i < w->n_ops; i++)
		now += pick(w->random, 20) == 0
			       ? operate_graph(g, job, w, now)
			       : operate(g, job, w, now,
					 kinds[pick(w->random, sizeof kinds / sizeof *kinds)]);
	if (w->first)
		sample(g, job, w);
	gen_gpu_range(g, &(struct msr_gpu_pc_range){.start_ns = w->start_ns,
						    .end_ns = w->start_ns + 1000000,
						    .total = job->n_sampled + 17,
						    .recorded = job->n_sampled,
						    .dropped = 10,
						    .outside = 7,
						    .period = 4096,
						    .context = job->context});
	job->n_sampled = 0;
	if (w->losses) {
		gen_gpu_launch_lost(g, 0, MSR_GPU_KERNEL, MSR_GPU_LOSS_NO_SPACE);
		gen_gpu_launch(g, UINT32_MAX, 0, job->next_id, MSR_GPU_COPY, now);
		gen_gpu_op(g, &(struct gen_gpu_op){.id = job->next_id++,
						   .kind = MSR_GPU_COPY,
						   .start_ns = device_time(now),
						   .end_ns = device_time(now) + 1000,
						   .amount = 64,
						   .queue = job->queues[0]});
	}
	if (w->losses)
		refuse(g, job, w, now);
	struct msr_gpu_aggregate sum = {.thread = w->thread,
					.node = w->nodes[0],
					.queue = job->queues[0],
					.shape = job->shapes[1],
					.kind = MSR_GPU_KERNEL,
					.n_launches = 5,
					.n_ops = 5,
					.busy_ns = 50000};
	gen_gpu_aggregate(g, 0, &sum);
	for (unsigned i = 0; w->killed && i < 2; i++)
		gen_gpu_launch(g, w->thread, w->nodes[0], job->next_id++, MSR_GPU_KERNEL, now);
}

/* Three of the four kernels have lines; each has a loop's worth of an inlined function in its
 * second half. */
void gen_gpu_structure(const char *directory)
{
	uint8_t id[16];
	for (unsigned i = 0; i < 16; i++)
		id[i] = (uint8_t)(code_hash[i / 8] >> (56 - 8 * (i % 8)));
	struct gen_structure *s = gen_structure_new(
		"/run/gpubins/0123456789abcdeffedcba9876543210.gpubin", id, sizeof id);
	uint32_t file = gen_structure_file(s, "/src/synthetic/kernels.cl"),
		 fma = gen_structure_definition(s, "fma_of", file, 3);
	for (uint32_t k = 0; k < 3; k++) {
		uint64_t entry = 0x1000 + k * UINT64_C(0x1000);
		uint32_t line = 10 + k * 20,
			 function = gen_structure_function(
				 s, gen_structure_definition(s, kernels[k], file, line), entry);
		for (uint32_t l = 0; l < KERNEL_BYTES / LINE_BYTES / 2; l++)
			gen_structure_interval(s, entry + l * LINE_BYTES, function, file,
					       line + 1 + l);
		uint32_t inlined = gen_structure_inline(s, function, fma, file, line + 9,
							entry + KERNEL_BYTES / 2);
		gen_structure_interval(s, entry + KERNEL_BYTES / 2, inlined, file, 4);
		gen_structure_interval(s, entry + KERNEL_BYTES, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	}
	free(gen_structure_close(s, directory));
}
