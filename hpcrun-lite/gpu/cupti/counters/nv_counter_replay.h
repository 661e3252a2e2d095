/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the record of a replayed kernel with its duration. CUPTI delivers the records of replayed
 * kernels without times, during the launch or later. The duration is counted instead. Only one
 * launch at a time is replayed. Any thread. Test: tests/cli/gpu/counters.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTER_REPLAY_H
#define HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTER_REPLAY_H

#include "hpcrun-lite/gpu/gpu.h"

void nv_counter_replay_prepare(void);
/* Around a launch. ns: the duration of the kernel; 0: unknown. */
void nv_counter_replay_begin(uint64_t id);
void nv_counter_replay_end(uint64_t ns);
/* Takes a record without times. Returns true if the record was delivered or will be. */
bool nv_counter_replay_take_record(uint64_t id, const struct gpu_op *op);

#endif
