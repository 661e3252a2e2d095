/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads from the interpreter's memory. Guarded ones go through copies of a few pages that last one walk, since frames and code objects lie close together; direct ones are for what the
 * interpreter itself is about to use, when nobody can free it. Signal-safe. Test: tests/unit/test_python.c.
 */
#ifndef HPCRUN_LITE_PYTHON_READER_H
#define HPCRUN_LITE_PYTHON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { READER_PAGES = 8, READER_PAGE_BYTES = 4096, READER_BATCH = 96, READER_ITEM_BYTES = 320 };

/* Small objects far from each other, fetched 16 by a system call: 0.15 us for each, where a page takes 0.5 us. They are loaded in the order in which they were asked for. */
struct reader_batch {
	uint32_t n, next;
	size_t n_bytes; /* of each */
	uintptr_t at[READER_BATCH];
	uint8_t bytes[READER_BATCH][READER_ITEM_BYTES];
};

struct reader {
	bool direct;
	struct reader_batch *batch[2]; /* NULL: none */
	uint8_t next; /* page to give up */
	uintptr_t at[READER_PAGES]; /* 0: nothing */
	uint8_t page[READER_PAGES][READER_PAGE_BYTES];
};

/* At the start of a walk: memory may have changed. */
static inline void reader_begin(struct reader *r)
{
	r->direct = false;
	r->batch[0] = r->batch[1] = NULL;
	memset(r->at, 0, sizeof r->at);
}

/* Fetches n_bytes, at most READER_ITEM_BYTES, of each of the b->n places b->at. Those behind one that cannot be read are left out. */
void reader_fetch(struct reader_batch *b, size_t n_bytes);

/* n bytes, at most READER_PAGE_BYTES. False: they cannot be read; dst is undefined then. */
bool reader_load_guarded(struct reader *r, void *dst, uintptr_t address, size_t n);

/* An object of the interpreter: user memory, aligned as malloc does. */
static inline bool reader_is_plausible(uintptr_t address)
{
	return address >= READER_PAGE_BYTES && address < UINT64_C(1) << 47 && address % 8 == 0;
}

/* The n bytes at `address`: in place where they may be read so, else a copy in `copy`. NULL: they cannot be read. */
static inline const uint8_t *reader_load(struct reader *r, void *copy, uintptr_t address, size_t n)
{
	if (!reader_is_plausible(address))
		return NULL;
	if (r->direct)
		return (const uint8_t *)address;
	return reader_load_guarded(r, copy, address, n) ? copy : NULL;
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
