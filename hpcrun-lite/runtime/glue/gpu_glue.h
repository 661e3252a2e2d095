/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects the GPU core to the process: call paths of launches, threads, the end. Costs nothing in
 * a process that loads no back end. Not signal-safe. Test: tests/cli/gpu/gpu_core.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_GLUE_GPU_GLUE_H
#define HPCRUN_LITE_RUNTIME_GLUE_GPU_GLUE_H

#include "common/format/measurement.h"

#include <stdbool.h>

struct thread;

/*
 * The calling thread is inside code of a back end: a thread that it creates now does not belong to
 * the program.
 */
bool gpu_glue_hides_threads(void);

/*
 * Measurement has stopped, or is about to start: back ends switch off and on whatever makes
 * launches slower. Returns false in a signal handler and in a thread that is not measured, which
 * cannot detect a handler.
 */
bool gpu_glue_switch(bool on);

/* A message of a back end for the user. */
void gpu_glue_note(const char *text);

/*
 * A row of runtime/life/parts.h. At the end of a thread back ends free what they keep for it.
 * Before the end of the process they deliver what they have, for a limited time; not if they
 * already did, or in a signal handler, or in a thread that is not measured, which cannot detect a
 * handler.
 */
void gpu_glue_start(void);
void gpu_glue_forked(void);
void gpu_glue_thread_reset(struct thread *t);
void gpu_glue_thread_ends(struct thread *t);
void gpu_glue_before_end(bool may_return);
bool gpu_glue_finish(void);
void gpu_glue_trim(struct thread *self, enum msr_exit_kind kind);

#endif
