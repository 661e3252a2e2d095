/* SPDX-License-Identifier: BSD-3-Clause */
/* See reader.h. Must not fault. Test: tests/unit/test_python.c. */
#include "hpcrun-lite/python/reader.h"

#include "common/safe/load.h"

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

void reader_fetch(struct reader_batch *b, size_t n_bytes)
{
	b->n = (uint32_t)load_guarded_many(b->bytes[0], READER_ITEM_BYTES, b->at, n_bytes, b->n);
	b->n_bytes = n_bytes;
	b->next = 0;
}

/* One of the next few items: some objects may not have been looked at. */
static bool load_from_batch(struct reader_batch *b, void *dst, uintptr_t address, size_t n)
{
	enum { AHEAD = 4 };
	for (uint32_t i = b ? b->next : 0; b && i < b->n && i < b->next + AHEAD; i++)
		if (address - b->at[i] < b->n_bytes && b->n_bytes - (address - b->at[i]) >= n) {
			memcpy(dst, b->bytes[i] + (address - b->at[i]), n);
			b->next = i;
			return true;
		}
	return false;
}

bool reader_load_guarded(struct reader *r, void *dst, uintptr_t address, size_t n)
{
	uintptr_t in_page = address % READER_PAGE_BYTES;
	if (load_from_batch(r->batch[0], dst, address, n) || load_from_batch(r->batch[1], dst, address, n))
		return true;
	if (n > READER_PAGE_BYTES - in_page)
		return load_guarded(dst, address, n) == n;
	const uint8_t *page = page_of(r, address - in_page);
	if (page)
		memcpy(dst, page + in_page, n);
	return page != NULL;
}
