/* SPDX-License-Identifier: BSD-3-Clause */
/* See gen_nccl.h. */
#include "tests/gen/gen_nccl.h"

#include "tests/gen/gen_extent.h"
#include "tests/gen/gen_gpu.h"
#include "tests/gen/gen_structure.h"

#include <stdio.h>
#include <stdlib.h>

enum { ID_BYTES = 20, GEMM_CALL = 0x1010, REDUCE_CALL = 0x1020, GATHER_CALL = 0x1030 };
#define US(x) ((uint64_t)(x)*1000)
#define STEP_NS US(10000)
#define START_NS US(1000) /* CLOCK_MONOTONIC when a process starts */
#define REAL_NS UINT64_C(1700000000000000000)

static const uint8_t build_id[ID_BYTES] = {0xcc};

enum { GEMM, ALL_REDUCE, ALL_GATHER, SEND_RECV, N_KERNELS };
static const char *const kernels[N_KERNELS] = {
	"gemm(float*)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"};

/* A GPU of a process. */
struct gpu {
	struct gen *g;
	uint32_t thread, calls[N_KERNELS];
	uint32_t queues[2]; /* kernels and copies, NCCL */
	uint32_t shapes[N_KERNELS];
	uint64_t *next_id;
	uint32_t rank, group;       /* the rank within its group */
	uint32_t late;              /* the rank that mostly is */
	uint32_t n_skipped, n_nccl; /* operations of NCCL */
};

static void operate(struct gpu *gpu, enum msr_gpu_kind kind, unsigned kernel, unsigned queue,
		    uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t id = ++*gpu->next_id;
	if (queue && gpu->n_nccl++ < gpu->n_skipped)
		return;
	gen_gpu_launch(gpu->g, gpu->thread, gpu->calls[kernel], id, kind, start_ns - US(10));
	gen_gpu_op(gpu->g,
		   &(struct gen_gpu_op){.id = id,
					.kind = kind,
					.detail = kind == MSR_GPU_COPY ? MSR_GPU_COPY_H2D : 0,
					.start_ns = start_ns,
					.end_ns = end_ns,
					.amount = kind == MSR_GPU_COPY ? 4096 : 0,
					.queue = gpu->queues[queue],
					.shape = kind == MSR_GPU_KERNEL ? gpu->shapes[kernel] : 0});
}

static void kernel(struct gpu *gpu, unsigned which, unsigned queue, uint64_t start_ns,
		   uint64_t end_ns)
{
	operate(gpu, MSR_GPU_KERNEL, which, queue, start_ns, end_ns);
}

static void step(struct gpu *gpu, uint32_t k, bool is_swapped)
{
	const uint64_t t = START_NS + k * STEP_NS + gpu->group * STEP_NS / 2;
	const uint32_t late = k % 4 == 3 ? 0 : gpu->late;
	const unsigned first = is_swapped ? ALL_GATHER : ALL_REDUCE;
	kernel(gpu, GEMM, 0, t + US(20), t + US(4000));
	kernel(gpu, first, 1, t + US(gpu->rank == late ? 4000 : 3000), t + US(6000));
	kernel(gpu, is_swapped ? ALL_REDUCE : ALL_GATHER, 1, t + US(7000), t + US(8000));
	kernel(gpu, SEND_RECV, 1, t + US(8000), t + US(9000));
	operate(gpu, MSR_GPU_COPY, GEMM, 0, t + US(8800), t + US(9500));
}

static void add_calls(struct gpu *gpu, uint16_t module)
{
	const uint32_t main_ =
		gen_child(gpu->g, gpu->thread, gen_entry(gpu->g, gpu->thread, MSR_ENTRY_MAIN),
			  msr_addr_make(module, 0x1008, false));
	gpu->calls[GEMM] =
		gen_child(gpu->g, gpu->thread, main_, msr_addr_make(module, GEMM_CALL, false));
	gpu->calls[ALL_REDUCE] =
		gen_child(gpu->g, gpu->thread, main_, msr_addr_make(module, REDUCE_CALL, false));
	gpu->calls[ALL_GATHER] = gpu->calls[SEND_RECV] =
		gen_child(gpu->g, gpu->thread, main_, msr_addr_make(module, GATHER_CALL, false));
}

