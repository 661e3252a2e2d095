/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads meters of energy in a thread of its own: NVML's of the GPUs that the program uses, and
 * RAPL's of the host. It records each change of a meter with the times of the two readings that
 * enclose it. It never calls CUPTI or the driver, and recordings for replay do not contain it.
 * Tests: tests/unit/cupti/test_energy.c, tests/cli/gpu/energy.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_ENERGY_NV_ENERGY_H
#define HPCRUN_LITE_GPU_CUPTI_ENERGY_NV_ENERGY_H

#include <stdint.h>

/*
 * Starts the thread if the options ask for energy; once per process. The caller has suspended its
 * samples and blocked its signals. On failure a note says why.
 */
void nv_energy_start(void);
/*
 * Makes the thread read the meters once more, and waits for that, at most until `until_ns`. Any
 * thread.
 */
void nv_energy_end(uint64_t until_ns);

#endif
