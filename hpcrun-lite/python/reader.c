/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads from the interpreter's memory; see reader.h. Must not fault. Tests:
 * tests/unit/run/test_python.c, tests/unit/run/test_python_ahead.c.
 */
#include "hpcrun-lite/python/reader.h"

#include "common/safe/load.h"

_Static_assert((int)READER_PIECES <= (int)LOAD_PIECES_MOST, "a batch is one system call");

/* ---- batches ---- */

void reader_fetch(struct reader_batch *b)
{
	enum { MOST_MISSES = 4 };
	uint32_t from = 0;
	for (unsigned n_misses = 0; from < b->n && n_misses < MOST_MISSES; n_misses++) {
		size_t got = load_gathered(b->bytes + b->offset[from], b->piece + from,
					   b->n - from),
		       whole = 0;
		while (from < b->n && (whole += b->piece[from].iov_len) <= got)
			from++;
		if (from < b->n)
			b->piece[from++].iov_len = 0;
	}
	b->n = from;
	b->next = 0;
}

/* Searches the next `most` pieces, because some may not have been used. */
static const uint8_t *find(struct reader_batch *b, uintptr_t address, size_t n, uint32_t most)
{
	for (uint32_t k = 0, i = b->next; k < most && k < b->n; k++, i++) {
		i = i < b->n ? i : 0;
		size_t in = address - (uintptr_t)b->piece[i].iov_base;
		if (in < b->piece[i].iov_len && b->piece[i].iov_len - in >= n) {
			b->next = i;
			return b->bytes + b->offset[i] + in;
		}
	}
	return NULL;
}

/* ---- ranges of frames ---- */

/*
 * Neighbouring frames are fetched together with the bytes between them. These are readable, because
 * they are in the same page as a frame, or between two such pages.
 */
static void note(struct reader *r, uintptr_t address, size_t n)
{
	enum { GAP = 512, MOST = 2 * READER_PAGE_BYTES };
	struct reader_range *last = r->n_ranges ? &r->range[r->n_ranges - 1] : NULL;
	if (last && address + n + GAP >= last->lo && address <= last->hi + GAP) {
		struct reader_range both = {address < last->lo ? address : last->lo,
					    address + n > last->hi ? address + n : last->hi};
		if (both.hi - both.lo <= MOST) {
			*last = both;
			return;
		}
	}
	if (r->n_ranges < READER_RANGES)
		r->range[r->n_ranges++] = (struct reader_range){address, address + n};
}

/* Fetches a little more after the innermost frame, which was met first: new frames are there. */
void reader_begin_frames(struct reader *r, struct reader_batch *b)
{
	enum { AHEAD = 512 };
	reader_clear(b);
	for (uint32_t i = 0; i < r->n_ranges; i++) {
		uintptr_t page_end = (r->range[i].hi - 1) / READER_PAGE_BYTES * READER_PAGE_BYTES +
				     READER_PAGE_BYTES;
		uintptr_t hi =
			page_end - r->range[i].hi < AHEAD ? page_end : r->range[i].hi + AHEAD;
		if (!reader_has_room(b, 1, hi - r->range[i].lo))
			break;
		reader_want(b, r->range[i].lo, hi - r->range[i].lo);
	}
	reader_fetch(b);
	r->batch[0] = b;
	r->n_ranges = 0;
	r->is_noting = true;
}

void reader_end_frames(struct reader *r)
{
	r->is_noting = false;
	r->batch[0] = NULL;
}

/* ---- loads ---- */

const uint8_t *reader_fetched(struct reader *r, uintptr_t address, size_t n)
{
	enum { AHEAD = 8 };
	const uint8_t *found = NULL;
	if (r->is_noting)
		note(r, address, n);
	for (unsigned i = 0; i < 2 && !found && r->batch[i]; i++)
		found = find(r->batch[i], address, n, r->is_noting ? READER_PIECES : AHEAD);
	return found;
}

static const uint8_t *page_of(struct reader *r, uintptr_t page)
{
	for (unsigned i = 0; i < READER_PAGES; i++)
		if (r->at[i] == page)
			return r->page[i];
	unsigned i = r->next++ % READER_PAGES;
	r->at[i] = 0;
	if (load_guarded(r->page[i], page, READER_PAGE_BYTES) != READER_PAGE_BYTES)
		return NULL;
	r->at[i] = page;
	return r->page[i];
}

bool reader_copy(struct reader *r, void *dst, uintptr_t address, size_t n)
{
	if (address + n < address)
		return false;
	for (size_t done = 0; done < n;) {
		uintptr_t at = address + done, in_page = at % READER_PAGE_BYTES;
		size_t part = READER_PAGE_BYTES - in_page < n - done ? READER_PAGE_BYTES - in_page
								     : n - done;
		const uint8_t *page = page_of(r, at - in_page);
		if (!page)
			return false;
		memcpy((uint8_t *)dst + done, page + in_page, part);
		done += part;
	}
	return true;
}
