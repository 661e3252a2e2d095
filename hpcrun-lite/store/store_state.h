/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the store and its chunks. Private to the store: others include store.h.
 *
 * A chunk is one mapping of a piece of the file. `next` is where its next extent goes; threads take
 * space by compare-and-swap. The pages before `touched` have been made present. Allocation works in
 * chunk `current`. If an extent does not fit, the rest becomes a free piece and `current` moves on.
 * Free pieces, including the tails that finished threads give back, are in a small table of slots,
 * which threads empty by exchange.
 */
#ifndef HPCRUN_LITE_STORE_STORE_STATE_H
#define HPCRUN_LITE_STORE_STORE_STATE_H

#include "common/safe/trylock.h"
#include "hpcrun-lite/store/file_space.h"
#include "hpcrun-lite/store/nursery.h"
#include "hpcrun-lite/store/store.h"

#include <stdatomic.h>

#define STORE_MAX_CHUNKS 8192u
#define STORE_N_PIECES 128u

struct chunk {
	uint8_t *base;
	uint64_t offset; /* of base in the file */
	uint64_t n_bytes;
	_Atomic uint64_t next;
	_Atomic uint64_t touched;
};

extern struct store {
	/*
	 * If the data are in a file of the node: the path in the directory, else "". Data that do
	 * not fit on the node go to its file, from the offset spill_from on; 0: nothing so far.
	 */
	char target[4352];
	char left[4352];         /* file of the node whose slab the process has left; "": none */
	struct space spill;
	struct space own_file;   /* while the process moves there from its slab */
	struct space space;
	/* A child of fork changes the rest, up to the first chunks, so it is in few pages. */
	uint64_t spill_from;
	struct msr_header *header;
	struct store_options options;
	/* The extent of an ancestor's file that the process uses; NULL: it has its own file. */
	struct msr_extent *slab;
	/*
	 * The slab is a brief one. Header and first extents are in private memory, `image`, until
	 * the process needs more than its thread's record: see store_need_room().
	 */
	bool is_brief;
	bool has_promise; /* of a slab of `nursery`, while the process is brief */
	/* NURSERY_SLAB_BYTES of zeros for the next child, if the process is not brief; or NULL */
	uint8_t *image;
	/* The process could not move when it had to. It may have threads now, so it never moves. */
	bool stays;
	/* for our children; the ancestor's while we use a slab */
	struct nursery nursery, briefs;
	uint64_t nurseries_end;  /* offset in the file where closed nurseries end */
	uint64_t file_bytes;     /* of our own file; changes under `growing` */
	_Atomic uint32_t n_chunks; /* stored with release after the chunk is complete */
	_Atomic uint32_t current;
	trylock growing, touching;
	_Atomic bool closed;
	_Atomic bool damaged;    /* by another process; see store_mend */
	bool sealed, cut;        /* set by store_finish, which then holds both locks */
	_Atomic bool was_full;
	_Atomic uint32_t last_failure; /* enum msr_loss of the last failed growth */
	_Atomic uint64_t retry_ns;     /* no growth before this moment */
	_Atomic uint64_t piece[STORE_N_PIECES]; /* file offset / 64 << 28 | bytes / 64; 0: empty */
	struct chunk chunk[STORE_MAX_CHUNKS];
} store;

/* The file that contains a given offset. */
static inline struct space *store_space_at(uint64_t offset)
{
	return store.spill_from && offset >= store.spill_from ? &store.spill : &store.space;
}

static inline uint64_t store_between(uint64_t least, uint64_t n, uint64_t most)
{
	return n < least ? least : n > most ? most : n;
}

static inline uint64_t store_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
