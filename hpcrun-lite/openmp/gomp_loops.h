/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of GCC's libgomp that each thread of a team calls to begin a loop whose iterations
 * the run time shares out. Their signatures are part of libgomp's ABI. The hooks in gomp_loops.c
 * replace them and only note the schedule. Test: tests/cli/openmp/omp_schedule.sh.
 */
#ifndef HPCRUN_LITE_OPENMP_GOMP_LOOPS_H
#define HPCRUN_LITE_OPENMP_GOMP_LOOPS_H

#include <stdbool.h>

/* False: no iteration is left for the thread. Otherwise it gets the iterations *first to *last. */
typedef bool gomp_start_fn(long from, long to, long step, long chunk, long *first, long *last);
typedef bool gomp_start_runtime_fn(long from, long to, long step, long *first, long *last);
typedef bool gomp_start_ull_fn(bool up, unsigned long long from, unsigned long long to,
			       unsigned long long step, unsigned long long chunk,
			       unsigned long long *first, unsigned long long *last);
typedef bool gomp_start_runtime_ull_fn(bool up, unsigned long long from, unsigned long long to,
				       unsigned long long step, unsigned long long *first,
				       unsigned long long *last);

gomp_start_fn GOMP_loop_static_start;
gomp_start_fn GOMP_loop_dynamic_start;
gomp_start_fn GOMP_loop_guided_start;
gomp_start_fn GOMP_loop_nonmonotonic_dynamic_start;
gomp_start_fn GOMP_loop_nonmonotonic_guided_start;
gomp_start_runtime_fn GOMP_loop_runtime_start;
gomp_start_runtime_fn GOMP_loop_nonmonotonic_runtime_start;
gomp_start_runtime_fn GOMP_loop_maybe_nonmonotonic_runtime_start;
gomp_start_ull_fn GOMP_loop_ull_static_start;
gomp_start_ull_fn GOMP_loop_ull_dynamic_start;
gomp_start_ull_fn GOMP_loop_ull_guided_start;
gomp_start_ull_fn GOMP_loop_ull_nonmonotonic_dynamic_start;
gomp_start_ull_fn GOMP_loop_ull_nonmonotonic_guided_start;
gomp_start_runtime_ull_fn GOMP_loop_ull_runtime_start;
gomp_start_runtime_ull_fn GOMP_loop_ull_nonmonotonic_runtime_start;
gomp_start_runtime_ull_fn GOMP_loop_ull_maybe_nonmonotonic_runtime_start;

#endif
