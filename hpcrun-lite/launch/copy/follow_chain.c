/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See follow_chain.h. Must not map the file, because its process may truncate it. Test:
 * tests/unit/run/test_follow.c.
 */
#include "hpcrun-lite/launch/copy/follow_chain.h"

#include "common/base/sorted.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)

/* Returns 1, 0 at the end of the file, or -1. */
static int read_at(int fd, void *to, size_t n, uint64_t at)
{
	ssize_t got;
	do
		got = pread(fd, to, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -1 : got == (ssize_t)n;
}

static bool push(struct follow_chain *c, uint64_t at, const void *bytes, uint32_t n_bytes)
{
	const size_t first = c->bytes.n;
	uint8_t *to = vec_extend(&c->bytes, n_bytes);
	struct follow_item *item = to ? vec_push(&c->items) : NULL;
	if (!item)
		return false;
	memcpy(to, bytes, n_bytes);
	*item = (struct follow_item){at, n_bytes, first};
	return true;
}

static bool is_sound(const struct msr_extent *e)
{
	return e->magic == MSR_EXTENT_MAGIC && e->check == msr_extent_check(e) &&
	       e->length >= sizeof *e;
}

/*
 * True if the part has its full length. A free part is cut short when the maker of the file ends.
 */
static bool is_whole(const struct msr_extent *e)
{
	return e->length == sizeof *e + MSR_PROCESS_BYTES ||
	       e->length == sizeof *e + MSR_BRIEF_BYTES;
}

static bool walk(struct follow_chain *c, int fd, uint64_t from, uint64_t end, bool is_inside);

/* For a forked child: reads its header page before its extents, as for a file. */
static bool walk_child(struct follow_chain *c, int fd, uint64_t at, uint64_t most)
{
	struct msr_header h;
	const int got = read_at(fd, &h, sizeof h, at);
	if (got <= 0 || memcmp(h.magic, MSR_MAGIC, sizeof h.magic) != 0)
		return got >= 0;
	const uint64_t n = h.allocated < most ? h.allocated : most;
	return push(c, at, &h, sizeof h) && walk(c, fd, at + msr_first_extent(&h), at + n, true);
}

static bool walk(struct follow_chain *c, int fd, uint64_t from, uint64_t end, bool is_inside)
{
	struct msr_extent e;
	for (uint64_t at = from; at + sizeof e <= end;) {
		const int got = read_at(fd, &e, sizeof e, at);
		if (got <= 0)
			return got == 0;
		if (!is_sound(&e)) {
			at = (at & ~(PAGE - 1)) + PAGE; /* unused space ends at a page */
			continue;
		}
		if (!push(c, at, &e, sizeof e))
			return false;
		if (e.kind == MSR_PROCESS && !is_inside && is_whole(&e) &&
		    e.used == e.length - sizeof e && !walk_child(c, fd, at + sizeof e, e.used))
			return false;
		at = e.length <= end - at ? at + e.length : end;
	}
	return true;
}

bool follow_chain_read(struct follow_chain *c, int fd, uint64_t end)
{
	vec_clear(&c->items);
	vec_clear(&c->bytes);
	return walk(c, fd, MSR_HEADER_BYTES, end, false);
}

void follow_chain_free(struct follow_chain *c)
{
	vec_free(&c->items);
	vec_free(&c->bytes);
}

size_t follow_chain_at(const struct follow_chain *c, uint64_t at)
{
	return sorted_below(c->items.at, c->items.n, at, at);
}

const struct follow_item *follow_chain_find(const struct follow_chain *c, uint64_t at)
{
	const size_t i = follow_chain_at(c, at);
	return i < c->items.n && c->items.at[i].at == at ? &c->items.at[i] : NULL;
}

const uint8_t *follow_chain_bytes(const struct follow_chain *c, const struct follow_item *item)
{
	return c->bytes.at + item->first;
}
