/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of this process: samples of allocations in the tree, and a record of each with the time
 * when it was freed. Costs nothing in a process that did not ask for it. Not signal-safe, except
 * memory_glue_thread_reset(). Test: tests/cli/memory/memory_truth.sh.
 */
#ifndef HPCRUN_LITE_MEMORY_MEMORY_GLUE_H
#define HPCRUN_LITE_MEMORY_MEMORY_GLUE_H

#include "hpcrun-lite/memory/memory.h"
#include "hpcrun-lite/source/source.h"

struct thread;

/* For entries.c: the table, or NULL if -e MEMORY was not given or the process is not measured. */
const struct memory_host *memory_glue_host(void);

/* The metric of the samples. The source never expires: the program's calls are the samples. */
extern const struct source_ops source_memory;

/* Rows of runtime/life/parts.h. */
void memory_glue_forked(void);
void memory_glue_thread_reset(struct thread *t);
void memory_glue_thread_ends(struct thread *t);
void memory_glue_trim(struct thread *self, enum msr_exit_kind kind);

#endif
