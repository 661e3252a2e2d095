/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads: their state, from before the first user instruction to after the last. State lies in blocks of anonymous memory, one a thread, which are
 * used again when a thread has ended; no malloc. Tests: tests/cli/run_threads.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_THREAD_H
#define HPCRUN_LITE_RUNTIME_THREAD_H

#include "common/format/measurement.h"
#include "hpcrun-lite/cct/cct.h"
#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/runtime/runtime.h"
#include "hpcrun-lite/source/source.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define THREAD_MAX_SOURCES 4u
#define THREAD_MAX_HELD 16u

enum thread_state { THREAD_FREE, THREAD_ALIVE };

struct thread {
	struct thread *next_made;     /* all blocks there are; constant once linked */
	_Atomic uint32_t state;       /* enum thread_state */
	_Atomic uint32_t in_handler;  /* set by the thread itself while it is inside the tool */
	uint32_t suspended;
	uint32_t destructor_rounds;
	uint32_t n_long;              /* samples in a row that left the program too little time */
	uint64_t left_ns;             /* CLOCK_MONOTONIC: end of the last sample */
	uint32_t n_handled;           /* samples entered; see begin_cost() in sample.c */
	uint64_t cost_start_ns;       /* the thread's CPU clock when a sample whose cost is measured began, else 0 */
	uint64_t rest_until_ns;       /* CLOCK_MONOTONIC: no sample before; see leave() in sample.c */
	bool is_main;                 /* complete paths start at main */
	bool is_watcher;              /* the first thread of the process; see watch.h */
	_Atomic int tid;
	struct msr_thread *record;    /* in the file; NULL: not measured */
	/* NULL until the first sample or launch; see thread_make_tree(). */
	struct unwind_thread *unwind;
	struct cct *cct;
	struct python_thread *python;
	struct unwind_stack stack;
	void *source_state[THREAD_MAX_SOURCES];
	bool source_on[THREAD_MAX_SOURCES];
	_Atomic uint64_t cpu_given_ns; /* weights of CPUTIME recorded; other threads read it */
	_Atomic uint64_t cpu_asked_ns; /* its CPU clock when another thread last asked it to look at that */
	/* What it has followed of process.off; read by whoever ends the process. */
	_Atomic bool is_off;
	_Atomic uint64_t cpu_off_since_ns; /* its CPU clock then */
	_Atomic uint64_t cpu_off_ns;  /* of its CPU time, what passed while it was off before */
	_Atomic uint64_t carried[MSR_MAX_METRICS]; /* weights of samples lost as busy: for the next */
	uint64_t trace_ns;            /* time of the last trace record */
	/* Samples held back while the thread is inside a GPU callback or a back end's own code; see sample_hold(). */
	uint32_t holding;             /* nests */
	bool recording_held;
	uintptr_t hold_sp;            /* where the stack was when the thread was last taken inside */
	_Atomic uint32_t n_held;
	struct source_expiry held[THREAD_MAX_HELD];
	struct gpu_thread gpu;
};

/* The calling thread's, NULL when it is not measured. Signal-safe. */
extern __thread struct thread *thread_self;

/* Once a process: sizes, key. False with the cause. Not signal-safe. */
bool thread_start_process(const char **cause);

/*
 * Makes the tree of the calling thread and what is needed to walk its stack, where they are not there yet. A thread that
 * ends without a sample never pays for them. Signal-safe; the caller is inside the tool (in_handler), or alone.
 */
void thread_make_tree(struct thread *t);
static inline void thread_need_tree(struct thread *t)
{
	if (__builtin_expect(!t->cct, 0))
		thread_make_tree(t);
}

/* Measures the calling thread from now on. Counts MSR_LOSS_THREAD_SETUP when it cannot. `room` is of no use for the first thread. Not signal-safe, no malloc. */
void thread_begin(bool is_main, const struct thread_room *room);
/* The calling thread ends: its residue is written and its memory given back. */
void thread_end(void);

/* In the child of fork, after store_open: this thread goes on, as thread 0 of the new file; the others are no more. */
void thread_forked(void);

/* Writes the ends of all threads that live, as seen from outside; takes it back (an exec that failed). */
void thread_stamp_all(uint64_t now_ns);
void thread_unstamp_all(void);

/* True when no thread but the caller is inside the tool. */
bool thread_all_outside(void);

/* Stops and restarts the sources of the calling thread; starting leaves RUNTIME_SIGNAL unblocked. */
void thread_sources_start(struct thread *t);
void thread_sources_stop(struct thread *t);

/*
 * Stops or starts the sources of the calling thread as process.off asks. Signal-safe; RUNTIME_SIGNAL is blocked, and the tree is the caller's to write.
 */
void thread_follow(struct thread *t);
/* One of its sources still runs that process.off should have stopped. Signal-safe. */
bool thread_is_armed(const struct thread *t);
/* Sends RUNTIME_SIGNAL to all measured threads but the caller that do not stand as process.off says, so that they follow. Signal-safe. */
void thread_signal_others(void);
/* Sends it to one. Signal-safe. */
void thread_send(struct thread *t);
/* Asks the sources of one to look at its CPU clock; see watch.h. Signal-safe. */
void thread_ask(struct thread *t);
/* The first block of the list that next_made continues; NULL: there is none. Signal-safe. */
struct thread *thread_first(void);
/* A signal is one that makes threads follow. Signal-safe. */
bool thread_sent(const siginfo_t *info);

/* Sums over the threads that have ended and those that live, for the report. */
struct thread_totals {
	uint64_t n_threads, delivered, recorded, handler_ns, cpu_ns, cpu_off_ns, n_frames, n_marked;
	uint64_t losses[MSR_LOSS_ROOM];
	uint64_t path_ends[16];
};
void thread_sum(struct thread_totals *totals);
/* Adds one record. Signal-safe. */
void thread_add_record(struct thread_totals *totals, struct msr_thread *record);

#endif
