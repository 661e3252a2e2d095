/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model checker for memory orders. It runs two or three small threads that call the shipped code,
 * in every interleaving, and lets each load read every store that C11 allows it to read.
 *
 * The code is compiled with -fsanitize=thread, so that each access to memory calls a function
 * __tsan_*(). order_hooks.c has these functions instead of libtsan. Threads are contexts of one
 * thread of the system. Which thread goes on, which store a load reads, and where a store comes in
 * the modification order are choices, and a depth-first search tries all of them.
 *
 * The model is the one of views (Kang, Hur, Lahav, Vafeiadis, Dreyer: A promising semantics for
 * relaxed-memory concurrency, POPL 2017) without promises: the union of program order and
 * reads-from has no cycle, as in RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential
 * consistency in C/C++11, PLDI 2017). Release sequences are those of C++20: read-modify-writes
 * alone continue them. What the model does not show:
 * - load buffering: a load never reads a store that runs later
 * - sequentially consistent accesses are in one order, which is the order in which they run. RC11
 *   allows a little more
 * - a weak compare-and-swap does not fail without a reason
 * - the compiler changes the order of plain accesses between two calls, as it does in the program
 *
 * A data race is a fault, except in ranges for which order_may_race() was called: there a plain
 * access counts as relaxed accesses of its words. Two states with the same 64-bit hash are taken as
 * the same state.
 */
#ifndef TESTS_ORDER_ORDER_H
#define TESTS_ORDER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_THREADS_MOST 4

/* All functions must do the same each time if they read the same values. */
struct order_program {
	const char *name;
	/* The first NULL ends the list. */
	void (*thread[ORDER_THREADS_MOST + 1])(void);
	/* NULL, or called after all threads, when memory has the last value of each place. */
	void (*finish)(void);
};

struct order_result {
	const char *fault; /* NULL: none */
	uint64_t n_runs, n_states;
};

/* A place in the code whose memory order is stronger than relaxed. */
struct order_site {
	const char *function, *operation;
	int line;
	int order;
};

/*
 * Explores all runs until one has a fault. Memory that threads changed is as before afterwards. If
 * `weakened` is not NULL, the order there counts as relaxed.
 */
struct order_result order_explore(const struct order_program *p, const struct order_site *weakened);

/* Forgets races that may be. Call it between tests whose memory is not the same. */
void order_reset(void);
void order_may_race(const void *at, size_t n_bytes);

/* From threads and finish(): a result is wrong. `what` must stay. */
void order_fault(const char *what);
/* From a thread: this memory is unmapped. Whoever uses it later makes a fault. */
void order_unmap(const void *at, size_t n_bytes);

/* For the header order_names.h: names the operation that follows. */
void order_at(const char *function, int line, const char *operation);

/* An order that is not needed, with the reason. `i`: from 1 on, which one in that function. */
struct order_spare {
	const char *function;
	unsigned i;
	const char *why;
};
/*
 * Prints TAP: no program has a fault, and if any order in the code is weakened one has, except
 * those in `spare`. A program without a name ends the list, one without a function ends `spare`.
 */
void order_test(const struct order_program *p, const struct order_spare *spare);
void order_ok(bool is_ok, const char *what);
/* Prints the plan. Returns the exit status. */
int order_done(void);

#endif
