/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC sampling through cupti_pcsampling.h, as the rest of the back end sees it.
 *
 * One context of a GPU is sampled at a time, by one process of the machine. Sampling is enabled
 * when the context is made, before a module is loaded, and without start/stop control
 * (doc/notes/cupti-facts.md A1, A2, A13). The thread in nv_flush.c takes samples out every 100 ms.
 *
 * The CUPTI calls that enable and disable sampling wait for running kernels, and may not be safe
 * beside launches. A thread that makes them first closes a gate in front of the program's launches
 * (nv_pc_gate.c) and, if it can choose the moment, waits until the device is idle. Each wait has a
 * time limit. After it the program goes on, and sampling is postponed or given up.
 *
 * Unless it says otherwise, a function may be called in any thread, never in a signal handler, and
 * may change errno. Without PC sampling it does nothing. Tests: tests/unit/cupti/test_cupti_pc.c,
 * tests/unit/cupti/test_cupti_pc_gate.c, tests/cli/gpu/cupti_pc.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_PC_NV_PC_H
#define HPCRUN_LITE_GPU_CUPTI_PC_NV_PC_H

#include "hpcrun-lite/gpu/cupti/nv.h"

/*
 * Call before CUPTI is asked to call us: makes CUPTI use our hash of a cubin's content as its
 * checksum. Returns false if CUPTI refuses; a note says so and nothing is sampled.
 */
bool nv_pc_start(void);

/* Called in CUPTI's callbacks, in the thread that makes or destroys the context. */
void nv_pc_context_made(CUcontext context);
void nv_pc_context_gone(CUcontext context);
/* A module was loaded in this thread. `code` is the host's id. */
void nv_pc_code_loaded(const void *image, size_t bytes, uint32_t code);

/*
 * Every 100 ms, under the guard, before asking for records. If a window is about to end, closes the
 * gate first, because serialized launches let no other thread take CUPTI's locks.
 */
void nv_pc_prepare(void);
/*
 * Every 100 ms, under the guard, after asking for records: takes samples out, restarts sampling
 * after an overflow, begins and ends windows.
 */
void nv_pc_work(void);
/*
 * At the end of the process or before exec, under the guard, after all available records have
 * arrived: takes out the remaining samples. `is_idle`: the device is idle.
 */
void nv_pc_end(uint64_t until_ns, bool is_idle);

/*
 * The process ends and the guard is not available: reports for each context that the samples since
 * its last range are lost.
 */
void nv_pc_give_up(void);

/*
 * Measurement stops, under the guard: takes all samples out and disables sampling. On success the
 * gate is closed and no call is active until nv_pc_gate_open. Returns false if something still runs
 * at until_ns; sampling then goes on.
 */
bool nv_pc_rest(uint64_t until_ns);
/*
 * Under the guard: returns true if measurement is on now, or was on at some time while there was a
 * context.
 */
bool nv_pc_has_begun(void);
/*
 * Measurement starts, under the guard; nv_trace_off still has the old value. Drops the samples
 * since the stop. If something still runs at until_ns, sampling begins later.
 */
void nv_pc_go_on(uint64_t until_ns);
/*
 * A profiler of the program comes, under the guard: takes all samples out and ends sampling for
 * good. Returns false if something still runs at until_ns; sampling then goes on.
 */
bool nv_pc_leave(uint64_t until_ns);
/* Once, before callbacks are enabled. */
void nv_pc_gate_start(void);
/*
 * Closes the gate and waits until no thread is inside a launch; the caller's own call does not
 * count. Returns false, with the gate open, if that takes longer than until_ns.
 */
bool nv_pc_gate_close(uint64_t until_ns);
void nv_pc_gate_open(void);

/*
 * Call around each call of the program that launches or loads. Waits while the gate is closed, at
 * most 2 s. Nests. Keeps errno.
 */
void nv_pc_gate_enter(bool is_launch);
void nv_pc_gate_leave(void);
/* The calling thread ends, so it is no longer in any call. */
void nv_pc_gate_thread_ends(void);
/* Returns true in our own threads that call the driver. Their calls are not the program's. */
bool nv_pc_is_helper(void);

#endif
