/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the run time, and at which events of a process or a thread each is called. The table
 * is in parts.c; nothing else names all parts. Tests: tests/cli/run/run_*.sh.
 *
 * Events of the start, of forks and of threads go through the rows from the first to the last. The
 * three marked "backwards" go from the last to the first, so a part may use those above it until
 * its own end. A part does nothing if the configuration does not ask for it. No part may fail: it
 * counts or notes what it cannot do, and the program continues.
 */
#ifndef HPCRUN_LITE_RUNTIME_LIFE_PARTS_H
#define HPCRUN_LITE_RUNTIME_LIFE_PARTS_H

#include "common/format/measurement.h"

#include <stdbool.h>

struct thread;
struct thread_room;

/* NULL: nothing to do. */
struct runtime_part {
	/* ---- start and fork ---- */

	/* The store is open. No source is chosen and no thread is measured. Not signal-safe. */
	void (*start)(void);
	/* The start was successful. The first thread is measured after this. Not signal-safe. */
	void (*measured)(void);
	/*
	 * In the child of a fork, with a new store. Only this thread exists, and no source of it
	 * runs. Other threads of the parent may have held locks, also in libc, so call only
	 * signal-safe functions. Each page that is written to is copied; see common/safe/forked.h.
	 */
	void (*forked)(void);

	/* ---- threads ---- */

	/*
	 * A record of `t` is about to begin: the thread starts, or is the one of a forked child.
	 * The block may have been used by an earlier thread. Signal-safe: see thread_found(). Add a
	 * new function to tests/lint/handlers.txt.
	 */
	void (*thread_reset)(struct thread *t);
	/* The calling thread begins: it has a record, and its stack is known. Signal-safe. */
	void (*thread_begins)(struct thread *t, const struct thread_room *room);
	/*
	 * `t`, the calling thread, ends. Its sources have stopped and all signals are blocked; its
	 * record and tree are still there, and thread_self is NULL. No malloc.
	 */
	void (*thread_ends)(struct thread *t);

	/* ---- the end of the process or of a program: signal-safe, but not in our handler ---- */

	/*
	 * Before anything has ended, in any thread, measured or not. May wait for a limited time.
	 * `may_return`: for an exec, which may fail.
	 */
	void (*before_end)(bool may_return);
	/*
	 * Backwards. Samples are no longer taken. Returns false if another thread may still be
	 * writing to the file.
	 */
	bool (*finish)(void);
	/* Backwards. Writes what is left into the file. The ends of threads are in it. */
	void (*write)(void);
	/* Backwards. Copies other files into the measurement. The end is in the file. */
	void (*copy)(void);
	/*
	 * Returns unused space of the thread that ends the process to the store. Parts further down
	 * in the table may still need some. MSR_EXIT_EXEC: the exec may fail, and the thread then
	 * continues.
	 */
	void (*trim)(struct thread *self, enum msr_exit_kind kind);
	/* After an exec that failed: undoes `finish`. Signal-safe. */
	void (*exec_failed)(void);
};

/* A constant, because a variable would be one more page that each forked child reads. */
enum { RUNTIME_N_PARTS = 19 };
extern const struct runtime_part runtime_parts[RUNTIME_N_PARTS];

/* EACH_PART(forked); EACH_PART(thread_ends, t); EACH_PART_BACKWARDS(write); */
#define EACH_PART(event_, ...) \
	do { \
		for (unsigned i_ = 0; i_ < RUNTIME_N_PARTS; i_++) \
			if (runtime_parts[i_].event_) \
				runtime_parts[i_].event_(__VA_ARGS__); \
	} while (0)
#define EACH_PART_BACKWARDS(event_, ...) \
	do { \
		for (unsigned i_ = RUNTIME_N_PARTS; i_-- > 0;) \
			if (runtime_parts[i_].event_) \
				runtime_parts[i_].event_(__VA_ARGS__); \
	} while (0)

#endif
