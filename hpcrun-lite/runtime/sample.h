/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a signal to a recorded sample: the only code that runs in our handler. Tests: tests/cli/run_*.sh, tests/bench/bench_sample.c.
 */
#ifndef HPCRUN_LITE_RUNTIME_SAMPLE_H
#define HPCRUN_LITE_RUNTIME_SAMPLE_H

#include "hpcrun-lite/runtime/thread.h"
#include "hpcrun-lite/source/source.h"

#include <stdbool.h>

/* Installs the handler of RUNTIME_SIGNAL Not signal-safe. */
bool sample_install(void);

/* For struct source_host: a sample from a source with a handler of its own. */
void sample_from_source(const struct source_expiry *expiry, void *ucontext);

/* ---- the tool's own code outside of handlers ------------------------------------------------------------------- */

enum sample_hold {
	SAMPLE_HELD,
	SAMPLE_NESTED, /* the thread is inside already: a signal handler of the program interrupted it there */
	SAMPLE_ENDED   /* measurement has ended */
};

/*
 * From here to sample_release, which must follow on SAMPLE_HELD, the calling thread may write its tree: samples that arrive are held back and lose nothing but their place. A
 * longjmp out of it (from a signal handler of the program) is noticed at the next sample or hold. Not from signal handlers.
 */
enum sample_hold sample_hold(struct thread *t);

/* Walks the stack from here, without frames of this library. sample_hold is in force. What is walked must be inserted into the tree, or cct_forget_path called. */
void sample_walk_here(struct thread *t, struct unwind_path *walked);

/*
 * The node of the path that was walked last, without its n_inner innermost frames and with Python's frames, made if need be. at_call: the walk was sample_walk_here, not one from a signal.
 * False: *cause says why there is none.
 */
bool sample_insert(struct thread *t, const struct unwind_path *walked, uint32_t n_inner, bool at_call, uint32_t *node, enum msr_loss *cause);

/* Where the samples that were held back belong: the path's node, or why there is none. */
struct sample_place {
	bool has_node;
	uint32_t node;
	enum msr_loss cause;
	const struct unwind_path *walked;
};
void sample_release(struct thread *t, const struct sample_place *place);

/* Around code of others in which no sample shall be taken: what arrives is recorded at the outermost sample_unkeep, with the path it is called from. */
void sample_keep(struct thread *t);
void sample_unkeep(struct thread *t);

/*
 * The calling thread follows process.off, where it is not inside the tool just now; else it does so when it comes out. From outside of our handler. Keeps errno.
 */
void sample_follow(struct thread *t);
/* The same, where there is something to follow: it was inside the tool meanwhile. */
void sample_catch_up(struct thread *t);

/* The thread ends: what is still held back is counted as lost. */
void sample_drop_held(struct thread *t);

/*
 * What handlers cost, by the CPU clock of the calling thread, measured on every `every`-th turn (a power of two) by the caller's count of turns: begin says whether this turn is
 * measured; end gives the ns to add for all turns since.
 */
uint64_t sample_begin_cost(const struct thread *t, uint32_t *n_turns, uint32_t every);
uint64_t sample_end_cost(uint64_t begin, uint32_t every);

#endif
