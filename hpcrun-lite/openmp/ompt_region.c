/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes the regions that a run time reports by OMPT on to region.h. All callbacks come from
 * ordinary code of the thread that they are about. They read clocks and write to our own memory: no
 * lock, no system call. Tests: tests/cli/openmp/omp_paths.sh, tests/cli/openmp/omp_waits.sh.
 */
#include "common/safe/find_object.h"
#include "hpcrun-lite/openmp/ompt.h"
#include "hpcrun-lite/regions/region.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <stdatomic.h>
#include <stddef.h>

enum {
	/* Between our frame and the program's there are only a few small ones of the run time. */
	RUN_TIME_STACK_BYTES = 1 << 16,
};

static ompt_get_task_info_t *get_task_info;
static struct dl_find_object us; /* this library */
/* `enter_frame` was the frame pointer that we take it for. */
static atomic_bool is_frame_pointer;

/* The regions that a thread is in, by index of the region's entry. A task's word is index + 1. */
struct inside {
	struct region_visit visit;           /* .region is NULL after the leave */
	const _Atomic uintptr_t *exit_frame; /* of the implicit task */
};
static __thread struct inside insides[REGION_MAX_NESTED];

static uintptr_t load(const _Atomic uintptr_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed); /* this thread wrote it */
}

static bool is_ours(uintptr_t pc)
{
	return pc >= (uintptr_t)us.dlfo_map_start && pc < (uintptr_t)us.dlfo_map_end;
}

/*
 * The address that libomp before 12 names may be that of an earlier call, so any code will do if
 * the two agreed once. Relaxed: nothing else hangs on the flag.
 */
static bool is_return_address(uintptr_t word, uintptr_t call)
{
	struct dl_find_object caller;
	if (word == call && !atomic_load_explicit(&is_frame_pointer, memory_order_relaxed))
		atomic_store_explicit(&is_frame_pointer, true, memory_order_relaxed);
	return word == call || (atomic_load_explicit(&is_frame_pointer, memory_order_relaxed) &&
				find_object((void *)word, &caller) == 0);
}

/*
 * `enter` is the frame pointer of the run time's function that the program called. The word above
 * it must be its return address; we check that, in case `enter` means something else. We know only
 * these three registers, and unwinding from a call needs no others.
 */
static bool find_caller(uintptr_t enter, uintptr_t call, struct unwind_regs *regs)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0), *frame = (uintptr_t *)enter;
	if (enter - here >= RUN_TIME_STACK_BYTES || enter % sizeof *frame || !call ||
	    !is_return_address(frame[1], call))
		return false;
	*regs = (struct unwind_regs){0};
	regs->reg[MACHINE_BP] = frame[0];
	regs->reg[MACHINE_SP] = (uintptr_t)(frame + 2);
	regs->reg[MACHINE_PC] = frame[1] - 1;
	return true;
}

/*
 * When a task forks a region of one thread inside, the run time moves the record of the task. So we
 * keep its place here. The stack of the task does not change meanwhile.
 */
static void keep_place(struct region_thread *t)
{
	const uint32_t n = atomic_load_explicit(&t->n_entries, memory_order_relaxed);
	struct region_entry *e = n ? &t->entry[n - 1] : NULL;
	const uintptr_t place = e && e->place_at ? load(e->place_at) : 0;
	if (!place)
		return;
	e->place = place;
	atomic_signal_fence(memory_order_seq_cst); /* a sample sees either of them */
	e->place_at = NULL;
}

/*
 * A region that the program runs itself (`if (0)`) needs no descriptor, and its place on the stack
 * would be in a frame of the run time that has returned. A region that our hook of GOMP_parallel
 * forks already has one.
 */
static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			      unsigned n_threads, int flags, const void *call)
{
	struct region_thread *t = runtime_regions();
	struct unwind_regs regs;
	(void)task;
	(void)n_threads;
	parallel->ptr = NULL;
	if (!t || (flags & ompt_parallel_invoker_program) || !frame ||
	    !find_caller(load(&frame->enter_frame), (uintptr_t)call, &regs) ||
	    is_ours(regs.reg[MACHINE_PC]))
		return;
	const struct region_fork fork = {.place = regs.reg[MACHINE_SP],
					 .call = regs.reg[MACHINE_PC]};
	keep_place(t);
	parallel->ptr = region_fork(t, &fork, &regs, runtime_is_counting());
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *call)
{
	struct region_thread *t = runtime_regions();
	(void)task;
	(void)flags;
	(void)call;
	if (t && parallel->ptr)
		region_join(t, parallel->ptr);
	parallel->ptr = NULL;
}

