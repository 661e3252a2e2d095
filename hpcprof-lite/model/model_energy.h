/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of the model: meters of energy, of GPUs and of hosts. Include model.h. */
#ifndef HPCPROF_MODEL_MODEL_ENERGY_H
#define HPCPROF_MODEL_MODEL_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A change of the meter. It happened in (unchanged_ns, time_ns], CLOCK_REALTIME. */
struct model_energy_change {
	uint64_t time_ns, unchanged_ns;
	/* what the meter showed; more than at the change before, unless it begins */
	uint64_t energy_uj;
	bool begins;               /* nothing is known about the time since the change before */
};

/*
 * The energy used between changes of a meter: total == operations + idle + unknown.
 * doc/energy.md has the definitions.
 */
struct model_energy {
	uint64_t covered_ns;       /* between changes */
	uint64_t total_uj;
	uint64_t operations_uj;    /* apportioned to the operations that ran: in GENERGY */
	uint64_t shared_uj;        /* part of operations_uj: operations of several contexts ran */
	uint64_t idle_uj;          /* while nothing ran */
	uint64_t unknown_uj;       /* of a host, or while operations have no known times */
	uint64_t busy_ns, idle_ns; /* parts of covered_ns in which the operations are known */
	/*
	 * Power of the idle device: the median over stretches without operations whose previous
	 * stretch had none either. 0: there was no such stretch, and energy was divided between
	 * operations and idle time by their lengths.
	 */
	uint64_t idle_mw;
	uint64_t n_changes;
	uint64_t step_ns;          /* mean time between two changes */
	uint64_t late_ns;          /* median of time_ns - unchanged_ns of the changes */
	uint64_t error_uj; /* of total_uj: the energy of one step at both ends of each series */
};

struct model_meter {
	const char *name;          /* "NVML", "RAPL package-0" */
	uint32_t device;           /* MODEL_NONE: of the host of `process` */
	uint32_t process;          /* the first process that read it */
	const struct model_energy_change *changes; /* by time */
	size_t n_changes;
	struct model_energy sum;
};

#endif
