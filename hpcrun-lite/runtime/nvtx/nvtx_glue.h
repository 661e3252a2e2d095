/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX in this process: where ranges begin, and their records in the file. While a thread is in a
 * range that it pushed, its samples and launches are at nodes MSR_NVTX + id below their paths. All
 * of it costs nothing until the program calls NVTX. Not signal-safe, except nvtx_glue_enter. Tests:
 * tests/cli/nvtx/nvtx_ranges.sh, tests/cli/nvtx/nvtx_limits.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_NVTX_NVTX_GLUE_H
#define HPCRUN_LITE_RUNTIME_NVTX_NVTX_GLUE_H

#include "hpcrun-lite/runtime/nvtx/nvtx_sums.h"

struct thread;
struct cct;

/* A range or mark of the program. */
struct nvtx_begin {
	uint32_t name, domain; /* ids of names; 0: unknown, the default domain */
	bool has_value;
	double value;
};

/* Returns true if the process was asked for NVTX and is measured. Keeps errno. */
bool nvtx_glue_start(void);

/* The calls of the program. They keep errno. */
void nvtx_glue_push(const struct nvtx_begin *b);
void nvtx_glue_pop(uint32_t domain);
uint64_t nvtx_glue_range_start(const struct nvtx_begin *b);
void nvtx_glue_range_end(uint64_t number);
void nvtx_glue_mark(const struct nvtx_begin *b);

/* The number of the live thread with this kernel id; UINT32_MAX: none. */
uint32_t nvtx_glue_thread_of(uint32_t tid);

/* Returns in *node the node of the current range below it. Signal-safe. */
bool nvtx_glue_enter(const struct nvtx_thread *t, struct cct *tree, uint32_t *node,
		     enum msr_loss *cause);

/*
 * The calling thread ends, or it ends the process. Ranges that are open in other threads get no
 * records then: their stacks may change meanwhile.
 */
void nvtx_glue_close(struct nvtx_thread *t);
/* In a forked child, after store_open. */
void nvtx_glue_forked(void);

#endif
