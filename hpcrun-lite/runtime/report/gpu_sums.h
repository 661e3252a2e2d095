/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up what back ends counted, for the report. Signal-safe. Test: tests/cli/gpu/gpu_core.sh. */
#ifndef HPCRUN_LITE_RUNTIME_REPORT_GPU_SUMS_H
#define HPCRUN_LITE_RUNTIME_REPORT_GPU_SUMS_H

#include "common/format/measurement_gpu.h"

#include <stdint.h>

/* Sums over back ends, for the report. */
struct gpu_sums {
	uint64_t launched, recorded, aggregated, n_ops, handler_ns, record_bytes, n_unknown_calls,
		n_bad_order, n_lost_definitions, n_lost_contents, n_lost_pc, n_lost_values;
	uint64_t lost[MSR_GPU_LOSS_ROOM]; /* at launch, unwritten, and reported */
};
void gpu_sums_add(struct gpu_sums *sums, const struct msr_gpu_tally *tally);
uint64_t gpu_sums_lost(const struct gpu_sums *sums); /* without NO_PATH */

#endif
