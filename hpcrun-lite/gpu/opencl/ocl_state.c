/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the process: its start, its renewal in a forked child, and its end. A child abandons
 * the parent's state, because its locks may be held and its handles belong to the parent. Test:
 * tests/unit/opencl/test_opencl_life.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"

#include "common/safe/sys.h"

#include <errno.h>
#include <stdlib.h>

#define EXIT_WAIT_NS UINT64_C(2000000000)

_Atomic(struct ocl_state *) ocl_state_now;
__thread unsigned ocl_depth __attribute__((tls_model("initial-exec")));

static _Atomic(ocl_finish_fn *) finish; /* NULL: there was no queue yet */

static void finish_queues(struct ocl_state *s, uint64_t may_wait_ns, enum ocl_end_call end)
{
	ocl_finish_fn *fn = atomic_load_explicit(&finish, memory_order_relaxed);
	if (fn)
		fn(s, may_wait_ns, end);
}

/*
 * If the process ends inside a call of OpenCL, for example in a signal handler, OpenCL's locks may
 * be held, so we must not call it. Nothing is released, because that would use the program's
 * allocator.
 */
static void at_end(uint64_t may_wait_ns)
{
	struct ocl_state *s = atomic_load_explicit(&ocl_state_now, memory_order_acquire);
	if (!s || s->pid != sys_getpid())
		return;
	bool may_call =
		ocl_depth == 0 && !atomic_load_explicit(&s->after_exit, memory_order_relaxed);
	ocl_depth++;
	finish_queues(s, may_wait_ns, may_call ? OCL_MAY_ASK : OCL_MAY_NOT_CALL);
	ocl_slot_count();
	ocl_depth--;
}

/* exit() was called, or main returned, and the implementations still work. */
static void at_exit(void)
{
	struct ocl_state *s = atomic_load_explicit(&ocl_state_now, memory_order_acquire);
	if (!s || s->pid != sys_getpid() || ocl_depth ||
	    atomic_exchange_explicit(&s->after_exit, true, memory_order_relaxed))
		return;
	ocl_depth++;
	finish_queues(s, EXIT_WAIT_NS, OCL_MAY_RELEASE);
	ocl_depth--;
}

void ocl_state_register_exit(struct ocl_state *s, ocl_finish_fn *fn)
{
	/* relaxed: the value is always the same */
	atomic_store_explicit(&finish, fn, memory_order_relaxed);
	/* relaxed: one more exit handler does no harm */
	if (atomic_load_explicit(&s->exits_registered, memory_order_relaxed) < 2 &&
	    atomic_fetch_add_explicit(&s->exits_registered, 1, memory_order_relaxed) < 2)
		atexit(at_exit);
}

static struct ocl_state *state_new(uint32_t generation)
{
	struct ocl_state *s = ocl_memory_map(sizeof *s);
	if (!s)
		return NULL;
	s->generation = generation;
	s->pid = sys_getpid();
	ocl_memory_init(&s->memory);
	pthread_mutex_init(&s->define, NULL);
	struct ocl_map *const maps[] = {&s->devices, &s->contexts, &s->queues, &s->programs,
					&s->kernels, &s->buffers,  &s->mapped};
	for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
		ocl_map_init(maps[i]);
	s->svm = ocl_svm_new(&s->memory);
	if (!s->svm) {
		ocl_memory_unmap(s, sizeof *s);
		return NULL;
	}
	return s;
}

/* If two threads do this at once, one wins, and the other frees its state. */
static struct ocl_state *renew(struct ocl_state *old, uint32_t generation)
{
	struct ocl_state *s = state_new(generation);
	if (!s)
		return NULL;
	/* release: a thread that sees the state sees its content */
	if (!atomic_compare_exchange_strong_explicit(&ocl_state_now, &old, s, memory_order_acq_rel,
						     memory_order_acquire)) {
		ocl_memory_unmap(s, sizeof *s);
		return old && old->generation == generation ? old : NULL;
	}
	ocl_host->at_end(ocl_host, at_end);
	return s;
}

struct ocl_state *ocl_state_slow(const void *caller)
{
	int saved = errno;
	if (atomic_load_explicit(&ocl_entrance, memory_order_acquire) == OCL_NOT_IN)
		ocl_preload_start();
	int entrance = atomic_load_explicit(&ocl_entrance, memory_order_acquire);
	struct ocl_state *s = atomic_load_explicit(&ocl_state_now, memory_order_acquire);
	uint32_t generation = ocl_host && entrance != OCL_SHUT ? ocl_host->generation(ocl_host) : 0;
	if (entrance == OCL_PRELOAD && ocl_preload_is_inner(caller))
		s = NULL;
	else if (generation == 0)
		s = s && s->pid == sys_getpid()
			    ? s
			    : NULL; /* after the end the queues are still valid */
	else if (!s || s->generation != generation)
		s = renew(s, generation);
	errno = saved;
	return s;
}
