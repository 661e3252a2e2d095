/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/openmp/ompt_region.c: a run time made here reports regions of one thread, in
 * the orders in which libomp does, and in those in which it might. The descriptors are the real
 * ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/openmp/ompt.h"
#include "hpcrun-lite/regions/region.h"
#include "hpcrun-lite/regions/region_sums.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- the process ---- */

static struct region_thread threads[2], *self;
static struct unwind_stack stack;
static uint64_t n_summed;

struct region_thread *runtime_regions(void)
{
	return self;
}

bool runtime_is_counting(void)
{
	return true;
}

void region_sums_add(struct region_thread *t, const struct region *r, uint64_t elapsed_ns)
{
	(void)t;
	(void)r;
	(void)elapsed_ns;
	n_summed++;
}

/* ---- the run time ---- */

typedef void parallel_begin_t(ompt_data_t *, const ompt_frame_t *, ompt_data_t *, unsigned, int,
			      const void *);
typedef void parallel_end_t(ompt_data_t *, ompt_data_t *, int, const void *);
typedef void implicit_task_t(ompt_scope_endpoint_t, ompt_data_t *, ompt_data_t *, unsigned,
			     unsigned, int);
typedef void sync_region_t(int, ompt_scope_endpoint_t, ompt_data_t *, ompt_data_t *, const void *);

enum { PROGRAM = 1, RUNTIME = 2, EXPLICIT_BARRIER = 3, IMPLICIT_BARRIER = 2 };

static parallel_begin_t *parallel_begin;
static parallel_end_t *parallel_end;
static implicit_task_t *implicit_task;
static sync_region_t *sync_region;

static struct task {
	ompt_data_t data;
	ompt_frame_t frame;
} tasks[40], *current;

static int sync_region_result = ompt_set_always;

static int set_callback(int event, ompt_callback_t *callback)
{
	switch (event) {
	case ompt_callback_parallel_begin: parallel_begin = (parallel_begin_t *)callback; break;
	case ompt_callback_parallel_end: parallel_end = (parallel_end_t *)callback; break;
	case ompt_callback_implicit_task: implicit_task = (implicit_task_t *)callback; break;
	case ompt_callback_sync_region: sync_region = (sync_region_t *)callback; break;
	default: return 0;
	}
	return event == ompt_callback_sync_region ? sync_region_result : ompt_set_always;
}

static int task_info(int level, int *flags, ompt_data_t **data, ompt_frame_t **frame,
		     ompt_data_t **parallel, int *number)
{
	(void)flags;
	(void)parallel;
	(void)number;
	assert_int_equal(level, 0);
	*data = &current->data;
	*frame = &current->frame;
	return current ? 2 : 0;
}

static ompt_interface_fn_t *lookup(const char *name)
{
	return !strcmp(name, "ompt_set_callback")    ? (ompt_interface_fn_t *)set_callback
	       : !strcmp(name, "ompt_get_task_info") ? (ompt_interface_fn_t *)task_info
						     : NULL;
}

static int setup(void **state)
{
	(void)state;
	memset(tasks, 0, sizeof tasks);
	current = NULL;
	n_summed = 0;
	stack = (struct unwind_stack){.lo = 0, .hi = UINTPTR_MAX};
	for (int i = 0; i < 2; i++)
		region_reset(&threads[i], &stack, 0, i == 0);
	self = &threads[0];
	assert_true(ompt_region_start(lookup));
	return 0;
}

/* The frame of the function of the run time that the program called, and who called it. */
struct call {
	uintptr_t bp, return_address;
};

#define CALL ((uintptr_t)exit + 8) /* in another object than the adapter */

static ompt_data_t fork_from(struct call *call, const void *return_address)
{
	ompt_frame_t frame = {.exit_frame = 0, .enter_frame = (uintptr_t)call};
	ompt_data_t parallel = {.value = 77};
	*call = (struct call){0x1234, CALL};
	parallel_begin(NULL, &frame, &parallel, 2, RUNTIME, return_address);
	return parallel;
}

/* A place in a frame that the run time has further in. */
static uintptr_t exit_of(const struct call *call)
{
	return (uintptr_t)call + 8;
}

static void begin_task(ompt_data_t parallel, int task, unsigned n_threads, unsigned number)
{
	current = &tasks[task];
	implicit_task(ompt_scope_begin, &parallel, &current->data, n_threads, number, 2);
}

static void barrier(int task, int kind)
{
	sync_region(kind, ompt_scope_begin, NULL, &tasks[task].data, NULL);
}

static void end_task(int task)
{
	implicit_task(ompt_scope_end, NULL, &tasks[task].data, 0, 0, 2);
}

static bool lives(const struct region *r)
{
	return r->generation & 1;
}

/* ---- tests ---- */

