/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a signal to a recorded sample. This is the only code that runs in our handler. Tests:
 * tests/cli/run/run_*.sh, tests/bench/bench_sample.c.
 */
#ifndef HPCRUN_LITE_RUNTIME_SAMPLE_H
#define HPCRUN_LITE_RUNTIME_SAMPLE_H

#include "common/format/measurement.h"
#include "hpcrun-lite/runtime/thread_parts.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* Resets both parts for a new thread. */
void sample_reset(struct thread *t);
/* At the start of the thread's record, also in a forked child. */
void sample_reset_record(struct thread *t);

/* Installs the handler of RUNTIME_SIGNAL. Not signal-safe. */
bool sample_install(bool is_split);
/*
 * Checks whether samples could still arrive, and writes a note if not. A direct system call of the
 * program bypasses the hooks and may have replaced the handler, or blocked the signal. `blocked` is
 * the thread's signal mask. Call it when a thread or the process ends. Signal-safe.
 */
void sample_check_signal(uint64_t blocked);

/* For struct source_host: takes a sample for a source that has its own handler. */
void sample_from_source(const struct source_expiry *expiry, void *ucontext);

/* ---- the tool's own code outside of handlers ---- */

enum sample_hold {
	SAMPLE_HELD,
	/* the thread is already inside: a signal handler of the program interrupted it there */
	SAMPLE_NESTED,
	SAMPLE_ENDED   /* measurement has ended */
};

/*
 * Between this call and sample_release, which must follow SAMPLE_HELD, the thread may write its
 * tree. Samples that arrive are held back; they lose only their exact place. If a longjmp (from a
 * signal handler of the program) leaves the code, the next sample or hold detects it. Not from
 * signal handlers.
 */
enum sample_hold sample_hold(struct thread *t);

/*
 * Walks the stack from here, without frames of this library. Requires sample_hold. Insert the path
 * into the tree, or call cct_forget_path.
 */
void sample_walk_here(struct thread *t, struct unwind_path *walked);

/*
 * Finds or makes the node of the path that was walked last, and returns it in *node. Leaves out the
 * n_inner innermost frames, and adds Python's frames, the path of the parallel region and the NVTX
 * range that the thread is in. Sets the end in *walked to the joined path's end. `at_call`: the
 * path is from sample_walk_here, not from a signal; then it may wait up to 1 s while another thread
 * makes the file grow. Returns false and sets *cause on failure.
 */
bool sample_insert(struct thread *t, struct unwind_path *walked, uint32_t n_inner, bool at_call,
		   uint32_t *node, enum msr_loss *cause);

/* Where to record samples that were held back: the node of the path, or why there is none. */
struct sample_place {
	bool has_node;
	uint32_t node;
	enum msr_loss cause;
	const struct unwind_path *walked;
};
/* Walks like sample_walk_here, inserts the path and fills *place. Blocks signals meanwhile. */
void sample_find_here(struct thread *t, struct unwind_path *walked, struct sample_place *place);
void sample_release(struct thread *t, const struct sample_place *place);
/* The same with the path of this call, which is found only if samples were held back. */
void sample_release_here(struct thread *t);

/*
 * Call these around foreign code that no sample may interrupt. Samples that arrive are recorded at
 * the outermost sample_unkeep, with the path of that call.
 */
void sample_keep(struct thread *t);
void sample_unkeep(struct thread *t);

/*
 * Makes the calling thread follow process.off now, or if it is inside the tool, when it leaves it.
 * Not from our handler. Keeps errno.
 */
void sample_follow(struct thread *t);
/* The same, but only if the thread could not follow because it was inside the tool. */
void sample_catch_up(struct thread *t);

/*
 * Call these around a call of the program in which we write data of this thread alone. *sp is the
 * stack pointer during the call, 0 outside. begin returns false if a handler of the program has
 * interrupted another call: then write nothing, count the loss, and do not call end. Sets *is_stale
 * if a jump has left the last call.
 */
bool sample_begin_call(const struct thread *t, uintptr_t *sp, bool *is_stale);
static inline void sample_end_call(uintptr_t *sp)
{
	atomic_signal_fence(memory_order_seq_cst);
	*sp = 0;
}

/* At the end of the thread: counts samples that are still held back as lost. */
void sample_drop_held(struct thread *t);

/*
 * Measures the cost of handlers with the CPU clock of the calling thread, on every `every`-th turn
 * (a power of two) of the caller's counter. begin returns 0 if this turn is not measured; end
 * returns the ns to add for all turns since the last measured one.
 */
uint64_t sample_begin_cost(const struct thread *t, uint32_t *n_turns, uint32_t every);
uint64_t sample_end_cost(uint64_t begin, uint32_t every);

/*
 * The same outside of our handler, where handlers of the program may run. On a measured turn
 * signals are blocked, or the time of those handlers would count `every` times.
 */
struct sample_cost {
	uint64_t begin, mask;
};
struct sample_cost sample_begin_call_cost(const struct thread *t, uint32_t *n_turns,
					  uint32_t every);
/* Adds it to the thread's record. */
void sample_end_call_cost(const struct thread *t, struct sample_cost cost, uint32_t every);

#endif
