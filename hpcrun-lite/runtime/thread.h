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
	struct thread *next_made;     /* list of all blocks; constant once linked */
	_Atomic uint32_t state;       /* enum thread_state */
	_Atomic uint32_t in_handler;  /* the thread itself sets it while it is inside the tool */
	uint32_t suspended;
	uint32_t destructor_rounds;
	uint32_t n_long;    /* consecutive samples that left the program too little time */
	uint64_t left_ns;   /* CLOCK_MONOTONIC: end of the last sample */
	uint32_t n_handled; /* samples entered; see sample_begin_cost() in sample.h */
	/* the thread's CPU clock when a sample with measured cost began, else 0 */
	uint64_t cost_start_ns;
	/* CLOCK_MONOTONIC: no sample before this; see leave() in sample.c */
	uint64_t rest_until_ns;
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
	_Atomic uint64_t cpu_given_ns; /* recorded weights of CPUTIME; other threads read it */
	_Atomic uint64_t cpu_asked_ns; /* its CPU clock when another thread last asked it to look */
	/* How far it has followed process.off. Read by the thread that ends the process. */
	_Atomic bool is_off;
	_Atomic uint64_t cpu_off_since_ns; /* its CPU clock when it went off */
	_Atomic uint64_t cpu_off_ns;       /* its CPU time in earlier periods while it was off */
	/* weights of samples lost as busy, for the next sample */
	_Atomic uint64_t carried[MSR_MAX_METRICS];
	uint64_t trace_ns;            /* time of the last trace record */
	/*
	 * Samples held back while the thread is in a GPU callback or in code of a back end; see
	 * sample_hold().
	 */
	uint32_t holding;             /* nests */
	bool recording_held;
	uintptr_t hold_sp;            /* stack pointer when the thread last went inside */
	_Atomic uint32_t n_held;
	struct source_expiry held[THREAD_MAX_HELD];
	struct gpu_thread gpu;
};

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

/*
 * Measures the calling thread from now on. Counts MSR_LOSS_THREAD_SETUP on failure. The first
 * thread ignores `room`. Not signal-safe; no malloc.
 */
void thread_begin(bool is_main, const struct thread_room *room);
/* The calling thread ends: writes what is left and frees its memory. */
void thread_end(void);

/*
 * In a forked child, after store_open: this thread continues as thread 0 of the new file. The other
 * threads no longer exist.
 */
void thread_forked(void);

/*
 * Writes the end of every live thread, as seen from outside. unstamp undoes it after an exec that
 * failed.
 */
void thread_stamp_all(uint64_t now_ns);
void thread_unstamp_all(void);

/* Returns true if no thread except the caller is inside the tool. */
bool thread_all_outside(void);

/* Start and stop the sources of the calling thread. Starting leaves RUNTIME_SIGNAL unblocked. */
void thread_sources_start(struct thread *t);
void thread_sources_stop(struct thread *t);

/*
 * Stops or starts the sources of the calling thread as process.off demands. Signal-safe. The caller
 * has blocked RUNTIME_SIGNAL and may write the tree.
 */
void thread_follow(struct thread *t);
/* A source of the thread still runs although process.off should have stopped it. Signal-safe. */
bool thread_is_armed(const struct thread *t);
/*
 * Sends RUNTIME_SIGNAL to every other measured thread that has not followed process.off yet.
 * Signal-safe.
 */
void thread_signal_others(void);
/* Sends RUNTIME_SIGNAL to one thread. Signal-safe. */
void thread_send(struct thread *t);
/* Asks the sources of a thread to look at its CPU clock; see watch.h. Signal-safe. */
void thread_ask(struct thread *t);
/* The first block of the list linked by next_made; NULL if it is empty. Signal-safe. */
struct thread *thread_first(void);
/* Returns true if the signal is one from thread_send. Signal-safe. */
bool thread_sent(const siginfo_t *info);

/* Sums over ended and live threads, for the report. */
struct thread_totals {
	uint64_t n_threads, delivered, recorded, handler_ns, cpu_ns, cpu_off_ns, n_frames, n_marked;
	uint64_t losses[MSR_LOSS_ROOM];
	uint64_t path_ends[16];
};
void thread_sum(struct thread_totals *totals);
/* Adds one record. Signal-safe. */
void thread_add_record(struct thread_totals *totals, struct msr_thread *record);

#endif
