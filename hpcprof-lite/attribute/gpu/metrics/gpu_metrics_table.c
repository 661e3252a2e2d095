/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics that every measurement of GPUs may have. Names and units are HPCToolkit's for metrics
 * that it has. Test: tests/unit/prof_gpu/test_gpu_join.c.
 */
#include "hpcprof-lite/attribute/gpu/metrics/gpu_metrics_table.h"

#define NO MODEL_NONE

#define TIME(metric, role, parent, name, description) \
	[metric] = {name, MODEL_SECONDS, description, MODEL_METRIC_GPU_TIME, MODEL_ROLE_##role, \
		    parent, NO}
#define COUNT(metric, role, name, description) \
	[metric] = {name, MODEL_COUNT, description, MODEL_METRIC_GPU_COUNT, MODEL_ROLE_##role, \
		    NO, NO}
#define BYTES(metric, role, name, description) \
	[metric] = {name, MODEL_BYTES, description, MODEL_METRIC_GPU_COUNT, MODEL_ROLE_##role, \
		    NO, NO}
/* A mean is shown as a quotient: the sum over launches divided by `divisor`. */
#define MEAN(metric, divisor, unit, name, description) \
	[metric] = {name, unit, description, MODEL_METRIC_GPU_MEAN, MODEL_ROLE_NONE, NO, divisor}
#define SAMPLES(metric, role, parent, name, description) \
	[metric] = {name, MODEL_COUNT, description, MODEL_METRIC_GPU_SAMPLES, MODEL_ROLE_##role, \
		    parent, NO}
#define BLAMED_FOR(what) (GPU_BLAMED_FOR + GPU_DEPENDS_ON_##what - GPU_DEPENDS_ON_MEMORY)

