/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of kinds and losses in the GPU part of the measurement file, and checks that its layout
 * does not change; see measurement_gpu.h. No I/O, no allocation. Test:
 * tests/unit/gpu/test_gpu_core.c.
 */
#include "common/format/measurement_gpu.h"

#include <assert.h>

static_assert(sizeof(struct msr_gpu_definition) == 16, "layout");
static_assert(sizeof(struct msr_gpu_def_device) == 80, "layout");
static_assert(offsetof(struct msr_gpu_def_device, memory_bytes) == 40, "layout");
static_assert(sizeof(struct msr_gpu_def_device_rates) == 24, "layout");
static_assert(sizeof(struct msr_gpu_def_context) == 24, "layout");
static_assert(sizeof(struct msr_gpu_def_queue) == 40, "layout");
static_assert(sizeof(struct msr_gpu_def_code) == 56, "layout");
static_assert(sizeof(struct msr_gpu_def_function) == 24, "layout");
static_assert(sizeof(struct msr_gpu_def_stall) == 24, "layout");
static_assert(sizeof(struct msr_gpu_def_counter) == 24, "layout");
static_assert(sizeof(struct msr_gpu_shape) == 88, "layout");
static_assert(sizeof(struct msr_gpu_clock) == 32, "layout");
static_assert(sizeof(struct msr_gpu_launch) == 16, "layout");
static_assert(sizeof(struct msr_gpu_op) == MSR_GPU_OP_LONG, "layout");
static_assert(offsetof(struct msr_gpu_op, queued_before_ns) == MSR_GPU_OP_SHORT, "layout");
static_assert(sizeof(struct msr_gpu_aggregate) == 88, "layout");
static_assert(sizeof(struct msr_gpu_graph_node) == 32, "layout");
static_assert(sizeof(struct msr_gpu_pc) == 32, "layout");
static_assert(sizeof(struct msr_gpu_pc_range) == 72, "layout");
static_assert(sizeof(struct msr_gpu_value) == 24, "layout");
static_assert(sizeof(struct msr_gpu_energy) == 40, "layout");
static_assert(sizeof(struct msr_gpu_tally) == 1104, "layout");
static_assert(MSR_N_GPU_KINDS <= 16 && MSR_N_GPU_LOSSES <= MSR_GPU_LOSS_ROOM,
	      "kinds fit a record, losses their table");

static const struct {
	const char *name, *description;
} loss_table[MSR_N_GPU_LOSSES] = {
	[MSR_GPU_LOSS_NONE] = {"none", "not lost"},
	[MSR_GPU_LOSS_REFUSED] = {"refused",
				  "refused by the run time after it was recorded: nothing ran"},
	[MSR_GPU_LOSS_FAILED] = {"failed", "the device reported an error instead of times"},
	[MSR_GPU_LOSS_NEVER_DONE] = {"never-done",
				     "not complete when the process ended or the queue went away"},
	[MSR_GPU_LOSS_NO_TIMES] = {"no-times", "complete, but without valid times"},
	[MSR_GPU_LOSS_NO_PATH] = {"no-path",
				  "launched by an unmeasured thread, so without a CPU path"},
	[MSR_GPU_LOSS_NO_SPACE] = {"no-space", "the measurement file could not grow"},
	[MSR_GPU_LOSS_NO_MEMORY] = {"no-memory", "no memory for an index"},
	[MSR_GPU_LOSS_PENDING] = {"pending", "too many operations in flight"},
	[MSR_GPU_LOSS_DROPPED] = {"dropped", "dropped by the vendor's tool interface"},
	[MSR_GPU_LOSS_FORK] = {"fork", "unfinished at a fork: in the parent's file"},
	[MSR_GPU_LOSS_UNKNOWN_CALL] = {"unknown-call",
				       "an API call that the back end does not know"},
	[MSR_GPU_LOSS_STOPPED] = {"stopped", "launched after the end of measurement had begun"},
	[MSR_GPU_LOSS_IN_FLIGHT] = {"in-flight",
				    "the process was killed before its end was recorded"},
	[MSR_GPU_LOSS_BUSY] =
		{"busy", "during the recording of another operation, or a lock was held too long"},
	[MSR_GPU_LOSS_YIELDED] = {"yielded", "launched while the program's own profiler was on"},
};

const char *msr_gpu_loss_name(enum msr_gpu_loss l)
{
	return (unsigned)l < MSR_N_GPU_LOSSES ? loss_table[l].name : "unknown";
}

const char *msr_gpu_loss_description(enum msr_gpu_loss l)
{
	return (unsigned)l < MSR_N_GPU_LOSSES ? loss_table[l].description
					      : "a cause this version does not know";
}

bool msr_gpu_loss_takes_op(enum msr_gpu_loss l)
{
	return l != MSR_GPU_LOSS_NONE && l != MSR_GPU_LOSS_NO_PATH;
}

const char *msr_gpu_kind_name(enum msr_gpu_kind k)
{
	static const char *const names[MSR_N_GPU_KINDS] = {
		"none", "kernel", "copy", "set", "alloc", "free", "sync", "marker", "graph"};
	return (unsigned)k < MSR_N_GPU_KINDS ? names[k] : "unknown";
}

const char *msr_gpu_direction_name(enum msr_gpu_direction d)
{
	static const char *const names[MSR_N_GPU_DIRECTIONS] = {
		"unknown", "H2D", "D2H", "D2D", "H2H", "P2P", "map", "unmap", "migrate"};
	return (unsigned)d < MSR_N_GPU_DIRECTIONS ? names[d] : "unknown";
}

const char *msr_gpu_memory_name(enum msr_gpu_memory m)
{
	static const char *const names[MSR_N_GPU_MEMORIES] = {"unknown", "device", "host",
							      "managed", "image"};
	return (unsigned)m < MSR_N_GPU_MEMORIES ? names[m] : "unknown";
}

const char *msr_gpu_sync_name(enum msr_gpu_sync s)
{
	static const char *const names[MSR_N_GPU_SYNCS] = {"unknown", "queue", "event",
							   "device",  "copy",  "flush"};
	return (unsigned)s < MSR_N_GPU_SYNCS ? names[s] : "unknown";
}

const char *msr_gpu_code_suffix(uint32_t kind)
{
	switch (kind) {
	case MSR_GPU_CODE_ELF: return ".gpubin";
	case MSR_GPU_CODE_OPENCL_C: return ".cl";
	case MSR_GPU_CODE_SPIRV: return ".spv";
	case MSR_GPU_CODE_PTX: return ".ptx";
	default: return ".bin";
	}
}
