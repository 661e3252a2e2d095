/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of the model: parallel regions of OpenMP, with exact sums instead of samples. Include
 * model.h.
 */
#ifndef HPCPROF_MODEL_MODEL_OMP_H
#define HPCPROF_MODEL_MODEL_OMP_H

#include <stdint.h>

/*
 * The instances of one region in one process with teams of one size. Only instances that ended and
 * were measured from fork to join count. The time in the function is the time from its start to its
 * end in one thread. It includes what the thread waits for inside, but not the wait at the end of
 * the region.
 *
 * Load balance is busy_ns / n_timed against max_ns / instances. Efficiency is busy_ns against
 * elapsed_ns * n_threads. If all work were spread evenly at no cost, elapsed_ns would shrink to
 * busy_ns / n_threads.
 */
struct model_omp_region {
	uint32_t process;      /* index into model.processes */
	uint32_t function;     /* the outlined function; MODEL_NONE: unknown */
	uint32_t call_function; /* the function that forked; MODEL_NONE: unknown */
	uint32_t file, line;   /* of the fork; MODEL_NONE and 0: unknown */
	uint64_t call_addr;    /* of the fork in the module of call_function; 0: unknown */
	uint32_t n_threads;    /* size of the team; 0: all regions without sums of their own */
	uint32_t schedule;     /* msr_omp_schedule(); 0: unknown */
	uint64_t instances;
	uint64_t elapsed_ns;   /* sum over instances of the time from fork to join */
	uint64_t n_timed;      /* sum over instances of the number of threads whose time is known */
	uint64_t busy_ns;      /* sum over instances and threads of the time in the function */
	uint64_t max_ns;       /* sum over instances of the longest time of a thread */
	uint64_t min_ns;       /* ... and of the shortest */
};

#endif
