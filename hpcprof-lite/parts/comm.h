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
	 * COMM_NOBODY. Both parts know the numbers of bytes. Sleeps during a long wait.
	 */
	void (*swap)(void *own, int to, const void *out, size_t n_out, int from, void *in,
		     size_t n_in);
};

struct comm {
	const struct comm_ops *ops;
	void *own; /* of the transport */
	int part, n_parts;
	int first;          /* the transport's number of part 0 */
	enum status failed; /* a part failed, and all know it */
};

/*
 * Returns the group of all parts but the first, which become its parts 0 and up. The group has its
 * own steps between those of all parts: see comm_agree_both(). Only parts of the group call it.
 */
struct comm comm_others(const struct comm *c);

/* All parts get the largest `value` of all. */
int64_t comm_max(const struct comm *c, int64_t value);
/* True if all parts have the same `value`. */
bool comm_is_same(const struct comm *c, int64_t value);
/*
 * Ends a step: all parts get a failure if one of them has one. A part that fails does nothing more
 * before this call, which then ends the work of all parts: every later call returns the failure at
 * once. Between two calls, a part may fail only before the messages of the step.
 */
enum status comm_agree(struct comm *c, enum status s);
/*
 * Ends a step of a group, then one of all parts. A part that fails calls it at once, and the others
 * in its group learn of the failure at the next step of the group. `group` NULL: this part is in no
 * group. `group` may also be `all`.
 */
enum status comm_agree_both(struct comm *group, struct comm *all, enum status s);
/* As comm_agree(). If no part has failed, STATUS_DIFFERS unless all parts have the same `value`. */
enum status comm_agree_on(struct comm *c, enum status s, uint64_t value);
/* Part 0 sends, the others get. */
void comm_broadcast(const struct comm *c, void *bytes, size_t n);
/* All parts get the sum of each values[i] over all parts, at most UINT64_MAX. */
void comm_add(const struct comm *c, uint64_t *values, size_t n);
/* All parts get the largest of each values[i]. */
void comm_most(const struct comm *c, int64_t *values, size_t n);
/* Cuts [0, n) into n_parts ranges of about the same weight. Sets first[0 .. n_parts]. */
void comm_cut(const struct comm *c, const uint64_t *weights, uint64_t n, uint64_t *first);
/*
 * Before the call, part i has the records first[i] .. first[i + 1] - 1 of an array that all parts
 * have room for. After it, part 0 has all records.
 */
void comm_gather(const struct comm *c, void *array, size_t record_bytes, const uint64_t *first);
/* The same, but after it all parts have all records. */
void comm_fill(const struct comm *c, void *array, size_t record_bytes, const uint64_t *first);
/*
 * All parts get one array of the `n` records of each, in the order of parts. Part i has records
 * first[i] .. first[i + 1] - 1; first: n_parts + 1 numbers. Ends a step; `first` NULL says that
 * the part failed. The caller frees the array. NULL: some part failed, or has no memory.
 */
void *comm_join(struct comm *c, const void *own, uint64_t n, size_t record_bytes, uint64_t *first);
/* Part `from` sends `out` to part `to`, which gets `in`. Other parts need not call it. */
void comm_pass(const struct comm *c, int from, int to, const void *out, void *in, size_t n);
/* In a ring, sends to the part that is `distance` further on and gets from the part as far back. */
void comm_shift(const struct comm *c, int distance, const void *out, size_t n_out, void *in,
		size_t n_in);

#endif
