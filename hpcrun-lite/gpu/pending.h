/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which (thread, node) a launch in flight has, for back ends whose operations come back with nothing but an id, and only while operations are summed up: launch
 * records carry the rest of the time. Also which launches were lost, so that their operations are not taken for strays. A table of a fixed size with the id's low bits as the place; who finds no place puts out an old entry, which then
 * is a counted loss. An entry whose operation has come stays until its place is needed: PC samples of the launch may come behind. Test: tests/unit/test_gpu_core.c.
 */
#ifndef HPCRUN_LITE_GPU_PENDING_H
#define HPCRUN_LITE_GPU_PENDING_H

#include "common/format/measurement_gpu.h"
#include "common/safe/trylock.h"

#include <stdbool.h>
#include <stdint.h>

#define PENDING_SLOTS (1u << 19) /* 8 MiB; touched as far as used */

struct pending_launch {
	uint64_t id;            /* 0: none */
	uint32_t thread, node;
	enum msr_gpu_kind kind; /* GRAPH: stays when it was found, for it has several ops; NO_KIND: the launch itself was lost, its ops are to be dropped */
};

/* All zero: empty. */
struct pending {
	trylock lock;
	_Atomic(struct pending_slot *) slot; /* made at the first need, under the lock */
	uint64_t first_id;      /* the lowest that was put in */
	bool has_put_out;       /* some entry had no place */
};

enum pending_found {
	PENDING_FOUND,
	PENDING_GONE,    /* it was put out, or lost at its launch, which was counted then */
	PENDING_BUSY,    /* the table's lock could not be had */
	PENDING_RECORDED /* it has a launch record, from before operations were summed up */
};

/* False: not remembered, with the cause. *n_out: entries put out that waited for their op. */
bool pending_add(struct pending *p, const struct pending_launch *l, unsigned *n_out, enum msr_gpu_loss *cause);

/* False: nothing was ever put in. Without the lock: of what the calling thread does not know yet, it cannot hold an id. */
bool pending_is_used(const struct pending *p);

enum pending_found pending_take(struct pending *p, uint64_t id, struct pending_launch *l);
/* The same for what comes beside the operation, or behind it. */
enum pending_found pending_look(struct pending *p, uint64_t id, struct pending_launch *l);

/* In the child of fork. */
void pending_clear(struct pending *p);

#endif
