/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX in this process: where ranges begin, and their records in the file. While a thread is in a
 * range that it pushed, its samples and launches are at nodes MSR_NVTX + id below their paths. It
 * costs nothing until the program calls NVTX. Not signal-safe. Tests:
 * tests/cli/nvtx/nvtx_ranges.sh, tests/cli/nvtx/nvtx_limits.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_NVTX_NVTX_GLUE_H
#define HPCRUN_LITE_RUNTIME_NVTX_NVTX_GLUE_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* A range or mark of the program. */
struct nvtx_begin {
	uint32_t name, domain; /* ids of names; 0: unknown, the default domain */
	bool has_value;
	double value;
};

/* Returns true if the user asked for NVTX and the process is measured. Keeps errno. */
bool nvtx_glue_start(void);

/* The calls of the program. They keep errno. */
void nvtx_glue_push(const struct nvtx_begin *b);
void nvtx_glue_pop(uint32_t domain);
uint64_t nvtx_glue_range_start(const struct nvtx_begin *b);
void nvtx_glue_range_end(uint64_t number);
void nvtx_glue_mark(const struct nvtx_begin *b);

/* Returns the number of the live thread with this kernel id; UINT32_MAX: none. */
uint32_t nvtx_glue_thread_of(uint32_t tid);

/* A row of runtime/life/parts.h. */
void nvtx_glue_forked(void);
void nvtx_glue_thread_reset(struct thread *t);
void nvtx_glue_thread_ends(struct thread *t);
void nvtx_glue_trim(struct thread *self, enum msr_exit_kind kind);

#endif
