/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sample sources of one thread. sources.c chooses the sources of the process. Test:
 * tests/cli/run/run_threads.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_THREAD_SOURCES_H
#define HPCRUN_LITE_RUNTIME_THREAD_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#define THREAD_MAX_SOURCES 5u

struct thread;

/* A part of struct thread. */
struct thread_sources {
	void *state[THREAD_MAX_SOURCES]; /* each source's state, in the block of the thread */
	bool is_on[THREAD_MAX_SOURCES];
};

/*
 * Places the states of the sources one after the other from `at` on; `at` is a multiple of 64.
 * Returns where the last one ends. Not signal-safe.
 */
size_t thread_sources_place(size_t at);
/* No source runs in the calling thread. */
void thread_sources_reset(struct thread *t);
/* In a forked child: the running sources belong to the parent. */
void thread_sources_forked(struct thread *t);

/* Start and stop the sources of the calling thread. Starting leaves RUNTIME_SIGNAL unblocked. */
void thread_sources_start(struct thread *t);
void thread_sources_stop(struct thread *t);

/* Lets the sources of the calling thread rest, or run again. Signal-safe. */
void thread_sources_rest(struct thread *t, bool rests);
/* The calling thread asks a GPU for work. Its samples are held back meanwhile. Signal-safe. */
void thread_sources_launch(struct thread *t);
/* Returns true if a source runs although process.off should have stopped it. Signal-safe. */
bool thread_is_armed(const struct thread *t);

#endif