static void a_region(void **state)
{
	struct call call;
	(void)state;
	ompt_data_t parallel = fork_from(&call, (void *)CALL);
	struct region *r = parallel.ptr;
	assert_non_null(r);
	assert_true(lives(r));
	assert_int_equal(r->origin.fork.place, (uintptr_t)(&call + 1));
	assert_int_equal(r->origin.fork.call, CALL - 1);
	assert_int_equal(r->origin.regs.reg[6], 0x1234);
	assert_int_equal(r->origin.regs.reg[7], (uintptr_t)(&call + 1));
	assert_int_equal(r->origin.regs.reg[16], CALL - 1);
	begin_task(parallel, 0, 2, 0);
	assert_int_equal(self->n_entries, 1);
	const struct region_entry *e = &self->entry[0];
	assert_ptr_equal(e->place_at, &tasks[0].frame.exit_frame);
	tasks[0].frame.exit_frame = 0x5678;
	barrier(0, IMPLICIT_BARRIER); /* of a loop: libomp 14 has the same kind for both */
	barrier(0, EXPLICIT_BARRIER);
	assert_int_equal(e->state, REGION_IN_FUNCTION);
	tasks[0].frame.exit_frame = 0;
	barrier(0, IMPLICIT_BARRIER);
	assert_int_equal(e->state, REGION_AT_END);
	assert_null(e->place_at);
	assert_int_equal(r->slot[0].generation, r->generation);
	end_task(0);
	parallel_end(&parallel, NULL, RUNTIME, NULL);
	assert_false(lives(r));
	assert_int_equal(self->n_entries, 0);
	assert_int_equal(n_summed, 1);
}

/* What is not a frame pointer, or is none of ours. */
static void not_described(void **state)
{
	struct call call;
	ompt_frame_t frame = {.enter_frame = 0};
	ompt_data_t parallel = {.value = 77};
	(void)state;
	assert_null(fork_from(&call, (void *)(CALL + 1)).ptr);
	assert_null(fork_from(&call, NULL).ptr);
	parallel_begin(NULL, &frame, &parallel, 2, RUNTIME, (void *)CALL);
	assert_null(parallel.ptr);
	frame.enter_frame = (uintptr_t)&call - (1 << 20);
	parallel.value = 77;
	parallel_begin(NULL, &frame, &parallel, 2, RUNTIME, (void *)CALL);
	assert_null(parallel.ptr);
	frame.enter_frame = (uintptr_t)&call; /* all is well, but the program calls the function */
	parallel_begin(NULL, &frame, &parallel, 1, PROGRAM, (void *)CALL);
	assert_null(parallel.ptr);
	self = NULL;
	assert_null(fork_from(&call, (void *)CALL).ptr);
	self = &threads[0];
	assert_int_equal(self->n_forks, 0);
	parallel.ptr = NULL;
	begin_task(parallel, 0, 2, 0);
	barrier(0, IMPLICIT_BARRIER);
	end_task(0);
	parallel_end(&parallel, NULL, RUNTIME, NULL);
	assert_int_equal(n_summed, 0);
	assert_int_equal(self->n_entries, 0);
}

/* libomp before 12 may name the return address of an earlier call, such as that of a lock. */
static void stale_return_address(void **state)
{
	struct call call;
	ompt_frame_t frame = {.enter_frame = (uintptr_t)&call};
	ompt_data_t parallel = fork_from(&call, (void *)CALL);
	(void)state;
	assert_non_null(parallel.ptr);
	parallel_end(&parallel, NULL, RUNTIME, NULL);
	parallel = fork_from(&call, (void *)(CALL + 1));
	struct region *r = parallel.ptr;
	assert_non_null(r);
	assert_int_equal(r->origin.fork.call, CALL - 1);
	parallel_end(&parallel, NULL, RUNTIME, NULL);
	call.return_address = 16; /* nobody's code */
	parallel_begin(NULL, &frame, &parallel, 2, RUNTIME, (void *)CALL);
	assert_null(parallel.ptr);
}

/* Our hook of GOMP_parallel has described the region, and calls the run time. */
static void forked_by_our_hook(void **state)
{
	struct call call;
	(void)state;
	ompt_frame_t frame = {.enter_frame = (uintptr_t)&call};
	ompt_data_t parallel = {.value = 77};
	const uintptr_t ours = (uintptr_t)ompt_region_start + 4;
	call.return_address = ours;
	parallel_begin(NULL, &frame, &parallel, 2, RUNTIME, (void *)ours);
	assert_null(parallel.ptr);
}

