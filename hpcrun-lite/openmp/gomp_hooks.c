/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks that replace GOMP_parallel and similar functions. They give the real function another
 * function and argument: run(), and the descriptor of the region. Everything else they pass on
 * unchanged. If there is no real function (a program found our hook with dlsym), a team of one runs
 * the function. Code of compilers before GCC 4.9, which calls GOMP_parallel_start, is not covered.
 * Test: tests/cli/openmp/gomp_odd.sh.
 */
#include "hpcrun-lite/openmp/gomp_hooks.h"

#include "common/format/measurement.h"
#include "hpcrun-lite/openmp/gomp_real.h"
#include "hpcrun-lite/regions/region.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#define INLINE static inline __attribute__((always_inline))

/* Words of region->original. libgomp reads the first one, through its argument. */
enum { REDUCTIONS, FUNCTION, DATA, THREAD_NUMBER, TEAM_SIZE };

/* A call of a hook, and what it passes on. */
struct call {
	struct gomp_real real;
	struct region_thread *thread;
	struct region *region; /* NULL: the call passes through unchanged */
	gomp_outlined_fn *function;
	void *data;
};

/* Runs in every thread of the team in place of the outlined function. */
static void run(void *argument)
{
	struct region *r = argument;
	struct region_thread *t = runtime_regions();
	gomp_outlined_fn *function = (gomp_outlined_fn *)r->original[FUNCTION];
	int (*thread_number)(void) = (int (*)(void))r->original[THREAD_NUMBER];
	int (*team_size)(void) = (int (*)(void))r->original[TEAM_SIZE];
	struct region_visit visit;
	const uint32_t number = (uint32_t)thread_number();
	region_enter(t, r, REGION_PLACE_OF_CALLER(), NULL, number,
		     number == 0 ? (uint32_t)team_size() : 0, &visit);
	function(r->original[DATA]);
	region_leave(t, &visit);
}

/*
 * The functions below are inline, so that the registers, the place and the return address are the
 * hook's: its frame lives as long as the region.
 */
INLINE void begin(struct call *c, enum gomp_function which, gomp_outlined_fn *fn, void *data,
		  uint32_t schedule)
{
	/* fn is code of the caller. The return address may not be, if the call is a tail call. */
	*c = (struct call){.real = gomp_find(which, (uintptr_t)fn),
			   .thread = runtime_regions(),
			   .function = fn,
			   .data = data};
	if (!c->thread || !c->real.function)
		return;
	const struct region_fork fork = {.place = REGION_PLACE_OF_CALLER(),
					 .call = (uintptr_t)__builtin_return_address(0) - 1,
					 .function = (uintptr_t)fn,
					 .schedule = schedule};
	struct unwind_regs regs;
	unwind_here(&regs);
	c->region = region_fork(c->thread, &fork, &regs, runtime_is_counting());
	if (!c->region)
		return;
	c->region->original[FUNCTION] = (void *)fn;
	c->region->original[DATA] = data;
	c->region->original[THREAD_NUMBER] = (void *)c->real.thread_number;
	c->region->original[TEAM_SIZE] = (void *)c->real.team_size;
	c->function = run;
	c->data = c->region;
}

static void end(const struct call *c)
{
	if (c->region)
		region_join(c->thread, c->region);
}

INLINE void loop(enum gomp_function which, gomp_outlined_fn *fn, void *data, unsigned n_threads,
		 const long range[3], unsigned flags)
{
	struct call c;
	begin(&c, which, fn, data, MSR_OMP_RUNTIME);
	if (c.real.function)
		((gomp_loop_fn *)c.real.function)(c.function, c.data, n_threads, range[0],
						  range[1], range[2], flags);
	else
		fn(data);
	end(&c);
}

INLINE void chunks(enum gomp_function which, enum msr_omp_schedule schedule, gomp_outlined_fn *fn,
		   void *data, unsigned n_threads, const long range[4], unsigned flags)
{
	struct call c;
	begin(&c, which, fn, data, msr_omp_schedule(schedule, range[3]));
	if (c.real.function)
		((gomp_chunks_fn *)c.real.function)(c.function, c.data, n_threads, range[0],
						    range[1], range[2], range[3], flags);
	else
		fn(data);
	end(&c);
}

