/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the functions of libgomp that a caller would have reached without our hooks. A process may
 * have several libraries with these names: Python modules bring their own and load them privately,
 * and LLVM's libomp has them too. Test: tests/cli/openmp/gomp_two.sh.
 */
#ifndef HPCRUN_LITE_OPENMP_GOMP_REAL_H
#define HPCRUN_LITE_OPENMP_GOMP_REAL_H

#include <stdint.h>

enum gomp_function {
	GOMP_PARALLEL,
	GOMP_PARALLEL_REDUCTIONS,
	GOMP_PARALLEL_SECTIONS,
	GOMP_PARALLEL_LOOP_STATIC,
	GOMP_PARALLEL_LOOP_DYNAMIC,
	GOMP_PARALLEL_LOOP_GUIDED,
	GOMP_PARALLEL_LOOP_RUNTIME,
	GOMP_PARALLEL_LOOP_NONMONOTONIC_DYNAMIC,
	GOMP_PARALLEL_LOOP_NONMONOTONIC_GUIDED,
	GOMP_PARALLEL_LOOP_NONMONOTONIC_RUNTIME,
	GOMP_PARALLEL_LOOP_MAYBE_NONMONOTONIC_RUNTIME,
	GOMP_LOOP_STATIC_START,
	GOMP_LOOP_DYNAMIC_START,
	GOMP_LOOP_GUIDED_START,
	GOMP_LOOP_NONMONOTONIC_DYNAMIC_START,
	GOMP_LOOP_NONMONOTONIC_GUIDED_START,
	GOMP_LOOP_RUNTIME_START,
	GOMP_LOOP_NONMONOTONIC_RUNTIME_START,
	GOMP_LOOP_MAYBE_NONMONOTONIC_RUNTIME_START,
	GOMP_LOOP_ULL_STATIC_START,
	GOMP_LOOP_ULL_DYNAMIC_START,
	GOMP_LOOP_ULL_GUIDED_START,
	GOMP_LOOP_ULL_NONMONOTONIC_DYNAMIC_START,
	GOMP_LOOP_ULL_NONMONOTONIC_GUIDED_START,
	GOMP_LOOP_ULL_RUNTIME_START,
	GOMP_LOOP_ULL_NONMONOTONIC_RUNTIME_START,
	GOMP_LOOP_ULL_MAYBE_NONMONOTONIC_RUNTIME_START,
	GOMP_N_FUNCTIONS
};

struct gomp_real {
	void *function;            /* NULL: there is none */
	int (*thread_number)(void); /* omp_get_thread_num of the same library */
	int (*team_size)(void);     /* omp_get_num_threads */
};

/*
 * Returns the function that the object with the code at `code` reaches. Takes a few ns. If the
 * program is not linked with one, the first call for an object, and its first call after each
 * dlclose, takes the loader's lock. Keeps errno.
 */
struct gomp_real gomp_find(enum gomp_function which, uintptr_t code);

/* At the start of the process: finds the library that the program is linked with. */
void gomp_start(void);

#endif
