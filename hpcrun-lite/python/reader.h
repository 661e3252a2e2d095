/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads from the interpreter's memory. Guarded ones are served from what was fetched in this walk:
 * pieces that are likely to be needed, many by one system call, and else whole pages. Direct ones
 * are for what the interpreter itself is about to use, when nobody can free it, and for the part of
 * the thread's own stack that has been in use. Nothing that was read is kept from one walk to the
 * next but places: where to look. Signal-safe. Tests: tests/unit/run/test_python.c,
 * tests/unit/run/test_python_ahead.c.
 */
#ifndef HPCRUN_LITE_PYTHON_READER_H
#define HPCRUN_LITE_PYTHON_READER_H

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

/* Pieces of memory that are fetched together, and then looked for about in the order in which they
 * were asked for. */
struct reader_batch {
	uint32_t n, n_bytes; /* pieces, and all of theirs */
	uint32_t next;       /* where the search goes on */
	struct iovec piece[READER_PIECES];
	uint32_t offset[READER_PIECES];
	uint8_t bytes[READER_BATCH_BYTES];
};

/* Where the frames of a walk lay; neighbours are one range. */
struct reader_range {
	uintptr_t lo, hi;
};

struct reader {
	bool direct;
	bool is_noting; /* loads go into range[] */
	uintptr_t own_at;
	size_t own_bytes; /* of the thread's own stack, from own_at up: can be read as they are */
	struct reader_batch *batch[2]; /* NULL: none */
	uint8_t next; /* page to give up */
	uint32_t n_ranges;
	struct reader_range range[READER_RANGES];
	uintptr_t at[READER_PAGES]; /* 0: nothing */
	uint8_t page[READER_PAGES][READER_PAGE_BYTES];
};

/* At the start of a walk: memory may have changed. [own_lo, own_hi): of the thread's own stack,
 * mapped and to stay so. */
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

/* Whether n_pieces more, of n_bytes in all, can be asked for. */
static inline bool reader_has_room(const struct reader_batch *b, uint32_t n_pieces, size_t n_bytes)
{
	return b->n + n_pieces <= READER_PIECES && b->n_bytes + n_bytes <= READER_BATCH_BYTES;
}

/* Asks for n bytes at `address`; there is room for them. */
static inline void reader_want(struct reader_batch *b, uintptr_t address, size_t n)
{
	b->piece[b->n] = (struct iovec){(void *)address, n};
	b->offset[b->n++] = b->n_bytes;
	b->n_bytes += (uint32_t)n;
	for (size_t line = 0; line < n; line += 64)
		__builtin_prefetch((const void *)(address + line));
}

/* Fetches what was asked for. What cannot be read is left out, and all behind the fourth such. */
void reader_fetch(struct reader_batch *b);

/*
 * Around the guarded loads of a thread's state and frames, which lie where those of the walk before
 * lay, or near: fetches from there into b, and takes note of where they lie now. What was noted
 * stays where another walk has no guarded loads of them.
 */
void reader_begin_frames(struct reader *r, struct reader_batch *b);
void reader_end_frames(struct reader *r);

/* The n bytes at `address` in a batch, in place; NULL: none has them. */
const uint8_t *reader_fetched(struct reader *r, uintptr_t address, size_t n);

/* Copies n bytes, any number of them, from any address. False: they cannot be read; dst is
 * undefined then. */
bool reader_copy(struct reader *r, void *dst, uintptr_t address, size_t n);

/* An object of the interpreter: user memory, aligned as malloc does. */
static inline bool reader_is_plausible(uintptr_t address)
{
	return address >= READER_PAGE_BYTES && address < UINT64_C(1) << 47 && address % 8 == 0;
}

/* The n bytes at `address`, at most READER_PAGE_BYTES: in place where they may be read so, else in
 * a batch or in `copy`; valid until batches are fetched again. NULL: they cannot be read. */
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
