/* SPDX-License-Identifier: BSD-3-Clause */
/* What the unit tests of samples inside of GPU kernels share: stall reasons, samples, what the code
 * object holds, a device that promises a rate. */
#ifndef TESTS_UNIT_GPU_SAMPLES_FIXTURE_H
#define TESTS_UNIT_GPU_SAMPLES_FIXTURE_H

#include "tests/unit/prof_gpu/gpu_fixture.h"

/* The structure of the run's code object, to be filled and closed. */
static inline struct gen_structure *run_structure_new(void)
{
	static const uint8_t id[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
				       0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};
	return gen_structure_new("/run/gpubins/x.gpubin", id, sizeof id);
}

/* The kernel "saxpy" at 0x1000: line 11 in the first 0x40 bytes, then an inlined call of fma_of
 * (line 4), then line 12. */
static inline void run_structure(struct run *r)
{
	struct gen_structure *s = run_structure_new();
	uint32_t file = gen_structure_file(s, "/src/kernels.cl"),
		 fma = gen_structure_definition(s, "fma_of", file, 3);
	uint32_t function =
		gen_structure_function(s, gen_structure_definition(s, "saxpy", file, 10), 0x1000);
	gen_structure_interval(s, 0x1000, function, file, 11);
	uint32_t inlined = gen_structure_inline(s, function, fma, file, 11, 0x1040);
	gen_structure_interval(s, 0x1040, inlined, file, 4);
	gen_structure_interval(s, 0x1080, function, file, 12);
	uint32_t other = gen_structure_function(
		s, gen_structure_definition(s, "device_function", file, 40), 0x2000);
	gen_structure_interval(s, 0x2000, other, file, 41);
	gen_structure_interval(s, 0x2100, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, r->directory));
}

static inline void run_stalls(struct run *r)
{
	gen_gpu_stall(r->g, 1, "smsp__pcsamp_warps_issue_stalled_selected", "issued",
		      MSR_GPU_STALL_ISSUED);
	gen_gpu_stall(r->g, 2, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", "memory", 0);
	gen_gpu_stall(r->g, 3, "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
		      "memory", MSR_GPU_STALL_ONLY_NOT_ISSUED);
	gen_gpu_stall(r->g, 4, "warpgroup_arrive", "of another chip", 0);
}

static inline void run_begin_sampled(struct run *r)
{
	run_begin(r);
	run_stalls(r);
}

/* With one launch of "saxpy", at r->call. */
static inline void run_begin_with_kernel(struct run *r)
{
	run_begin_sampled(r);
	run_kernel(r, r->call, 1, 2000, 3000, 6000);
}

static inline void run_pc(struct run *r, uint64_t id, uint64_t offset, uint16_t stall,
			  uint64_t count)
{
	gen_gpu_pc(r->g, &(struct msr_gpu_pc){offset, id, count, r->function, stall, 0});
}

static inline uint32_t run_kernel_at(const struct model *m, uint64_t call_addr)
{
	for (uint32_t c = 1; c < m->n_contexts; c++)
		if (m->contexts[c].kind == MODEL_CONTEXT_INSTRUCTION &&
		    m->contexts[c].link_addr == call_addr)
			return run_find(m, c, "saxpy");
	return MODEL_NONE;
}

/* A device of 10 units at 1,000 MHz: at a period of 100 cycles each busy unit gives one sample in
 * 100 ns. */
static inline void run_on_units(struct run *r)
{
	r->device = gen_gpu_device(r->g, "Device of units", "",
				   (struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_GPU,
							       .n_units = 10,
							       .clock_mhz = 1000,
							       .lanes = 32,
							       .threads_per_unit = 2048,
							       .group_max = 1024,
							       .registers_per_unit = 65536,
							       .shared_bytes_per_unit = 233472,
							       .groups_per_unit = 32});
	gen_gpu_limits(r->g, r->device,
		       (struct msr_gpu_def_device_limits){.compute_major = 9,
							  .registers_per_group = 65536,
							  .reserved_shared_bytes = 1024,
							  .shared_bytes_per_group_optin = 232448});
	r->context = gen_gpu_context(r->g, r->device, 1);
	r->queue = gen_gpu_queue(
		r->g, "queue 1",
		(struct msr_gpu_def_queue){.context = r->context, .device = r->device});
}

static inline void run_range(struct run *r, uint64_t start_ns, uint64_t end_ns, uint64_t recorded,
			     uint32_t flags)
{
	gen_gpu_range(r->g, &(struct msr_gpu_pc_range){.start_ns = start_ns,
						       .end_ns = end_ns,
						       .total = recorded,
						       .recorded = recorded,
						       .period = 100,
						       .context = r->context,
						       .samplers = 10,
						       .flags = flags});
}

#endif
