/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels and programs with one known flaw, each beside its cure, and some with no flaw. The advice
 * of hpcprof-lite must find the flaw, predict what the cure gives, and be silent about the others.
 * Host code alone; one thread. Users: advice_ways.cu.
 */
#ifndef TESTS_GPU_ADVICE_WAYS_H
#define TESTS_GPU_ADVICE_WAYS_H

#include "tests/gpu/work.cuh"

/* Runs once. Kernels go to the stream `s`; whoever uses other streams waits for them. */
struct advice_way {
	const char *name;
	void (*flawed)(cudaStream_t s);
	void (*cured)(cudaStream_t s); /* NULL: `flawed` has no flaw */
	bool by_host;                  /* the time is that of the host's clock, not of events */
};

/* Tables that end with a name of NULL. */
extern const advice_way advice_memory[], advice_occupancy[], advice_units[], advice_program[],
	advice_clean[], advice_apps[], advice_later[], advice_again[];

/* Device memory of at least this size, zeroed at first, the same one for all uses. */
float *advice_room(size_t n_floats);
/* A second one. */
float *advice_output(size_t n_floats);
unsigned advice_units_of_device();

inline unsigned advice_blocks(size_t n, unsigned threads)
{
	return (unsigned)((n + threads - 1) / threads);
}

#endif