/* From now on the run time may free the record of the task at any time. */
static void leave(struct inside *in)
{
	struct region_thread *t = runtime_regions();
	region_leave(t, &in->visit);
	in->visit.region = NULL;
	if (t && in->visit.entry < atomic_load_explicit(&t->n_entries, memory_order_relaxed))
		t->entry[in->visit.entry].place_at = NULL;
}

/* Returns NULL if the task is in no region, or already at the end of its region. */
static struct inside *find_inside(const ompt_data_t *task)
{
	const uint64_t index = task ? task->value - 1 : UINT64_MAX;
	return index < REGION_MAX_NESTED && insides[index].visit.region ? &insides[index] : NULL;
}

static void enter(struct region *r, ompt_data_t *task, unsigned n_threads, unsigned number)
{
	struct region_thread *t = runtime_regions();
	struct region_visit visit;
	ompt_data_t *current = NULL, *parallel;
	ompt_frame_t *frame = NULL;
	int task_flags, thread_number;
	if (get_task_info(0, &task_flags, &current, &frame, &parallel, &thread_number) == 0 ||
	    current != task || !frame)
		return;
	if (t && r->origin.owner != t) /* a worker enters from its outermost frame */
		atomic_store_explicit(&t->n_entries, 0, memory_order_relaxed);
	region_enter(t, r, 0, &frame->exit_frame, number, n_threads, &visit);
	const uint32_t index = t ? visit.entry : 0;
	if (index >= REGION_MAX_NESTED)
		return;
	insides[index] = (struct inside){visit, &frame->exit_frame};
	task->value = index + 1;
}

/* A worker hears of the end of its task only when its next task begins; see on_sync_region. */
static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			     ompt_data_t *task, unsigned n_threads, unsigned number, int flags)
{
	struct inside *in;
	(void)flags;
	if (endpoint == ompt_scope_begin) {
		task->value = 0;
		if (parallel && parallel->ptr)
			enter(parallel->ptr, task, n_threads, number);
	} else if ((in = find_inside(task))) {
		leave(in);
	}
}

/*
 * An implicit task that reaches a barrier after the region's function has returned is at the end of
 * the region. We ignore the kind of the barrier, which differs between versions of libomp.
 */
static void on_sync_region(int kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			   ompt_data_t *task, const void *call)
{
	(void)kind;
	(void)parallel;
	(void)call;
	struct inside *in = endpoint == ompt_scope_begin ? find_inside(task) : NULL;
	if (in && !load(in->exit_frame))
		leave(in);
}

static const struct {
	int event;
	ompt_callback_t *function;
} callbacks[] = {
	{ompt_callback_parallel_begin, (ompt_callback_t *)on_parallel_begin},
	{ompt_callback_parallel_end, (ompt_callback_t *)on_parallel_end},
	{ompt_callback_implicit_task, (ompt_callback_t *)on_implicit_task},
	{ompt_callback_sync_region, (ompt_callback_t *)on_sync_region},
};

bool ompt_region_start(ompt_function_lookup_t *lookup)
{
	ompt_set_callback_t *set = (ompt_set_callback_t *)lookup("ompt_set_callback");
	get_task_info = (ompt_get_task_info_t *)lookup("ompt_get_task_info");
	if (!set || !get_task_info || find_object((void *)ompt_region_start, &us) != 0)
		return false;
	atomic_store_explicit(&is_frame_pointer, false, memory_order_relaxed); /* no team yet */
	bool has_all = true;
	for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
		has_all &= set(callbacks[i].event, callbacks[i].function) == ompt_set_always;
	for (size_t i = 0; !has_all && i < sizeof callbacks / sizeof *callbacks; i++)
		set(callbacks[i].event, NULL);
	return has_all;
}
