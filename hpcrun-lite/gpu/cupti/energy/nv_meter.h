/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of a meter of energy, and when to read it again. A meter that changes in steps is
 * read a little before it is expected to change, and then often until it has. Pure; one thread.
 * Test: tests/unit/cupti/test_energy.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_ENERGY_NV_METER_H
#define HPCRUN_LITE_GPU_CUPTI_ENERGY_NV_METER_H

#include "common/format/measurement_gpu.h"

#include <stdbool.h>
#include <stdint.h>

/* How often to read a meter whose steps are not known yet. */
#define NV_METER_PERIOD_NS UINT64_C(20000000)

/* All zero at the start, except id and device. */
struct nv_meter {
	uint32_t id, device;
	bool is_read;     /* energy_uj and read_ns are set */
	bool has_changed; /* changed_ns is set */
	bool has_begun;   /* a change was recorded since measurement was last off */
	uint64_t energy_uj, read_ns;
	uint64_t changed_ns; /* the first reading of energy_uj */
	uint64_t older_ns;   /* the reading before that */
	uint64_t step_ns;    /* estimated time between changes; 0: unknown */
};

/*
 * Adds a reading: the meter had the value `energy_uj` at read_ns. Returns true and sets *change if
 * there is a change to record.
 */
bool nv_meter_read(struct nv_meter *m, uint64_t energy_uj, uint64_t read_ns,
		   struct msr_gpu_energy *change);
/* When to read it next. */
uint64_t nv_meter_next(const struct nv_meter *m);

#endif
