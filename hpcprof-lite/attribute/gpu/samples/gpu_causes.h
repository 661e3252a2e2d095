/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the instructions that a waiting instruction waits for, and how likely each of them is.
 * The structure file lists the candidates (doc/dependencies.md). The stall reason of the sample
 * decides which candidates count. Candidates whose result the instruction reads come first.
 *
 * The weights follow GPA (Zhou et al., "GPA: A GPU Performance Advisor Based on Instruction
 * Sampling", CGO 2021). Causes that ran more often weigh more. So do nearer causes, because the
 * load that was issued last is most likely still in flight. At a barrier, warps on the fastest path
 * cause no wait. Other paths weigh the extra time that they take: cycles times iterations for each
 * warp that passes. Test: tests/unit/prof_gpu/test_gpu_blame.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_CAUSES_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_CAUSES_H

#include "common/base/vec.h"
#include "common/format/structure.h"
#include "hpcprof-lite/attribute/gpu/metrics/gpu_stalls.h"

struct gpu_cause {
	uint64_t link_addr, weight;
	enum structure_wait_kind kind;
	enum structure_operation operation;
	bool is_carried, is_chained;
	/*
	 * The structure lists no fixed latency; the latency is that of the preceding instruction.
	 */
	bool is_before;
};
typedef VEC(struct gpu_cause) gpu_causes;

/*
 * Fills `causes` with the causes for the instruction at `link_addr`; there may be none.
 * executions(arg, addr) returns a number in proportion to how often an instruction ran, 0 if
 * unknown. False if memory is short.
 */
bool gpu_causes_find(gpu_causes *causes, const struct structure *s, uint64_t link_addr,
		     enum gpu_dependency d,
		     uint64_t (*executions)(const void *arg, uint64_t link_addr), const void *arg);

#endif