const struct gpu_metric_row gpu_metrics_table[GPU_N_FIXED] = {
	TIME(GPU_TIME, GPU_TIME, NO, "GPUOP (sec)",
	     "GPU time: kernels, copies and sets (seconds)"),
	TIME(GPU_KERNEL_TIME, KERNEL_TIME, GPU_TIME, "GKER (sec)",
	     "GPU time: kernel execution (seconds)"),
	TIME(GPU_COPY_TIME, COPY_TIME, GPU_TIME, "GXCOPY (sec)",
	     "GPU time: explicit data copy (seconds)"),
	TIME(GPU_SET_TIME, SET_TIME, GPU_TIME, "GMSET (sec)",
	     "GPU time: memory set (seconds)"),
	TIME(GPU_MEMORY_TIME, MEMORY_TIME, NO, "GMEM (sec)",
	     "time of the CPU in memory allocation/deallocation for GPUs (seconds); not part of "
	     "GPUOP"),
	TIME(GPU_SYNC_TIME, SYNC_TIME, NO, "GSYNC (sec)",
	     "time that the CPU waited for GPUs (seconds); not part of GPUOP"),
	TIME(GPU_SYNC_TIME_OF + MSR_GPU_SYNC_UNKNOWN, NONE, GPU_SYNC_TIME, "GSYNC:UNK (sec)",
	     "GPU synchronizations: unknown kind"),
	TIME(GPU_SYNC_TIME_OF + MSR_GPU_SYNC_QUEUE, NONE, GPU_SYNC_TIME, "GSYNC:STR (sec)",
	     "GPU synchronizations: queue (stream)"),
	TIME(GPU_SYNC_TIME_OF + MSR_GPU_SYNC_EVENT, NONE, GPU_SYNC_TIME, "GSYNC:EVT (sec)",
	     "GPU synchronizations: event"),
	TIME(GPU_SYNC_TIME_OF + MSR_GPU_SYNC_DEVICE, NONE, GPU_SYNC_TIME, "GSYNC:CTX (sec)",
	     "GPU synchronizations: context or device"),
	TIME(GPU_SYNC_TIME_OF + MSR_GPU_SYNC_COPY, NONE, GPU_SYNC_TIME, "GSYNC:BLK (sec)",
	     "GPU synchronizations: inside a blocking copy, map or launch"),
	TIME(GPU_SYNC_TIME_OF + MSR_GPU_SYNC_FLUSH, NONE, GPU_SYNC_TIME, "GSYNC:FLU (sec)",
	     "GPU synchronizations: flush of a queue"),

	COUNT(GPU_KERNELS, KERNELS, "GKER:COUNT",
	      "GPU kernel: launch count"),
	MEAN(GPU_BLOCKS, GPU_KERNELS, MODEL_COUNT, "GKER:BLKS",
	     "GPU kernel: block (work-group) count, mean of launches"),
	MEAN(GPU_BLOCK_THREADS, GPU_KERNELS, MODEL_COUNT, "GKER:BLK_THR",
	     "GPU kernel: threads (work-items) of a block, mean of launches"),
	MEAN(GPU_ITEMS, GPU_KERNELS, MODEL_COUNT, "GKER:THR",
	     "GPU kernel: threads (work-items) of a launch, mean of launches"),
	MEAN(GPU_REGISTERS, GPU_KERNELS, MODEL_COUNT, "GKER:THR_REG",
	     "GPU kernel: thread register count, mean of launches"),
	MEAN(GPU_STATIC_SHARED, GPU_KERNELS, MODEL_BYTES, "GKER:STMEM (B)",
	     "GPU kernel: static shared memory of a block, mean of launches (bytes)"),
	MEAN(GPU_DYNAMIC_SHARED, GPU_KERNELS, MODEL_BYTES, "GKER:DYMEM (B)",
	     "GPU kernel: dynamic shared memory of a block, mean of launches (bytes)"),
	MEAN(GPU_BLOCK_SHARED, GPU_KERNELS, MODEL_BYTES, "GKER:BLK_SM (B)",
	     "GPU kernel: block local memory, static and dynamic, mean of launches (bytes)"),
	MEAN(GPU_LOCAL, GPU_KERNELS, MODEL_BYTES, "GKER:LMEM (B)",
	     "GPU kernel: local memory of a thread, mean of launches (bytes)"),
	MEAN(GPU_WARPS, GPU_KERNELS, MODEL_COUNT, "GKER:FGP_ACT",
	     "GPU kernel: fine-grain parallelism, actual: warps that fit on an SM by registers, "
	     "shared memory and blocks, mean of launches"),
	MEAN(GPU_WARPS_MOST, GPU_KERNELS, MODEL_COUNT, "GKER:FGP_MAX",
	     "GPU kernel: fine-grain parallelism, maximum: warps that an SM can hold, mean of "
	     "launches"),
	MEAN(GPU_OCCUPANCY, GPU_WARPS_MOST, MODEL_PERCENT, "GKER:OCC_THR",
	     "GPU kernel: theoretical occupancy (FGP_ACT / FGP_MAX, per cent)"),

	COUNT(GPU_COPIES, COPIES, "GXCOPY:COUNT",
	      "GPU explicit memory copy: count"),
	BYTES(GPU_COPY_BYTES + MSR_GPU_COPY_UNKNOWN, COPY_BYTES, "GXCOPY:UNK (B)",
	      "GPU explicit memory copy: unknown kind (bytes)"),
	BYTES(GPU_COPY_BYTES + MSR_GPU_COPY_H2D, COPY_BYTES, "GXCOPY:H2D (B)",
	      "GPU explicit memory copy: host to device (bytes)"),
	BYTES(GPU_COPY_BYTES + MSR_GPU_COPY_D2H, COPY_BYTES, "GXCOPY:D2H (B)",
	      "GPU explicit memory copy: device to host (bytes)"),
	BYTES(GPU_COPY_BYTES + MSR_GPU_COPY_D2D, COPY_BYTES, "GXCOPY:D2D (B)",
	      "GPU explicit memory copy: device to device (bytes)"),
	BYTES(GPU_COPY_BYTES + MSR_GPU_COPY_H2H, COPY_BYTES, "GXCOPY:H2H (B)",
	      "GPU explicit memory copy: host to host (bytes)"),
	BYTES(GPU_COPY_BYTES + MSR_GPU_COPY_P2P, COPY_BYTES, "GXCOPY:P2P (B)",
	      "GPU explicit memory copy: peer to peer (bytes)"),
	BYTES(GPU_COPY_BYTES + MSR_GPU_COPY_MAP, COPY_BYTES, "GXCOPY:MAP (B)",
	      "GPU explicit memory copy: mapped for the host (bytes of the range)"),
	BYTES(GPU_COPY_BYTES + MSR_GPU_COPY_UNMAP, COPY_BYTES, "GXCOPY:UNMAP (B)",
	      "GPU explicit memory copy: given back by the host (bytes of the range)"),
	BYTES(GPU_COPY_BYTES + MSR_GPU_COPY_MIGRATE, COPY_BYTES, "GXCOPY:MIG (B)",
	      "GPU explicit memory copy: migrated on request (bytes)"),

	COUNT(GPU_SETS, SETS, "GMSET:COUNT",
	      "GPU memory set: count"),
	BYTES(GPU_SET_BYTES + MSR_GPU_MEMORY_UNKNOWN, SET_BYTES, "GMSET:UNK (B)",
	      "GPU memory set: unknown memory kind (bytes)"),
	BYTES(GPU_SET_BYTES + MSR_GPU_MEMORY_DEVICE, SET_BYTES, "GMSET:DEV (B)",
	      "GPU memory set: device memory (bytes)"),
	BYTES(GPU_SET_BYTES + MSR_GPU_MEMORY_HOST, SET_BYTES, "GMSET:PIN (B)",
	      "GPU memory set: pinned memory (bytes)"),
	BYTES(GPU_SET_BYTES + MSR_GPU_MEMORY_MANAGED, SET_BYTES, "GMSET:MAN (B)",
	      "GPU memory set: managed memory (bytes)"),
	BYTES(GPU_SET_BYTES + MSR_GPU_MEMORY_IMAGE, SET_BYTES, "GMSET:ARY (B)",
	      "GPU memory set: array memory, images (bytes)"),

	COUNT(GPU_ALLOCS, MEMORY_CALLS, "GMEM:COUNT",
	      "GPU memory alloc/free: count"),
	BYTES(GPU_ALLOC_BYTES + MSR_GPU_MEMORY_UNKNOWN, NONE, "GMEM:UNK (B)",
	      "GPU memory alloc/free: unknown memory kind (bytes)"),
	BYTES(GPU_ALLOC_BYTES + MSR_GPU_MEMORY_DEVICE, NONE, "GMEM:DEV (B)",
	      "GPU memory alloc/free: device memory (bytes)"),
	BYTES(GPU_ALLOC_BYTES + MSR_GPU_MEMORY_HOST, NONE, "GMEM:PIN (B)",
	      "GPU memory alloc/free: pinned memory (bytes)"),
	BYTES(GPU_ALLOC_BYTES + MSR_GPU_MEMORY_MANAGED, NONE, "GMEM:MAN (B)",
	      "GPU memory alloc/free: managed memory (bytes)"),
	BYTES(GPU_ALLOC_BYTES + MSR_GPU_MEMORY_IMAGE, NONE, "GMEM:ARY (B)",
	      "GPU memory alloc/free: array memory, images (bytes)"),

	BYTES(GPU_LIVE_PEAK, GPU_LIVE_PEAK, "GMEM:PEAK (B)",
	      "GPU memory: bytes that were live when their device had the most"),
	BYTES(GPU_LIVE_END, GPU_LIVE_END, "GMEM:END (B)",
	      "GPU memory: bytes that were never freed"),

	COUNT(GPU_SYNCS, SYNCS, "GSYNC:COUNT",
	      "GPU synchronizations: count"),
	COUNT(GPU_MARKERS, NONE, "GMARK:COUNT",
	      "GPU markers and barriers: count"),
	COUNT(GPU_REFUSED, REFUSED, "GREFUSED:COUNT",
	      "GPU operations that the driver refused, which never ran: count"),

	TIME(GPU_COUNTED_TIME, COUNTED_TIME, NO, "GCTR (sec)",
	     "GPU time: kernels whose counters were read, one at a time (seconds); part of GKER"),
	COUNT(GPU_COUNTED, COUNTED, "GCTR:COUNT",
	      "GPU kernel: launches whose counters were read"),

	SAMPLES(GPU_SAMPLES, SAMPLES, NO, "GINS",
		"GPU PC samples"),
	SAMPLES(GPU_STALLED, NONE, GPU_SAMPLES, "GINS:STL_ANY",
		"GPU instruction stalls: any"),
	SAMPLES(GPU_APPORTIONED, APPORTIONED, GPU_SAMPLES, "GINS:APPORTIONED",
		"GPU PC samples that were shared out over the contexts that launched the kernel, "
		"or the calls that lead to the function; the others are exact"),

	SAMPLES(GPU_BLAMED, BLAMED, NO, "GINS:BLAME_ANY",
		"GPU PC samples of warps that waited for this place, wherever they waited; derived "
		"from the dependencies in the code, not measured"),
	SAMPLES(BLAMED_FOR(MEMORY), BLAMED_FOR, GPU_BLAMED, "GINS:BLAME_GMEM",
		"samples of GINS:STL_GMEM at the loads and stores that were waited for; derived"),
	SAMPLES(BLAMED_FOR(CHIP), BLAMED_FOR, GPU_BLAMED, "GINS:BLAME_SHORT_SCOREBOARD",
		"samples of GINS:STL_SHORT_SCOREBOARD at the instructions that were waited for; "
		"derived"),
	SAMPLES(BLAMED_FOR(ISSUE), BLAMED_FOR, GPU_BLAMED, "GINS:BLAME_IDEP",
		"samples of GINS:STL_IDEP at the instructions that were waited for; derived"),
	SAMPLES(BLAMED_FOR(WARPS), BLAMED_FOR, GPU_BLAMED, "GINS:BLAME_SYNC",
		"samples of GINS:STL_SYNC where the paths into the barrier end; derived"),
	SAMPLES(BLAMED_FOR(FENCE), BLAMED_FOR, GPU_BLAMED, "GINS:BLAME_MEMBAR",
		"samples of GINS:STL_MEMBAR at the fences that were waited for; derived"),
	SAMPLES(GPU_UNBLAMED, UNBLAMED, GPU_STALLED, "GINS:UNBLAMED",
		"GPU PC samples of warps that waited for another instruction or other warps, at "
		"the waiting place, where the code shows no cause"),

	COUNT(GPU_SAMPLED, MEASURED, "GSAMP:TOT",
	      "GPU PC samples: measured, by kernel; dropped ones and those of no code are apart"),
	COUNT(GPU_SAMPLES_DROPPED, NONE, "GSAMP:DRP",
	      "GPU PC samples: dropped"),
	COUNT(GPU_SAMPLES_OUTSIDE, NONE, "GSAMP:OUT",
	      "GPU PC samples: not attributed to any code by the vendor's interface"),
	COUNT(GPU_SAMPLES_EXPECTED, EXPECTED, "GSAMP:EXP",
	      "GPU PC samples: expected, had all SMs been busy while the kernel ran"),
	MEAN(GPU_UTILISATION, GPU_SAMPLES_EXPECTED, MODEL_PERCENT, "GSAMP:UTIL",
	     "GPU utilization computed using PC sampling: part of the SMs that had a warp while "
	     "the kernel ran (TOT / EXP, per cent)"),
};
