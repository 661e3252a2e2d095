/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Room in the measurement file for children of fork. Most of them end before they have recorded
 * much, and to make a file costs more than all else that we do in them. So the parent keeps some
 * slabs ready: extents of the kind MSR_PROCESS, mapped shared, and a child takes one for its header
 * page and its first extents. Signal-safe. Test: tests/unit/test_nursery.c.
 */
#ifndef HPCRUN_LITE_STORE_NURSERY_H
#define HPCRUN_LITE_STORE_NURSERY_H

#include "common/format/measurement.h"
#include "hpcrun-lite/store/file_space.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NURSERY_SLAB_BYTES 16384u /* an extent with its header; the content begins on a page */
#define NURSERY_LEAST_SLABS 4u
#define NURSERY_MOST_SLABS 64u

struct nursery {
	/*
	 * NULL: none. A page that ends in the first slab's header, then the slabs. Other threads may
	 * fork at any time: it is set after the mapping is made and cleared before it is taken away.
	 */
	_Atomic(uint8_t *) base;
	_Atomic uint32_t n_forks;  /* under way: their children may have a slab, so the mapping stays */
	uint64_t offset;   /* of base in the file */
	uint64_t n_bytes;  /* of the mapping */
	uint32_t n_slabs;
};

/*
 * Reserves slabs at `offset`, the end of the file: n_slabs, or as many as there is space for. Who
 * had a nursery before has given it up. The file then ends at offset + n_bytes.
 */
enum space_result nursery_add(struct nursery *n, struct space *space, uint64_t offset, uint32_t n_slabs);

/* Around a fork, in the parent. In the child there is none under way: it sets n_forks to 0. */
void nursery_fork_begins(struct nursery *n);
void nursery_fork_ends(struct nursery *n);

/* There are slabs that nobody has taken. */
bool nursery_has_room(const struct nursery *n);

/*
 * One for a child, by the process that made them or a descendant; NULL: none is left. Its content is
 * zero. A child that comes about begins it; where none does it is lost.
 */
struct msr_extent *nursery_take(const struct nursery *n);
void nursery_begin(struct msr_extent *slab);

/* The process that has taken the slab has moved to a file of its own. */
void nursery_abandon(struct msr_extent *slab);

/*
 * The process that made them ends: nobody takes one any more, and the pages of those that nobody
 * has taken go back to the file system. Returns where the last one that is in use ends in the file,
 * 0 when there is none: the file may be cut there.
 */
uint64_t nursery_close(struct nursery *n, struct space *space);

/*
 * The calling process has no use for them any more; children keep theirs. False: n_forks is more than
 * `n_own`, those of the calling thread, and so all stays as it is.
 */
bool nursery_give_up(struct nursery *n, uint32_t n_own);

#endif
