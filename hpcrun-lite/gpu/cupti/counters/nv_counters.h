/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware counters of kernels (gpu=nvidia,counters=...), from CUPTI's range profiler. CUPTI runs
 * one kernel at a time and counts each by itself, in every context that launches. It numbers
 * kernels in the order of their launches, so we let launches through one by one (doc/counters.md).
 * Without counters all functions do nothing.
 *
 * Any thread, not in signal handlers; may change errno. Tests: tests/unit/cupti/test_counters.c,
 * tests/cli/gpu/counters.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTERS_H
#define HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTERS_H

#include "hpcrun-lite/gpu/cupti/nv.h"

/* Call when we have subscribed to CUPTI. If nothing can be counted, a note says why. */
void nv_counters_start(void);
/* Returns true if counters are on. Calls that launch must then use enter and leave. */
bool nv_counters_are_on(void);
/*
 * Call around each call of the program that may launch a kernel or a graph. Waits up to 2 s for
 * other threads' launches. `id` is the operation's.
 */
void nv_counters_enter(CUcontext context, uint64_t id, bool is_graph);
/* `ran`: the call launched something on the device. */
void nv_counters_leave(bool ran);
/*
 * Call for a kernel's record without times. If CUPTI replayed the kernel, takes the record, to
 * deliver it with the counted duration, and returns true.
 */
bool nv_counters_take_record(uint64_t id, const struct gpu_op *op);
/* Returns true for CUPTI's own kernel, which ends ranges. */
bool nv_counters_is_own(const char *kernel);
/* Call when a thread ends; it may have been cancelled inside a launch. */
void nv_counters_thread_ends(void);
/* Call in the callback, in the thread that destroys the context. */
void nv_counters_context_gone(CUcontext context);
/*
 * Call when a profiler of the program comes: takes out what was counted, and ends counting. The
 * caller does not hold the guard. Returns false if a launch still holds the counters at until_ns.
 */
bool nv_counters_give_way(uint64_t until_ns);
/*
 * At the end of the process, under the guard: takes out what was counted. The device must be idle,
 * because CUPTI waits for it.
 */
void nv_counters_end(uint64_t until_ns);

#endif
