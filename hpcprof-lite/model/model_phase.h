/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of the model: phases, which are ranges of time with a name. They are what the program
 * marked with hpctoolkit_sampling_start() and stop(), or the outermost NVTX ranges of main threads.
 * Include model.h.
 */
#ifndef HPCPROF_MODEL_MODEL_PHASE_H
#define HPCPROF_MODEL_MODEL_PHASE_H

#include <stdint.h>

struct model_phase {
	const char *name;       /* "phase 1: FILE:120", or the label of an NVTX range */
	uint32_t context;       /* the place that began it first; 0: unknown */
};

struct model_range {
	uint32_t phase, process;
	uint32_t profile;       /* a thread; MODEL_NONE: all threads of the process */
	uint64_t enter_ns, leave_ns; /* CLOCK_REALTIME since the epoch */
	/*
	 * Time that the main thread spent in calls of MPI meanwhile. UINT64_MAX: it was not
	 * measured.
	 */
	uint64_t mpi_ns;
};

#endif