HOOK void GOMP_parallel(gomp_outlined_fn *fn, void *data, unsigned n_threads, unsigned flags)
{
	struct call c;
	begin(&c, GOMP_PARALLEL, fn, data, MSR_OMP_UNKNOWN);
	if (c.real.function)
		((gomp_parallel_fn *)c.real.function)(c.function, c.data, n_threads, flags);
	else
		fn(data);
	end(&c);
}

HOOK unsigned GOMP_parallel_reductions(gomp_outlined_fn *fn, void *data, unsigned n_threads,
				       unsigned flags)
{
	struct call c;
	unsigned n = 1;
	begin(&c, GOMP_PARALLEL_REDUCTIONS, fn, data, MSR_OMP_UNKNOWN);
	if (c.region)
		c.region->original[REDUCTIONS] = *(void **)data;
	if (c.real.function)
		n = ((gomp_reductions_fn *)c.real.function)(c.function, c.data, n_threads, flags);
	else
		fn(data);
	end(&c);
	return n;
}

HOOK void GOMP_parallel_sections(gomp_outlined_fn *fn, void *data, unsigned n_threads,
				 unsigned count, unsigned flags)
{
	struct call c;
	begin(&c, GOMP_PARALLEL_SECTIONS, fn, data, MSR_OMP_SECTIONS);
	if (c.real.function)
		((gomp_sections_fn *)c.real.function)(c.function, c.data, n_threads, count, flags);
	else
		fn(data);
	end(&c);
}

HOOK void GOMP_parallel_loop_static(gomp_outlined_fn *fn, void *data,
	unsigned n_threads, long from, long to, long step, long chunk, unsigned flags)
{
	const long range[] = {from, to, step, chunk};
	chunks(GOMP_PARALLEL_LOOP_STATIC, MSR_OMP_STATIC, fn, data, n_threads, range, flags);
}

HOOK void GOMP_parallel_loop_dynamic(gomp_outlined_fn *fn, void *data,
	unsigned n_threads, long from, long to, long step, long chunk, unsigned flags)
{
	const long range[] = {from, to, step, chunk};
	chunks(GOMP_PARALLEL_LOOP_DYNAMIC, MSR_OMP_DYNAMIC, fn, data, n_threads, range, flags);
}

HOOK void GOMP_parallel_loop_guided(gomp_outlined_fn *fn, void *data,
	unsigned n_threads, long from, long to, long step, long chunk, unsigned flags)
{
	const long range[] = {from, to, step, chunk};
	chunks(GOMP_PARALLEL_LOOP_GUIDED, MSR_OMP_GUIDED, fn, data, n_threads, range, flags);
}

HOOK void GOMP_parallel_loop_nonmonotonic_dynamic(gomp_outlined_fn *fn, void *data,
	unsigned n_threads, long from, long to, long step, long chunk, unsigned flags)
{
	const long range[] = {from, to, step, chunk};
	chunks(GOMP_PARALLEL_LOOP_NONMONOTONIC_DYNAMIC, MSR_OMP_DYNAMIC, fn, data, n_threads, range,
	       flags);
}

HOOK void GOMP_parallel_loop_nonmonotonic_guided(gomp_outlined_fn *fn, void *data,
	unsigned n_threads, long from, long to, long step, long chunk, unsigned flags)
{
	const long range[] = {from, to, step, chunk};
	chunks(GOMP_PARALLEL_LOOP_NONMONOTONIC_GUIDED, MSR_OMP_GUIDED, fn, data, n_threads, range,
	       flags);
}

HOOK void GOMP_parallel_loop_runtime(gomp_outlined_fn *fn, void *data,
	unsigned n_threads, long from, long to, long step, unsigned flags)
{
	const long range[] = {from, to, step};
	loop(GOMP_PARALLEL_LOOP_RUNTIME, fn, data, n_threads, range, flags);
}

HOOK void GOMP_parallel_loop_nonmonotonic_runtime(gomp_outlined_fn *fn, void *data,
	unsigned n_threads, long from, long to, long step, unsigned flags)
{
	const long range[] = {from, to, step};
	loop(GOMP_PARALLEL_LOOP_NONMONOTONIC_RUNTIME, fn, data, n_threads, range, flags);
}

HOOK void GOMP_parallel_loop_maybe_nonmonotonic_runtime(gomp_outlined_fn *fn, void *data,
	unsigned n_threads, long from, long to, long step, unsigned flags)
{
	const long range[] = {from, to, step};
	loop(GOMP_PARALLEL_LOOP_MAYBE_NONMONOTONIC_RUNTIME, fn, data, n_threads, range, flags);
}