/* libomp tells a worker of the end of its task when it is woken for the next one. */
static void worker(void **state)
{
	struct call calls[3]; /* of the worker: inner, outer; of the thread that forks */
	(void)state;
	for (int round = 0; round < 100; round++) {
		self = &threads[0];
		ompt_data_t parallel = fork_from(&calls[2], (void *)CALL);
		struct region *r = parallel.ptr;
		begin_task(parallel, 0, 2, 0);
		self = &threads[1];
		if (round) {
			const uint64_t ns = r->slot[1].ns;
			end_task(1);
			assert_int_equal(r->slot[1].ns, ns);
		}
		tasks[1].frame.exit_frame = 0;
		begin_task(parallel, 1, 2, 1);
		assert_int_equal(self->n_entries, 1);
		tasks[1].frame.exit_frame = exit_of(&calls[1]);
		/* a region of its own inside: its place is kept */
		ompt_data_t inner = fork_from(&calls[0], (void *)CALL);
		parallel_end(&inner, NULL, RUNTIME, NULL);
		tasks[1].frame.exit_frame = 0;
		barrier(1, IMPLICIT_BARRIER);
		assert_int_equal(r->slot[1].generation, r->generation);
		assert_true(lives(r));
		self = &threads[0];
		barrier(0, IMPLICIT_BARRIER);
		end_task(0);
		parallel_end(&parallel, NULL, RUNTIME, NULL);
		assert_false(lives(r));
		assert_int_equal(threads[1].entry[0].state, REGION_AT_END);
		assert_true(threads[1].entry[0].generation != r->generation);
	}
	assert_int_equal(n_summed, 200);
}

/* A region of one thread has no barrier at its end, and moves the record of the outer task. */
static void one_thread_inside(void **state)
{
	struct call calls[2]; /* inner, outer */
	(void)state;
	ompt_data_t outer = fork_from(&calls[1], (void *)CALL);
	begin_task(outer, 0, 1, 0);
	const uintptr_t place = exit_of(&calls[1]);
	tasks[0].frame.exit_frame = place;
	ompt_data_t inner = fork_from(&calls[0], (void *)CALL);
	assert_int_equal(self->entry[0].place, place);
	assert_null(self->entry[0].place_at);
	const struct region *r = inner.ptr;
	assert_int_equal(r->origin.parent.place, place);
	const ompt_data_t saved = tasks[0].data;
	tasks[0].frame.exit_frame = 0;
	begin_task(inner, 0, 1, 0);
	assert_int_equal(self->n_entries, 2);
	end_task(0);
	assert_int_equal(r->slot[0].generation, r->generation);
	parallel_end(&inner, NULL, RUNTIME, NULL);
	assert_int_equal(self->n_entries, 1);
	assert_int_equal(self->entry[0].state, REGION_IN_FUNCTION);
	tasks[0].data = saved;
	end_task(0);
	assert_int_equal(self->entry[0].state, REGION_AT_END);
	parallel_end(&outer, NULL, RUNTIME, NULL);
	assert_int_equal(self->n_entries, 0);
}

/* Deeper than the descriptors of a thread. */
static void too_deep(void **state)
{
	enum { N = 40 };
	struct call calls[N];
	ompt_data_t parallel[N];
	(void)state;
	for (int i = 0; i < N; i++) {
		parallel[i] = fork_from(&calls[N - 1 - i], (void *)CALL);
		begin_task(parallel[i], i, 1, 0);
		tasks[i].frame.exit_frame = exit_of(&calls[N - 1 - i]);
	}
	assert_int_equal(self->n_entries, REGION_MAX_NESTED);
	assert_int_equal(self->n_lost, N - REGION_MAX_NESTED);
	for (int i = N - 1; i >= 0; i--) {
		end_task(i);
		parallel_end(&parallel[i], NULL, RUNTIME, NULL);
	}
	assert_int_equal(self->n_entries, 0);
	assert_int_equal(self->n_forks, 0);
}

/* A thread that is not measured takes part: its time counts. */
static void not_measured(void **state)
{
	struct call call;
	(void)state;
	ompt_data_t parallel = fork_from(&call, (void *)CALL);
	const struct region *r = parallel.ptr;
	self = NULL;
	begin_task(parallel, 1, 2, 1);
	tasks[1].frame.exit_frame = 1;
	tasks[1].frame.exit_frame = 0;
	barrier(1, IMPLICIT_BARRIER);
	assert_int_equal(r->slot[1].generation, r->generation);
	end_task(1);
	self = &threads[0];
	parallel_end(&parallel, NULL, RUNTIME, NULL);
}

static ompt_interface_fn_t *lookup_nothing(const char *name)
{
	(void)name;
	return NULL;
}

static void no_interface(void **state)
{
	(void)state;
	assert_false(ompt_region_start(lookup_nothing));
}

/* A run time that may report an event, or not. */
static void not_all_events(void **state)
{
	(void)state;
	sync_region_result = 3; /* ompt_set_sometimes */
	assert_false(ompt_region_start(lookup));
	sync_region_result = ompt_set_always;
	assert_null(parallel_begin);
	assert_null(parallel_end);
	assert_null(implicit_task);
	assert_null(sync_region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_region, setup),
		cmocka_unit_test_setup(not_described, setup),
		cmocka_unit_test_setup(stale_return_address, setup),
		cmocka_unit_test_setup(forked_by_our_hook, setup),
		cmocka_unit_test_setup(worker, setup),
		cmocka_unit_test_setup(one_thread_inside, setup),
		cmocka_unit_test_setup(too_deep, setup),
		cmocka_unit_test_setup(not_measured, setup),
		cmocka_unit_test_setup(no_interface, setup),
		cmocka_unit_test_setup(not_all_events, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
