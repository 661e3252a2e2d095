/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of GCC's libgomp that run a function in a team of threads and return when all have
 * finished. Their signatures are part of libgomp's ABI, of GCC 4.9 to 15. libomp has them too, for
 * programs that gcc compiled. n_threads 0: the run time chooses. The hooks in gomp_hooks.c replace
 * them. Test: tests/cli/openmp/gomp_odd.sh.
 */
#ifndef HPCRUN_LITE_OPENMP_GOMP_HOOKS_H
#define HPCRUN_LITE_OPENMP_GOMP_HOOKS_H

typedef void gomp_outlined_fn(void *data);

typedef void gomp_parallel_fn(gomp_outlined_fn *fn, void *data, unsigned n_threads, unsigned flags);
/* Returns the size of the team. The first word of *data points to a description of reductions. */
typedef unsigned gomp_reductions_fn(gomp_outlined_fn *fn, void *data, unsigned n_threads,
				    unsigned flags);
typedef void gomp_sections_fn(gomp_outlined_fn *fn, void *data, unsigned n_threads, unsigned count,
			      unsigned flags);
typedef void gomp_loop_fn(gomp_outlined_fn *fn, void *data, unsigned n_threads, long from, long to,
			  long step, unsigned flags);
typedef void gomp_chunks_fn(gomp_outlined_fn *fn, void *data, unsigned n_threads, long from,
			    long to, long step, long chunk, unsigned flags);

gomp_parallel_fn GOMP_parallel;
gomp_reductions_fn GOMP_parallel_reductions;
gomp_sections_fn GOMP_parallel_sections;
gomp_chunks_fn GOMP_parallel_loop_static;
gomp_chunks_fn GOMP_parallel_loop_dynamic;
gomp_chunks_fn GOMP_parallel_loop_guided;
gomp_loop_fn GOMP_parallel_loop_runtime;
gomp_chunks_fn GOMP_parallel_loop_nonmonotonic_dynamic;
gomp_chunks_fn GOMP_parallel_loop_nonmonotonic_guided;
gomp_loop_fn GOMP_parallel_loop_nonmonotonic_runtime;
gomp_loop_fn GOMP_parallel_loop_maybe_nonmonotonic_runtime;

#endif
