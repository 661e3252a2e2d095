/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel regions of OpenMP: which thread forked the region that a thread works in, and where.
 * The adapters (gomp_*.c, ompt_*.c) report when a thread forks, enters, leaves and joins.
 * region_path.c joins the paths of workers with the path of the thread that forked. These calls
 * take a few ns and no system call, lock or memory, except for the first fork of a thread at a
 * nesting level.
 *
 * A descriptor belongs to the thread that forks. Its memory is never unmapped and contains only
 * descriptors, so any thread may read it at any time. Its generation is odd while the region lives.
 * A read is valid if the generation was the same before and after it.
 *
 * A `place` is an address on the stack. It identifies the frame that contains it: a frame reaches
 * from its stack pointer to that of its caller. REGION_PLACE_OF_CALLER() gives one.
 *
 * `t` is the state of the calling thread. It is NULL if the thread is not measured; then we only
 * take its time. Not for signal handlers unless noted. See doc/openmp.md. Tests:
 * tests/unit/openmp/test_region.c, tests/cli/openmp/.
 */
#ifndef HPCRUN_LITE_REGIONS_REGION_H
#define HPCRUN_LITE_REGIONS_REGION_H

#include "common/safe/clock.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/regions/stack_marks.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	REGION_MAX_NESTED = 16,   /* regions that a thread is in at the same time */
	REGION_MAX_TIMED = 1024,  /* threads of a team whose time is taken */
};

/* The lowest place in the frame that called this function. */
#define REGION_PLACE_OF_CALLER() MACHINE_CFA()

enum region_state {
	REGION_IN_FUNCTION, /* the thread runs the function of the region */
	REGION_AT_END       /* the function has returned; the region may have ended since */
};

/* A region that a thread is in, or was in last. */
struct region_entry {
	struct region *region;
	uint64_t generation;      /* of the region when the thread entered it */
	uintptr_t place;          /* in the run time's frame that called the function */
	/* If not NULL, this word has the place (OMPT). It is 0 until the function runs. */
	const _Atomic uintptr_t *place_at;
	_Atomic uint32_t state;   /* enum region_state */
};

/* Time that one thread of the team spent in the function: a cache line. */
struct region_slot {
	_Alignas(64) _Atomic uint64_t generation; /* of the instance that ns belongs to */
	_Atomic uint64_t ns;
};

/* What the forking thread knows about a region. */
struct region_fork {
	uintptr_t place;    /* in the frame that called the run time */
	uintptr_t call;     /* run-time address of that call: the return address - 1 */
	uintptr_t function; /* run-time address of the outlined function; 0: not known */
	uint32_t schedule;  /* msr_omp_schedule() of its loop; 0: not known */
};

/* What the path of a worker needs from the thread that forked. */
struct region_origin {
	struct region_fork fork;
	struct unwind_regs regs;         /* of a frame inside fork.place */
	struct unwind_stack stack;
	struct python_place python;
	struct region_entry parent;      /* the region that it was in; parent.region NULL: none */
	const struct region_thread *owner;
};

/* A descriptor. The thread that forks writes it before the generation becomes odd. */
struct region {
	void *original[6];               /* for the adapter's use */
	_Atomic uint64_t generation;
	struct region_origin origin;
	uint64_t start_ns;
	bool is_counted;                 /* the instance goes into the sums */
	_Atomic uint32_t n_threads;      /* size of the team; 0 until thread 0 has entered */
	_Atomic uint32_t schedule;       /* of its loops so far; any thread of the team writes it */
	struct region_slot slot[REGION_MAX_TIMED];
};

struct region_sums;

/*
 * A part of struct thread. Only the thread writes it; its own signal handler may read it at any
 * time. The memory of descriptors stays with the block when the thread ends.
 */
struct region_thread {
	_Atomic uint32_t n_entries;      /* the last one is the innermost */
	_Atomic uint32_t n_forks;        /* levels in use: live regions of this thread */
	_Atomic bool is_worker;          /* it has entered regions that other threads forked */
	bool is_main;                    /* the thread that ran main */
	uintptr_t base;                  /* place outside the thread's function; 0: unknown */
	const struct unwind_stack *stack;
	struct region_entry entry[REGION_MAX_NESTED];
	struct region *level[REGION_MAX_NESTED];
	struct region_sums *sums;
	struct region_paths *paths;
	struct stack_marks marks;        /* set by others, and part of every path of the thread */
	bool was_joined;                 /* the last path was joined; see region_path.c */
	bool is_apart;                   /* the path should be joined, but cannot be */
	_Atomic uint64_t n_lost;         /* forks without a descriptor */
};

/* Call at the start of a thread. `base`: see above. Descriptors and generations stay. */
void region_reset(struct region_thread *t, const struct unwind_stack *stack, uintptr_t base,
		  bool is_main);

/* A worker's paths may begin with those of other threads, so equal walks may give other paths. */
static inline bool region_is_worker(const struct region_thread *t)
{
	return atomic_load_explicit(&t->is_worker, memory_order_relaxed); /* its own word */
}

/*
 * The calling thread forks. `regs` are those of a frame inside fork->place (unwind_here). The
 * adapter takes regs itself, so that their frame lives as long as the region. If a longjmp left a
 * region, against the rules of OpenMP, the thread counts as being in it until a fork at its place
 * or further out. If there is no level or no memory, returns NULL and counts that; we then ignore
 * the region. `is_counted`: its times go into the sums. runtime_regions() gives `t` and
 * runtime_is_counting() gives `is_counted`.
 */
struct region *region_fork(struct region_thread *t, const struct region_fork *fork,
			   const struct unwind_regs *regs, bool is_counted);

/*
 * The region has ended and all its threads have left. Call it in the thread that forked. Adds the
 * region's times to the sums of the thread.
 */
void region_join(struct region_thread *t, struct region *r);

/* From enter to leave; on the stack, or in the adapter's data of the thread. */
struct region_visit {
	struct region *region;
	uint64_t generation, start_ns;
	uint32_t entry;     /* its index; UINT32_MAX: none */
	uint32_t number;    /* of the thread in the team */
};

/*
 * The calling thread is about to run the function of a live region. `number` is its number in the
 * team of n_threads. The thread that forked calls it too.
 *
 * The walk of a sample leaves out the frame that contains `place` and everything outside it. This
 * is the run time's frame that called the function (GOMP), or the run time's last frame (OMPT:
 * exit_frame). Give either place or place_at.
 */
void region_enter(struct region_thread *t, struct region *r, uintptr_t place,
		  const _Atomic uintptr_t *place_at, uint32_t number, uint32_t n_threads,
		  struct region_visit *visit);

/*
 * The function has returned. Until the join the thread is at the end of the region. Its entry stays
 * until it enters another region at this place, or, in the thread that forked, until the join.
 */
void region_leave(struct region_thread *t, const struct region_visit *visit);

/*
 * The thread is no longer at the end of the region: it is idle, or back where it was before. For
 * run times that report this (OMPT: implicit-task-end). With others we see it when the region ends.
 */
void region_exit(struct region_thread *t, const struct region_visit *visit);

/* The calling thread begins a loop in its current region. `schedule`: see msr_omp_schedule(). */
void region_note_loop(struct region_thread *t, uint32_t schedule);

/* Call after a dlclose: the addresses of functions may now hold other code. */
void region_modules_changed(void);
/* How often that happened. */
uint32_t region_n_closes(void);

#endif
