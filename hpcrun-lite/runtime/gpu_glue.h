/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binds the GPU core to the process: the exported symbol that back ends look for, call paths of launches, the end. Nothing here costs a process that does not
 * load a back end. Not signal-safe. Tests: tests/cli/gpu_core.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_GPU_GLUE_H
#define HPCRUN_LITE_RUNTIME_GPU_GLUE_H

#include "common/format/measurement_gpu.h"
#include "hpcrun-lite/gpu/gpu.h"

#include <stdbool.h>
#include <stdint.h>

/* At the start of a measured process; in the child of fork, after store_open. */
void gpu_glue_start(void);
void gpu_glue_forked(void);

/* The calling thread is inside a back end's own code: a thread that it makes now is no thread of the program. */
bool gpu_glue_hides_threads(void);

/* The calling thread, which was measured, ends: back ends forget what they keep of it. */
void gpu_glue_thread_ends(void);

/*
 * The process ends: back ends deliver what they have, waiting a bounded time, unless they did already or this is a signal handler. In a thread that is not measured that cannot be
 * found out; then `from_exit` decides. `may_return`: an exec, which may fail, so that they are asked again.
 */
void gpu_glue_at_end(bool from_exit, bool may_return);

/*
 * Measurement was stopped (after it), or is about to be started: back ends switch off and on what it costs. False: not in a signal handler, nor in a thread that is not measured, where that cannot be
 * found out.
 */
bool gpu_glue_switch(bool on);

/* See gpu.h. */
gpu_host_fn hpcrun_lite_gpu_host;

/* Sums over back ends, for the report. */
struct gpu_sums {
	uint64_t launched, recorded, aggregated, n_ops, handler_ns, record_bytes, n_unknown_calls, n_bad_order, n_lost_definitions, n_lost_contents, n_lost_pc, n_lost_values;
	uint64_t lost[MSR_GPU_LOSS_ROOM]; /* at launch, unwritten, and told */
};
void gpu_sums_add(struct gpu_sums *sums, const struct msr_gpu_tally *tally);
uint64_t gpu_sums_lost(const struct gpu_sums *sums); /* but for NO_PATH */

#endif
