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
 * True if the calling thread is inside code of a back end. A thread that it creates now does not
 * belong to the program.
 */
bool gpu_glue_hides_threads(void);

/*
 * Call it when measurement has stopped or is about to start: back ends switch off or on what makes
 * launches slower. Returns false in a signal handler, and in a thread that is not measured, where a
 * handler cannot be detected.
 */
bool gpu_glue_switch(bool on);

/* A message of a back end for the user. */
void gpu_glue_note(const char *text);

/*
 * A row of runtime/life/parts.h. At the end of a thread back ends free what they keep for it.
 * Before the end of the process they deliver their data, for a limited time. They do nothing if
 * they have already done so, in a signal handler, and in a thread that is not measured, where a
 * handler cannot be detected.
 */
void gpu_glue_start(void);
void gpu_glue_forked(void);
void gpu_glue_thread_reset(struct thread *t);
void gpu_glue_thread_ends(struct thread *t);
void gpu_glue_before_end(bool may_return);
bool gpu_glue_finish(void);
void gpu_glue_trim(struct thread *self, enum msr_exit_kind kind);

#endif
