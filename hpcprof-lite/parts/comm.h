/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the parts of hpcprof-lite that share one job: the ranks of an MPI program, or
 * threads of one process in tests. All parts call these functions in the same order. Only the
 * thread that began may call them. A transport that fails ends all parts. Test:
 * tests/unit/prof_parts/test_comm.c.
 */
#ifndef HPCPROF_PARTS_COMM_H
#define HPCPROF_PARTS_COMM_H

#include "common/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMM_NOBODY (-1)

/* A transport. */
struct comm_ops {
	/*
	 * Sends `out` to part `to` and gets `in` from part `from`, at the same time. Either may be
	 * COMM_NOBODY. Both parts know the numbers of bytes. Sleeps while it waits for long.
	 */
	void (*swap)(void *own, int to, const void *out, size_t n_out, int from, void *in,
		     size_t n_in);
};

struct comm {
	const struct comm_ops *ops;
	void *own; /* of the transport */
	int part, n_parts;
	int first;          /* part 0, as the transport counts */
	enum status failed; /* a part failed, and all know it */
};

/*
 * All parts but the first, as parts 0 and up of a group of their own, which has steps of its own
 * between those of all: see comm_agree_both(). Call it in the parts of the group.
 */
struct comm comm_others(const struct comm *c);

/* All parts get the largest `value` of all. */
int64_t comm_max(const struct comm *c, int64_t value);
/* True if all parts have the same `value`. */
bool comm_is_same(const struct comm *c, int64_t value);
/*
 * Ends a step: all parts get a failure if one of them has one. A part that fails does no more until
 * its next call, which ends the work of all: every later call returns the failure at once. Between
 * two calls, a part may fail only before the messages of the step.
 */
enum status comm_agree(struct comm *c, enum status s);
/*
 * Ends a step of a group, then one of all parts. A part that fails calls it at once, and the others
 * in its group learn of it at the next step of the group. group NULL: this part is in none. It may
 * be `all`, too.
 */
enum status comm_agree_both(struct comm *group, struct comm *all, enum status s);
/* As comm_agree(). If no part has failed, STATUS_DIFFERS unless all parts have the same `value`. */
enum status comm_agree_on(struct comm *c, enum status s, uint64_t value);
/* Part 0 sends, the others get. */
void comm_broadcast(const struct comm *c, void *bytes, size_t n);
/* All parts get the sums by index, which stop at UINT64_MAX. */
void comm_add(const struct comm *c, uint64_t *values, size_t n);
/* All parts get the largest values by index. */
void comm_most(const struct comm *c, int64_t *values, size_t n);
/* Cuts [0, n) into n_parts rows of about the same weight. first: n_parts + 1 numbers. */
void comm_cut(const struct comm *c, const uint64_t *weights, uint64_t n, uint64_t *first);
/*
 * Part i has the records first[i] .. first[i + 1] - 1 of an array that all parts have room for.
 * Then part 0 has all.
 */
void comm_gather(const struct comm *c, void *array, size_t record_bytes, const uint64_t *first);
/* The same, and then all parts have all. */
void comm_fill(const struct comm *c, void *array, size_t record_bytes, const uint64_t *first);
/*
 * All parts get one array of the `n` records of each, in the order of parts. Part i has records
 * first[i] .. first[i + 1] - 1; first: n_parts + 1 numbers. Ends a step; `first` NULL says that
 * the part failed. The caller frees the array. NULL: some part failed, or has no memory.
 */
void *comm_join(struct comm *c, const void *own, uint64_t n, size_t record_bytes, uint64_t *first);
/* Part `from` sends `out` to part `to`, which gets `in`. No others need to call it. */
void comm_pass(const struct comm *c, int from, int to, const void *out, void *in, size_t n);
/* Sends to the part `distance` further on, gets from the one so far back, in a ring. */
void comm_shift(const struct comm *c, int distance, const void *out, size_t n_out, void *in,
		size_t n_in);

#endif
