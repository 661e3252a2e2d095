/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the parts of hpcprof-lite that share one job: the ranks of an MPI program, or
 * threads of one process in tests. All parts call these functions in the same order. Only one
 * thread of a part may call them. A transport that fails ends all parts. Test:
 * tests/unit/prof_parts/test_comm.c.
 */
#ifndef HPCPROF_PARTS_COMM_H
#define HPCPROF_PARTS_COMM_H

#include "common/base/status.h"

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
};

/* All parts get the largest `value` of all. */
int64_t comm_max(const struct comm *c, int64_t value);
/* All parts get a failure if one of them has one. */
enum status comm_agree(const struct comm *c, enum status s);

#endif
