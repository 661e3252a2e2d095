/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks that note the schedules of loops; see gomp_loops.h. A loop may start millions of times, so
 * they compare one word, and write it only if it has changed. If there is no real function, the
 * thread takes the whole loop.
 */
#include "hpcrun-lite/openmp/gomp_loops.h"

#include "common/format/measurement.h"
#include "hpcrun-lite/openmp/gomp_real.h"
#include "hpcrun-lite/regions/region.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

/* Inline, so that the return address is the program's. */
static inline __attribute__((always_inline)) void *
begin_loop(enum gomp_function which, enum msr_omp_schedule kind, long chunk)
{
	struct region_thread *t = runtime_regions();
	if (t)
		region_note_loop(t, msr_omp_schedule(kind, chunk));
	return gomp_find(which, (uintptr_t)__builtin_return_address(0) - 1).function;
}

static bool take_all(long from, long to, long step, long *first, long *last)
{
	*first = from;
	*last = to;
	return step > 0 ? from < to : from > to;
}

static bool take_all_ull(bool up, unsigned long long from, unsigned long long to,
			 unsigned long long *first, unsigned long long *last)
{
	*first = from;
	*last = to;
	return up ? from < to : from > to;
}

HOOK bool GOMP_loop_static_start(long from, long to, long step, long chunk, long *first, long *last)
{
	gomp_start_fn *real = begin_loop(GOMP_LOOP_STATIC_START, MSR_OMP_STATIC, chunk);
	return real ? real(from, to, step, chunk, first, last)
		    : take_all(from, to, step, first, last);
}

HOOK bool GOMP_loop_dynamic_start(long from, long to, long step, long chunk, long *first,
				  long *last)
{
	gomp_start_fn *real = begin_loop(GOMP_LOOP_DYNAMIC_START, MSR_OMP_DYNAMIC, chunk);
	return real ? real(from, to, step, chunk, first, last)
		    : take_all(from, to, step, first, last);
}

HOOK bool GOMP_loop_guided_start(long from, long to, long step, long chunk, long *first, long *last)
{
	gomp_start_fn *real = begin_loop(GOMP_LOOP_GUIDED_START, MSR_OMP_GUIDED, chunk);
	return real ? real(from, to, step, chunk, first, last)
		    : take_all(from, to, step, first, last);
}

HOOK bool GOMP_loop_nonmonotonic_dynamic_start(long from, long to, long step, long chunk,
					       long *first, long *last)
{
	gomp_start_fn *real =
		begin_loop(GOMP_LOOP_NONMONOTONIC_DYNAMIC_START, MSR_OMP_DYNAMIC, chunk);
	return real ? real(from, to, step, chunk, first, last)
		    : take_all(from, to, step, first, last);
}

HOOK bool GOMP_loop_nonmonotonic_guided_start(long from, long to, long step, long chunk,
					      long *first, long *last)
{
	gomp_start_fn *real =
		begin_loop(GOMP_LOOP_NONMONOTONIC_GUIDED_START, MSR_OMP_GUIDED, chunk);
	return real ? real(from, to, step, chunk, first, last)
		    : take_all(from, to, step, first, last);
}

HOOK bool GOMP_loop_runtime_start(long from, long to, long step, long *first, long *last)
{
	gomp_start_runtime_fn *real = begin_loop(GOMP_LOOP_RUNTIME_START, MSR_OMP_RUNTIME, 0);
	return real ? real(from, to, step, first, last) : take_all(from, to, step, first, last);
}

HOOK bool GOMP_loop_nonmonotonic_runtime_start(long from, long to, long step, long *first,
					       long *last)
{
	gomp_start_runtime_fn *real =
		begin_loop(GOMP_LOOP_NONMONOTONIC_RUNTIME_START, MSR_OMP_RUNTIME, 0);
	return real ? real(from, to, step, first, last) : take_all(from, to, step, first, last);
}

HOOK bool GOMP_loop_maybe_nonmonotonic_runtime_start(long from, long to, long step, long *first,
						     long *last)
{
	gomp_start_runtime_fn *real =
		begin_loop(GOMP_LOOP_MAYBE_NONMONOTONIC_RUNTIME_START, MSR_OMP_RUNTIME, 0);
	return real ? real(from, to, step, first, last) : take_all(from, to, step, first, last);
}