static void add_gpu(struct gpu *gpu, uint32_t rank, uint32_t ordinal, bool none)
{
	struct gen *g = gpu->g;
	struct msr_gpu_def_device device = {
		.type = MSR_GPU_DEVICE_GPU, .ordinal = ordinal, .uuid = {(uint8_t)(rank + 1)}};
	const uint64_t hash[2] = {1, 2};
	const uint32_t d = gen_gpu_device(g, "GPU", "1", device),
		       c = gen_gpu_context(g, d, ordinal);
	for (uint32_t q = 0; q < 2; q++)
		gpu->queues[q] = gen_gpu_queue(
			g, "", (struct msr_gpu_def_queue){.context = c, .device = d, .ordinal = q});
	const uint32_t code = gen_gpu_code(g, "", "", hash, MSR_GPU_CODE_ELF);
	for (unsigned i = 0; i < N_KERNELS; i++)
		gpu->shapes[i] = gen_gpu_shape(
			g, (struct msr_gpu_shape){.function = gen_gpu_function(
							  g, code, none ? "mine" : kernels[i], ""),
						  .grid = {16, 1, 1},
						  .block = {512, 1, 1}});
}

static struct gen *open_process(const char *directory, const struct gen_nccl *p, uint32_t rank)
{
	const uint32_t host = p->n_hosts ? rank % p->n_hosts : 0;
	char name[16];
	snprintf(name, sizeof name, "node%u", host);
	struct gen *g = gen_open(
		directory, &(struct gen_process){.host = name,
						 .pid = 100 + rank,
						 .rank = p->in_one_process ? -1 : (int32_t)rank,
						 .n_ranks = (int32_t)p->n_ranks,
						 .start_mono_ns = START_NS,
						 .start_real_ns = REAL_NS + host * p->clock_ns});
	gen_header(g)->host_id = host + 1;
	gen_info(g, "executable", "/opt/bin/train");
	gen_gpu_tally(g, 0, "nvidia", "injected");
	return g;
}

static void run_gpu(struct gpu *gpu, const struct gen_nccl *p, uint32_t rank)
{
	const bool is_last = rank + 1 == p->n_ranks;
	gpu->rank = p->n_groups ? rank / p->n_groups : rank;
	gpu->group = p->n_groups ? rank % p->n_groups : 0;
	gpu->late = p->late ? p->late : 1;
	gpu->n_skipped = is_last ? p->cut_first : 0;
	for (uint32_t k = 0; k < p->n_steps - (is_last ? p->cut_steps : 0); k++)
		step(gpu, k, p->other_order && is_last);
}

static void put_samples(struct gpu *gpu, const struct gen_nccl *p, uint32_t rank)
{
	const uint64_t n = p->n_samples * (rank == 1 ? 2 : 1);
	if (n)
		gen_weight(gpu->g, gpu->thread, gpu->calls[GEMM],
			   gen_metric(gpu->g, "CPUTIME", MSR_UNIT_NS, US(1000), MSR_SOURCE_PERF), n,
			   n * US(1000));
}

static void put_structure(const char *directory)
{
	struct gen_structure *s = gen_structure_new("/opt/bin/train", build_id, ID_BYTES);
	const uint32_t file = gen_structure_file(s, "/src/train.c");
	const uint32_t main_ =
		gen_structure_function(s, gen_structure_definition(s, "main", file, 5), 0x1000);
	const uint32_t step_ =
		gen_structure_function(s, gen_structure_definition(s, "step", file, 9), 0x1010);
	gen_structure_interval(s, 0x1000, main_, file, 6);
	gen_structure_interval(s, GEMM_CALL, step_, file, 10);
	gen_structure_interval(s, REDUCE_CALL, step_, file, 20);
	gen_structure_interval(s, GATHER_CALL, step_, file, 30);
	gen_structure_interval(s, 0x1040, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

void gen_nccl_job(const char *directory, const struct gen_nccl *p)
{
	struct gen *g = NULL;
	uint16_t module = 0;
	uint32_t thread = 0;
	uint64_t next_id = 0;
	for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
		if (!g) {
			next_id = 0;
			g = open_process(directory, p, rank);
			module = gen_module(g, "/opt/bin/train", build_id, ID_BYTES,
					    MSR_MODULE_MAIN);
			thread = gen_thread(g, "train");
		}
		struct gpu gpu = {.g = g, .thread = thread, .next_id = &next_id};
		add_calls(&gpu, module);
		add_gpu(&gpu, rank, p->in_one_process ? rank : 0, p->none);
		run_gpu(&gpu, p, rank);
		put_samples(&gpu, p, rank);
		if (p->in_one_process && rank + 1 < p->n_ranks)
			continue;
		gen_moment(g, START_NS + p->n_steps * STEP_NS - 1000);
		free(gen_close(g, MSR_EXIT_RETURN, 0));
		g = NULL;
	}
	put_structure(directory);
}
