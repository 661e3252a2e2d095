/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads: their state, from before the first user instruction until after the last. The state of
 * each thread is a block of anonymous memory, which is reused when the thread has ended. No malloc.
 * Test: tests/cli/run/run_threads.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_THREAD_H
#define HPCRUN_LITE_RUNTIME_THREAD_H

#include "common/format/measurement.h"
#include "hpcrun-lite/cct/cct.h"
#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/regions/region_path.h"
#include "hpcrun-lite/regions/region_sums.h"
#include "hpcrun-lite/runtime/runtime.h"
#include "hpcrun-lite/runtime/sums/mpi_sums.h"
#include "hpcrun-lite/runtime/sums/nvtx_sums.h"
#include "hpcrun-lite/runtime/thread_off.h"
#include "hpcrun-lite/runtime/thread_parts.h"
#include "hpcrun-lite/runtime/thread_sources.h"
#include "hpcrun-lite/runtime/watch.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum thread_state { THREAD_FREE, THREAD_ALIVE };

/*
 * The file with a part's name declares and resets it. Members that every sample reads come first,
 * in few cache lines; `held` is for samples inside GPU calls, and `gpu` for launches.
 */
struct thread {
	struct thread *next_made;     /* list of all blocks; constant once linked */
	_Atomic uint32_t state;       /* enum thread_state */
	_Atomic uint32_t in_handler;  /* the thread itself sets it while it is inside the tool */
	struct msr_thread *record;    /* in the file; NULL: not measured */
	/* NULL until the first sample or launch; see thread_make_tree(). */
	struct unwind_thread *unwind;
	struct cct *cct;
	struct python_thread *python; /* also NULL while there is no interpreter */
	_Atomic int tid;
	uint32_t destructor_rounds;
	bool is_main;                 /* complete paths start at main */
	/* The object whose function the thread runs, if a dlclose can unload it; else NULL. */
	const struct link_map *map;
	uintptr_t code;               /* that function */
	_Atomic uint32_t may_lose_code; /* that object is being unloaded, or was; see unload.c */
	bool has_lent_stack;            /* see sample_entry_begin() */
	uintptr_t base;               /* where the thread's variables are */
	uintptr_t own_stack;          /* end of THREAD_OWN_STACK bytes for the handler */
	struct sample_thread sample;
	struct thread_off off;
	struct watch_thread watch;
	struct blame_thread blame;
	struct thread_sources sources;
	struct unwind_stack stack;
	struct sample_held held;
	struct gpu_thread gpu;
	struct region_thread regions;
	struct mpi_thread mpi;
	struct call_thread calls;
	struct nvtx_thread nvtx;
	struct memory_records *memory; /* memory_glue.c; NULL until the first sample */
};

/* Untouched unless the program's stack has little room. */
#define THREAD_OWN_STACK 65536u

/* The state of the calling thread; NULL if it is not measured. Signal-safe. */
extern __thread struct thread *thread_self;

/* Once per process: sizes, key. Returns false and sets *cause on failure. Not signal-safe. */
bool thread_start_process(const char **cause);

/*
 * Makes the tree and the unwind state of the calling thread if they do not exist yet, so that a
 * thread without samples never pays for them. Signal-safe. The caller is inside the tool
 * (in_handler), or is the only thread.
 */
void thread_make_tree(struct thread *t);
static inline void thread_need_tree(struct thread *t)
{
	if (__builtin_expect(!t->cct, 0))
		thread_make_tree(t);
}

/* The same for the state of Python's frames, once an interpreter is known. */
void thread_make_python(struct thread *t);
static inline void thread_need_python(struct thread *t)
{
	if (!t->python && python_is_there())
		thread_make_python(t);
}

/*
 * Measures the calling thread from now on. Counts MSR_LOSS_THREAD_SETUP on failure. The first
 * thread ignores `room`. Not signal-safe; no malloc.
 */
void thread_begin(bool is_main, const struct thread_room *room);
/*
 * Measures the calling thread from now on. We did not see it start, and will not see its end: see
 * thread_reap(). `joins`: its process was attached to, so libc and its descriptor are ours to use.
 * Then counts MSR_LOSS_THREAD_SETUP on failure. Called in our handler, with signals blocked.
 */
void thread_found(const ucontext_t *context, bool joins);
/*
 * In our handler, too; see attach.c: whether the signal asks the thread to join, what then happens,
 * and whether measurement ends and all threads are to leave.
 */
bool thread_is_join(const siginfo_t *info);
void thread_on_join(const siginfo_t *info, ucontext_t *context);
bool thread_may_leave(void);
/* `t`: the calling thread's block; NULL: it has none any more, because it left too late. */
void thread_leaves(struct thread *t, ucontext_t *context);
/* Does the work of thread_end() for a found thread that has ended. Signal-safe. */
void thread_reap(struct thread *t);
/* The calling thread ends: writes what is left and frees its memory. */
void thread_end(void);

/*
 * Before another measurement of the process, or the first one of a process whose parent was
 * attached to as it forked: no thread has joined yet.
 */
void thread_forget_all(void);
/*
 * In a forked child, after store_open: this thread continues as thread 0 of the new file. The other
 * threads no longer exist.
 */
void thread_forked(void);

/* Returns true if no thread except the caller is inside the tool. */
bool thread_all_outside(void);

/* Sends RUNTIME_SIGNAL to one thread. Signal-safe. */
void thread_send(struct thread *t);
/* Asks the sources of a thread to look at its CPU clock; see watch.h. Signal-safe. */
void thread_ask(struct thread *t);
/* The same for a thread without a block, which then calls thread_found(). Signal-safe. */
void thread_ask_stranger(int tid);
/* The number of blocks in use. Signal-safe. */
uint32_t thread_count_alive(void);
/* Signals a thread that it is blamed; see blame.h. Signal-safe. */
void thread_blame(struct thread *t);
/* Returns true if the signal is one from thread_send. Signal-safe. */
bool thread_sent(const siginfo_t *info);
/*
 * Returns true if one of our sources or another thread sent the signal for us, not the program.
 * Signal-safe.
 */
bool thread_is_expiry(const siginfo_t *info);

/*
 * thread_block.c: places the tree and the walks in a block from `at` on, once per process. Returns
 * false and sets *cause if there is no address space.
 */
bool thread_place_parts(size_t at, const char **cause);
/*
 * Returns a block that is now in use, or NULL. Its content is zero or left over from an earlier
 * thread.
 */
struct thread *thread_take_block(void);
/* Returns the memory of tree and walks to the kernel; another thread may take the block. */
void thread_give_block(struct thread *t);
/* The first block of the list linked by next_made; NULL if it is empty. Signal-safe. */
struct thread *thread_first(void);
/*
 * The record of a block; NULL if the block is not in use. Its thread may end at any time, but the
 * record stays mapped. Signal-safe.
 */
static inline struct msr_thread *thread_live_record(const struct thread *t)
{
	return atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_ALIVE ? t->record
										     : NULL;
}

#endif
