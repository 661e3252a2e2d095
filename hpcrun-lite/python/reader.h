/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads from the interpreter's memory, either guarded or direct. Guarded loads are served from
 * memory that was fetched in this walk: pieces that will probably be needed, many with one system
 * call, and otherwise whole pages. Direct loads are for memory that the interpreter itself is about
 * to use, when no thread can free it, and for the part of the thread's own stack that has been in
 * use. From one walk to the next only addresses are kept, as hints where to read. Signal-safe.
 * Tests: tests/unit/run/test_python.c, tests/unit/run/test_python_ahead.c.
 */
#ifndef HPCRUN_LITE_PYTHON_READER_H
#define HPCRUN_LITE_PYTHON_READER_H

#include "common/safe/sys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

enum {
	READER_PAGES = 8,
	READER_PAGE_BYTES = 4096,
	READER_PIECES = 256,
	READER_BATCH_BYTES = 1 << 16,
	READER_RANGES = 64
};

/*
 * Pieces of memory that are fetched together and then searched in about the order in which they
 * were requested.
 */
struct reader_batch {
	uint32_t n, n_bytes; /* number of pieces, and their total size */
	uint32_t next;       /* where the search continues */
	struct iovec piece[READER_PIECES];
	uint32_t offset[READER_PIECES];
	uint8_t bytes[READER_BATCH_BYTES];
};

/* The addresses of the frames of a walk. Neighbours share a range. */
struct reader_range {
	uintptr_t lo, hi;
};

struct reader {
	bool direct;
	bool is_noting; /* loads are recorded in range[] */
	uintptr_t own_at;
	/* bytes of the thread's own stack from own_at up, which are read directly */
	size_t own_bytes;
	struct reader_batch *batch[2]; /* NULL: none */
	uint8_t next; /* the page to replace */
	uint32_t n_ranges;
	struct reader_range range[READER_RANGES];
	uintptr_t at[READER_PAGES]; /* 0: empty */
	uint8_t page[READER_PAGES][READER_PAGE_BYTES];
};

/*
 * Call at the start of a walk, because memory may have changed. [own_lo, own_hi) is the part of the
 * thread's own stack that stays mapped.
 */
static inline void reader_begin(struct reader *r, uintptr_t own_lo, uintptr_t own_hi)
{
	r->direct = r->is_noting = false;
	r->batch[0] = r->batch[1] = NULL;
	r->own_at = own_lo;
	r->own_bytes = own_hi - own_lo;
	memset(r->at, 0, sizeof r->at);
}

static inline void reader_clear(struct reader_batch *b)
{
	b->n = b->n_bytes = b->next = 0;
}

/* Returns true if there is room for n_pieces more, with n_bytes in all. */
static inline bool reader_has_room(const struct reader_batch *b, uint32_t n_pieces, size_t n_bytes)
{
	return b->n + n_pieces <= READER_PIECES && b->n_bytes + n_bytes <= READER_BATCH_BYTES;
}

/* Requests n bytes at `address`. There must be room for them. */
static inline void reader_want(struct reader_batch *b, uintptr_t address, size_t n)
{
	b->piece[b->n] = (struct iovec){(void *)address, n};
	b->offset[b->n++] = b->n_bytes;
	b->n_bytes += (uint32_t)n;
	for (size_t line = 0; line < n; line += 64)
		__builtin_prefetch((const void *)(address + line));
}

/*
 * Fetches the requested pieces. Leaves out unreadable ones, and all pieces after the fourth
 * unreadable one.
 */
void reader_fetch(struct reader_batch *b);

/*
 * Call these around guarded loads of a thread's state and frames, which are at or near the
 * addresses of the previous walk. Fetches those into b, and records the new addresses. The record
 * stays unchanged if another walk has no guarded loads of them.
 */
void reader_begin_frames(struct reader *r, struct reader_batch *b);
void reader_end_frames(struct reader *r);

/* Returns the n bytes at `address` in a batch, in place. NULL: no batch has them. */
const uint8_t *reader_fetched(struct reader *r, uintptr_t address, size_t n);

/*
 * Copies any number of bytes from any address. Returns false if they cannot be read; dst is then
 * undefined.
 */
bool reader_copy(struct reader *r, void *dst, uintptr_t address, size_t n);

/*
 * Returns true if an object of the interpreter may be at the address: user memory, aligned like
 * malloc's.
 */
static inline bool reader_is_plausible(uintptr_t address)
{
	return address >= READER_PAGE_BYTES && address < UINT64_C(1) << MACHINE_ADDRESS_BITS &&
	       address % 8 == 0;
}

/*
 * Returns the n bytes at `address`, at most READER_PAGE_BYTES: in place if that is possible,
 * otherwise in a batch or in `copy`. Valid until batches are fetched again. NULL: they cannot be
 * read.
 */
static inline const uint8_t *reader_load(struct reader *r, void *copy, uintptr_t address, size_t n)
{
	if (!reader_is_plausible(address))
		return NULL;
	if (r->direct ||
	    (address - r->own_at < r->own_bytes && r->own_bytes - (address - r->own_at) >= n))
		return (const uint8_t *)address;
	const uint8_t *fetched = reader_fetched(r, address, n);
	return fetched ? fetched : reader_copy(r, copy, address, n) ? copy : NULL;
}

static inline uint64_t reader_word(const uint8_t *object, uint16_t offset)
{
	uint64_t word;
	memcpy(&word, object + offset, sizeof word);
	return word;
}

static inline uint32_t reader_half(const uint8_t *object, uint16_t offset)
{
	uint32_t half;
	memcpy(&half, object + offset, sizeof half);
	return half;
}

#endif
