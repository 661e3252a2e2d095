/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC sampling through cupti_pcsampling.h, as the rest of the back end sees it. One context of a GPU is sampled at a time, by one process of the machine; sampling is enabled when the context
 * is made, before a module is loaded, and without start/stop control (doc/notes/cupti-facts.md A1, A2, A13). Samples are taken out every 100 ms by the thread that asks for records (nv_flush.c).
 *
 * CUPTI's calls that enable and disable wait for running kernels and are not known to bear launches beside them. So a thread that makes them first closes a gate in front of the program's
 * launches (nv_pc_gate.c), and where it may choose the moment, waits until nothing runs; each wait has an end, after which the program goes on and sampling is put off or given up.
 *
 * Unless said otherwise: any thread, never from a signal handler, errno may change. Nothing happens where PC sampling was not asked for. Tests: tests/unit/test_cupti_pc.c, test_cupti_pc_gate.c, tests/cli/cupti_pc.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_PC_NV_PC_H
#define HPCRUN_LITE_GPU_CUPTI_PC_NV_PC_H

#include "hpcrun-lite/gpu/cupti/nv.h"

/* Before CUPTI is asked to call us: its checksum of a cubin becomes our hash of the content. False: CUPTI refuses (said in a note), and nothing is sampled. */
bool nv_pc_start(void);

/* In the callbacks that tell of it, in the thread that makes or destroys the context. */
void nv_pc_context_made(CUcontext context);
void nv_pc_context_gone(CUcontext context);
/* A module was loaded in this thread; `code`: the host's id. */
void nv_pc_code_loaded(const void *image, size_t bytes, uint32_t code);

/* Every 100 ms, under the guard, before records are asked for: serialized launches leave CUPTI's locks to nobody else, so the gate closes first where a window is to end. */
void nv_pc_prepare(void);
/* ... and behind it: takes samples out, brings sampling back after an overflow, begins and ends windows. */
void nv_pc_work(void);
/* At the end of the process or before exec, under the guard, when all records that could be had are there: takes out what is left. `is_idle`: nothing runs any more. */
void nv_pc_end(uint64_t until_ns, bool is_idle);

/* The process ends, and the guard is not to be had: says of each context that its samples since the last range are lost. */
void nv_pc_give_up(void);

/*
 * Measurement is stopped: takes out what there is and disables; the gate is closed, and no call is under way, until nv_pc_gate_open. False: something runs, until then, and sampling goes on. Under the guard.
 */
bool nv_pc_rest(uint64_t until_ns);
/* It is started, and nv.off is as it was before: what was sampled meanwhile is dropped; where something runs until then sampling begins later. Likewise. */
void nv_pc_go_on(uint64_t until_ns);
/* Closes the gate and waits until no thread is inside of a launch. False: not until then, and it is open. The caller's own call counts as none. */
bool nv_pc_gate_close(uint64_t until_ns);
void nv_pc_gate_open(void);

/* Around each call of the program that launches or loads: waits at the gate while it is closed, 2 s at most. Nests. Keeps errno. */
void nv_pc_gate_enter(bool is_launch);
void nv_pc_gate_leave(void);
/* The calling thread ends: it is inside of no call any more. */
void nv_pc_gate_thread_ends(void);
/* The calling thread is one of ours that calls the driver: what it asks for is not the program's. */
bool nv_pc_is_helper(void);

#endif