HOOK bool GOMP_loop_ull_static_start(bool up, unsigned long long from, unsigned long long to,
				     unsigned long long step, unsigned long long chunk,
				     unsigned long long *first, unsigned long long *last)
{
	gomp_start_ull_fn *real =
		begin_loop(GOMP_LOOP_ULL_STATIC_START, MSR_OMP_STATIC, (long)chunk);
	return real ? real(up, from, to, step, chunk, first, last)
		    : take_all_ull(up, from, to, first, last);
}

HOOK bool GOMP_loop_ull_dynamic_start(bool up, unsigned long long from, unsigned long long to,
				      unsigned long long step, unsigned long long chunk,
				      unsigned long long *first, unsigned long long *last)
{
	gomp_start_ull_fn *real =
		begin_loop(GOMP_LOOP_ULL_DYNAMIC_START, MSR_OMP_DYNAMIC, (long)chunk);
	return real ? real(up, from, to, step, chunk, first, last)
		    : take_all_ull(up, from, to, first, last);
}

HOOK bool GOMP_loop_ull_guided_start(bool up, unsigned long long from, unsigned long long to,
				     unsigned long long step, unsigned long long chunk,
				     unsigned long long *first, unsigned long long *last)
{
	gomp_start_ull_fn *real =
		begin_loop(GOMP_LOOP_ULL_GUIDED_START, MSR_OMP_GUIDED, (long)chunk);
	return real ? real(up, from, to, step, chunk, first, last)
		    : take_all_ull(up, from, to, first, last);
}

HOOK bool GOMP_loop_ull_nonmonotonic_dynamic_start(bool up, unsigned long long from,
						   unsigned long long to, unsigned long long step,
						   unsigned long long chunk,
						   unsigned long long *first,
						   unsigned long long *last)
{
	gomp_start_ull_fn *real =
		begin_loop(GOMP_LOOP_ULL_NONMONOTONIC_DYNAMIC_START, MSR_OMP_DYNAMIC, (long)chunk);
	return real ? real(up, from, to, step, chunk, first, last)
		    : take_all_ull(up, from, to, first, last);
}

HOOK bool GOMP_loop_ull_nonmonotonic_guided_start(bool up, unsigned long long from,
						  unsigned long long to, unsigned long long step,
						  unsigned long long chunk,
						  unsigned long long *first,
						  unsigned long long *last)
{
	gomp_start_ull_fn *real =
		begin_loop(GOMP_LOOP_ULL_NONMONOTONIC_GUIDED_START, MSR_OMP_GUIDED, (long)chunk);
	return real ? real(up, from, to, step, chunk, first, last)
		    : take_all_ull(up, from, to, first, last);
}

HOOK bool GOMP_loop_ull_runtime_start(bool up, unsigned long long from, unsigned long long to,
				      unsigned long long step, unsigned long long *first,
				      unsigned long long *last)
{
	gomp_start_runtime_ull_fn *real =
		begin_loop(GOMP_LOOP_ULL_RUNTIME_START, MSR_OMP_RUNTIME, 0);
	return real ? real(up, from, to, step, first, last)
		    : take_all_ull(up, from, to, first, last);
}

HOOK bool GOMP_loop_ull_nonmonotonic_runtime_start(bool up, unsigned long long from,
						   unsigned long long to, unsigned long long step,
						   unsigned long long *first,
						   unsigned long long *last)
{
	gomp_start_runtime_ull_fn *real =
		begin_loop(GOMP_LOOP_ULL_NONMONOTONIC_RUNTIME_START, MSR_OMP_RUNTIME, 0);
	return real ? real(up, from, to, step, first, last)
		    : take_all_ull(up, from, to, first, last);
}

HOOK bool GOMP_loop_ull_maybe_nonmonotonic_runtime_start(bool up, unsigned long long from,
							 unsigned long long to,
							 unsigned long long step,
							 unsigned long long *first,
							 unsigned long long *last)
{
	gomp_start_runtime_ull_fn *real =
		begin_loop(GOMP_LOOP_ULL_MAYBE_NONMONOTONIC_RUNTIME_START, MSR_OMP_RUNTIME, 0);
	return real ? real(up, from, to, step, first, last)
		    : take_all_ull(up, from, to, first, last);
}
