/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects the GPU core to the process: call paths of launches, threads, the end. Costs nothing in
 * a process that loads no back end. Not signal-safe. Test: tests/cli/gpu/gpu_core.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_GPU_GLUE_H
#define HPCRUN_LITE_RUNTIME_GPU_GLUE_H

#include "hpcrun-lite/gpu/gpu.h"

#include <stdbool.h>
#include <stdint.h>

/* Call at the start of a measured process, and in a forked child after store_open. */
void gpu_glue_start(void);
void gpu_glue_forked(void);

/*
 * The calling thread is inside code of a back end: a thread that it creates now does not belong to
 * the program.
 */
bool gpu_glue_hides_threads(void);

/* The calling thread, which was measured, ends. Back ends free what they keep for it. */
void gpu_glue_thread_ends(void);

/*
 * The process ends: back ends deliver what they have and wait for a limited time. Does nothing if
 * they already did, or in a signal handler. A thread that is not measured cannot detect a handler;
 * there `from_exit` decides. `may_return`: an exec, which may fail, so they are called again later.
 */
void gpu_glue_at_end(bool from_exit, bool may_return);

/*
 * Measurement has stopped, or is about to start: back ends switch off and on whatever makes
 * launches slower. Returns false in a signal handler and in a thread that is not measured, which
 * cannot detect a handler.
 */
bool gpu_glue_switch(bool on);

/* A message of a back end for the user. */
void gpu_glue_note(const char *text);

#endif
