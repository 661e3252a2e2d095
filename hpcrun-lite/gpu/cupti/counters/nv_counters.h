/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware counters of kernels (gpu=nvidia,counters=...), by CUPTI's range profiler. In each
 * context with launches CUPTI counts every kernel by itself, one kernel at a time. It numbers them
 * in the order in which they are launched, so launches are let through one by one
 * (doc/counters.md). Without counters all functions do nothing.
 *
 * Any thread, not in signal handlers; may change errno. Tests: tests/unit/cupti/test_counters.c,
 * tests/cli/gpu/counters.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTERS_H
#define HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTERS_H

#include "hpcrun-lite/gpu/cupti/nv.h"

/* CUPTI is subscribed to. A note says why nothing is counted. */
void nv_counters_start(void);
/* Counters are on, and calls must be seen from enter to leave. */
bool nv_counters_are_on(void);
/*
 * Around each call of the program that may launch a kernel or a graph. Waits for the others'. id:
 * of the operation.
 */
void nv_counters_enter(CUcontext context, uint64_t id, bool is_graph);
/* ran: something was launched on the device. */
void nv_counters_leave(bool ran);
/*
 * A kernel has a record without times. If CUPTI replayed it, takes the record, to deliver it with
 * the time that was counted, and returns true.
 */
bool nv_counters_take_record(uint64_t id, const struct gpu_op *op);
/* A kernel of CUPTI's own, by which ranges end. */
bool nv_counters_is_own(const char *kernel);
/* The calling thread ends; it may have been cancelled inside a launch. */
void nv_counters_thread_ends(void);
/* In the callback, in the thread that destroys the context. */
void nv_counters_context_gone(CUcontext context);
/*
 * A profiler of the program comes: takes out what was counted, and counts no more. The caller does
 * not have the guard. Returns false if a launch still holds the counters at until_ns.
 */
bool nv_counters_give_way(uint64_t until_ns);
/*
 * At the end of the process, under the guard: takes out what was counted. Nothing may run any more,
 * because CUPTI waits for the device.
 */
void nv_counters_end(uint64_t until_ns);

#endif
