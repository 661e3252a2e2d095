/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Space in the measurement file for children of fork. Most children end before they record much,
 * and creating a file costs more than everything else that we do in them. So the parent keeps some
 * slabs ready. A slab is an extent of the kind MSR_PROCESS, mapped shared. A nursery has slabs of
 * one size: brief ones, which only record that a child lived, or ones with room for its header page
 * and its first extents. Signal-safe. Test: tests/unit/run/test_nursery.c.
 */
#ifndef HPCRUN_LITE_STORE_NURSERY_H
#define HPCRUN_LITE_STORE_NURSERY_H

#include "common/format/measurement.h"
#include "hpcrun-lite/store/file_space.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NURSERY_SLAB_BYTES 16384u /* an extent with its header; the content starts on a page */
#define NURSERY_BRIEF_BYTES 1536u /* of a brief one; the content starts at a multiple of 64 */
#define NURSERY_LEAST_BYTES 65536u /* of all slabs of a nursery */
#define NURSERY_MOST_BYTES (1u << 20)

struct nursery {
	/*
	 * NULL: no slabs. Points to a page that ends with the first slab's header; the slabs
	 * follow. Other threads may fork at any time. So we set it after we make the mapping, and
	 * clear it before we remove the mapping.
	 */
	_Atomic(uint8_t *) base;
	_Atomic bool is_closing; /* no slab can be taken; we are about to unmap them */
	/* forks in progress: their children may own a slab, so the mapping stays */
	_Atomic uint32_t n_forks;
	uint32_t slab_bytes; /* NURSERY_SLAB_BYTES or NURSERY_BRIEF_BYTES */
	uint64_t offset;   /* offset of base in the file */
	uint64_t n_bytes;  /* size of the mapping */
	uint32_t n_slabs;
	uint64_t next_bytes; /* size of all slabs, when they are added the next time */
};

/*
 * Reserves slabs of n->slab_bytes at `offset`, the end of the file. They take n_bytes, a multiple
 * of the page size, or as much as there is space for. The caller must have given up an earlier
 * nursery. The file then ends at offset + n->n_bytes.
 */
enum space_result nursery_add(struct nursery *n, struct space *space, uint64_t offset,
	uint64_t n_bytes);

/* Call these around a fork, in the parent. */
void nursery_fork_begins(struct nursery *n);
void nursery_fork_ends(struct nursery *n);

/*
 * Call this in the child, where no fork is in progress and no thread closes the nursery. If the
 * parent was closing the nursery, a child without a slab does not know whether the mapping still
 * exists. It leaves that mapping alone.
 */
void nursery_forked(struct nursery *n, bool has_slab);

/* Returns true if the address is in the mapping. */
bool nursery_has(const struct nursery *n, const void *address);

/* Returns true if some slabs are free and nobody was promised them. */
bool nursery_has_room(const struct nursery *n);

/*
 * Promises a slab to a child that may take one later. There are never more promises than slabs.
 * Returns false if none is left. nursery_break_promise() gives back a slab that nobody will take.
 */
bool nursery_promise(const struct nursery *n);
void nursery_break_promise(const struct nursery *n);

/*
 * nursery_take() returns a slab for a child, or NULL if none is left. The process that made the
 * slabs, or a descendant, calls it. The content of the slab is zero. The new child calls
 * nursery_begin(), and from then on readers see the slab. If the fork fails, the slab is lost.
 */
struct msr_extent *nursery_take(const struct nursery *n);
void nursery_begin(struct msr_extent *slab);

/* The process that took the slab has moved to another place. */
void nursery_abandon(struct msr_extent *slab);

/*
 * Closes the nursery when the process that made the slabs ends. After that, nobody can take a brief
 * slab or be promised another one. The pages of free slabs go back to the file system. Returns the
 * file offset where the last used slab ends, or 0 if there is no nursery. The file may be cut
 * there.
 */
uint64_t nursery_close(struct nursery *n, struct space *space);

/*
 * Unmaps the slabs in the calling process; children keep theirs. Returns false and changes nothing
 * if n_forks is more than `n_own`, the number of forks of the calling thread. One thread at a time.
 */
bool nursery_give_up(struct nursery *n, uint32_t n_own);

#endif
