/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps the id of a launch in flight to its thread and node. It serves back ends whose operations
 * return with only an id, and only while operations are summed up; before that, launch records have
 * this information. It also remembers lost launches, so that their operations do not count as
 * unknown. Test: tests/unit/gpu/test_gpu_core.c.
 *
 * The table has a fixed size, and the low bits of the id select the place. If no place is free, a
 * new entry replaces an old one, which is counted as lost. PC samples may arrive after the
 * operation, so an entry stays until its place is needed.
 */
#ifndef HPCRUN_LITE_GPU_PENDING_H
#define HPCRUN_LITE_GPU_PENDING_H

#include "common/format/measurement_gpu.h"
#include "common/safe/trylock.h"

#include <stdbool.h>
#include <stdint.h>

#define PENDING_SLOTS (1u << 19) /* 8 MiB; pages are touched as they are used */

struct pending_launch {
	uint64_t id;            /* 0: none */
	uint32_t thread, node;
	/*
	 * GRAPH: the entry stays when it is found, because a graph has several ops. NO_KIND: the
	 * launch itself was lost; drop its ops.
	 */
	enum msr_gpu_kind kind;
};

/* All zero: empty. */
struct pending {
	trylock lock;
	_Atomic bool is_dead; /* the lock was held for a second, so the holder will never return */
	_Atomic(struct pending_slot *) slot; /* made at first use, under the lock */
	uint64_t first_id;                   /* the lowest id ever added */
	bool has_put_out;                    /* some entry was replaced */
};

enum pending_found {
	PENDING_FOUND,
	PENDING_GONE,    /* replaced, or lost at its launch; already counted */
	PENDING_BUSY,    /* could not get the lock of the table */
	PENDING_RECORDED /* the launch has a record, written before operations were summed up */
};

/*
 * Returns false and sets *cause if the launch could not be added. *n_out is the number of replaced
 * entries whose op had not arrived.
 */
bool pending_add(struct pending *p, const struct pending_launch *l, unsigned *n_out,
		 enum msr_gpu_loss *cause);

/*
 * Returns false if nothing was ever added. Needs no lock: a thread that knows an id also sees the
 * entry that was added for it.
 */
bool pending_is_used(const struct pending *p);

enum pending_found pending_take(struct pending *p, uint64_t id, struct pending_launch *l);
/* The same, for data that comes with the operation or after it. The entry stays in flight. */
enum pending_found pending_look(struct pending *p, uint64_t id, struct pending_launch *l);

/* In a forked child. */
void pending_clear(struct pending *p);

#endif
