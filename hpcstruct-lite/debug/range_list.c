/* SPDX-License-Identifier: BSD-3-Clause */
/* Range lists; see range_list.h. Must not read outside the sections. Test:
 * tests/unit/struct/test_range_list.c. */
#include "hpcstruct-lite/debug/range_list.h"

#include "common/base/cursor.h"

#include <dwarf.h>

enum { RNGLISTS_HEADER_BYTES_32 = 12, RNGLISTS_HEADER_BYTES_64 = 20, ADDR_HEADER_BYTES = 8 };

static struct cursor cursor_at(const struct section_bytes *s, uint64_t offset)
{
	struct cursor c = {.failed = true};
	if (s->at) {
		c = cursor_make(s->at, s->n_bytes);
		cursor_seek(&c, offset);
	}
	return c;
}

bool range_list_find(const struct range_context *c, uint64_t index, uint64_t *offset)
{
	uint64_t base = c->rnglists_base;
	if (base == 0) /* not given: use the first table of the section */
		base = c->offset_bytes == 8 ? RNGLISTS_HEADER_BYTES_64 : RNGLISTS_HEADER_BYTES_32;
	if (index > c->rnglists.n_bytes)
		return false;
	struct cursor at = cursor_at(&c->rnglists, base + index * c->offset_bytes);
	*offset = base + (c->offset_bytes == 8 ? cursor_u64(&at) : cursor_u32(&at));
	return cursor_ok(&at);
}

/* Returns an address by its number. Sets *ok to false if there is none. */
static uint64_t address(const struct range_context *c, uint64_t index, bool *ok)
{
	struct cursor at = {.failed = true};
	if (index <= c->addr.n_bytes)
		at = cursor_at(&c->addr,
			       (c->addr_base ? c->addr_base : ADDR_HEADER_BYTES) + index * 8);
	uint64_t a = cursor_u64(&at);
	*ok = *ok && cursor_ok(&at);
	return a;
}

static enum range_result read_v4(const struct range_context *c, struct cursor *at,
				 bool (*emit)(void *, uint64_t, uint64_t), void *arg)
{
	uint64_t base = c->base;
	for (;;) {
		uint64_t start = cursor_u64(at), end = cursor_u64(at);
		if (!cursor_ok(at))
			return RANGE_DAMAGED;
		if (start == 0 && end == 0)
			return RANGE_OK;
		if (start == UINT64_MAX)
			base = end;
		else if (end > start && !emit(arg, base + start, base + end))
			return RANGE_STOPPED;
	}
}

static enum range_result read_v5(const struct range_context *c, struct cursor *at,
				 bool (*emit)(void *, uint64_t, uint64_t), void *arg)
{
	uint64_t base = c->base;
	for (;;) {
		uint64_t start = 0, end = 0;
		bool ok = true;
		switch (cursor_u8(at)) {
		case DW_RLE_end_of_list:
			return cursor_ok(at) ? RANGE_OK : RANGE_DAMAGED;
		case DW_RLE_base_addressx:
			base = address(c, cursor_uleb(at), &ok);
			break;
		case DW_RLE_startx_endx:
			start = address(c, cursor_uleb(at), &ok);
			end = address(c, cursor_uleb(at), &ok);
			break;
		case DW_RLE_startx_length:
			start = address(c, cursor_uleb(at), &ok);
			end = start + cursor_uleb(at);
			break;
		case DW_RLE_offset_pair:
			start = base + cursor_uleb(at);
			end = base + cursor_uleb(at);
			break;
		case DW_RLE_base_address:
			base = cursor_u64(at);
			break;
		case DW_RLE_start_end:
			start = cursor_u64(at);
			end = cursor_u64(at);
			break;
		case DW_RLE_start_length:
			start = cursor_u64(at);
			end = start + cursor_uleb(at);
			break;
		default:
			return RANGE_DAMAGED;
		}
		if (!ok || !cursor_ok(at))
			return RANGE_DAMAGED;
		if (end > start && !emit(arg, start, end))
			return RANGE_STOPPED;
	}
}

enum range_result range_list_read(const struct range_context *c, uint64_t offset,
				  bool (*emit)(void *arg, uint64_t start, uint64_t end), void *arg,
				  uint64_t *where)
{
	struct cursor at = cursor_at(c->version < 5 ? &c->ranges : &c->rnglists, offset);
	enum range_result r = RANGE_DAMAGED;
	if (cursor_ok(&at))
		r = c->version < 5 ? read_v4(c, &at, emit, arg) : read_v5(c, &at, emit, arg);
	*where = at.at ? cursor_offset(&at) : offset;
	return r;
}
