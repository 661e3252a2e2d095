/* SPDX-License-Identifier: BSD-3-Clause */
/* Code that may not be there, see code.h. Must not fault, must not touch errno. */
#include "hpcrun-lite/unwind/code.h"

#include "common/safe/load.h"

#include <string.h>

void code_begin(struct code *c)
{
	uint32_t n = 0;
	c->walk++;
	for (uint32_t i = 0; i < c->n_known; i++)
		if (c->walk - c->line[i].used <= CODE_KEEP)
			c->line[n++] = c->line[i];
	c->n_known = n;
	c->n_fresh = 0;
}

/* Forgets line i, which is not fresh or the last one. */
static void drop(struct code *c, uint32_t i)
{
	c->line[i] = c->line[--c->n_known];
	c->n_fresh = c->n_fresh < c->n_known ? c->n_fresh : c->n_known;
}

/* Reads the known lines. That ends at the first one that is no longer there. */
static void read_known(struct code *c)
{
	struct iovec piece[CODE_LINES];
	const uint32_t n = c->n_known - c->n_fresh;
	for (uint32_t i = 0; i < n; i++)
		piece[i] = (struct iovec){(void *)c->line[c->n_fresh + i].at, CODE_LINE_BYTES};
	c->n_guarded++;
	c->n_fresh += (uint32_t)(load_gathered(c->bytes[c->n_fresh], piece, n) / CODE_LINE_BYTES);
	if (c->n_fresh < c->n_known)
		drop(c, c->n_fresh);
}

/* Of those that are not fresh, the one that was used longest ago; else the last one. */
static uint32_t find_victim(const struct code *c)
{
	uint32_t victim = c->n_known - 1;
	for (uint32_t i = c->n_fresh; i < c->n_known; i++)
		if (c->walk - c->line[i].used > c->walk - c->line[victim].used)
			victim = i;
	return victim;
}

static uint32_t index_of(const struct code *c, uint64_t at)
{
	uint32_t i = 0;
	while (i < c->n_known && c->line[i].at != at)
		i++;
	return i;
}

/* The line at `at` becomes a known one: its index. */
static uint32_t add_known(struct code *c, uint64_t at)
{
	if (c->n_known == CODE_LINES)
		drop(c, find_victim(c));
	c->line[c->n_known].at = at;
	c->line[c->n_known].used = c->walk;
	return c->n_known++;
}

void code_expect(struct code *c, uint64_t pc)
{
	const uint64_t at = pc - pc % CODE_LINE_BYTES;
	if (index_of(c, at) == c->n_known)
		add_known(c, at);
}

/* The line's bytes as they are in this walk. NULL: it cannot be read. */
static const uint8_t *find_line(struct code *c, uint64_t at)
{
	uint32_t i = index_of(c, at);
	if (i >= c->n_fresh && i < c->n_known && load_may_gather()) {
		read_known(c);
		i = index_of(c, at);
	}
	if (i >= c->n_fresh) { /* alone */
		i = i < c->n_known ? i : add_known(c, at);
		c->line[i] = c->line[c->n_fresh];
		i = c->n_fresh;
		c->line[i].at = at;
		c->n_guarded++;
		if (load_guarded(c->bytes[i], at, CODE_LINE_BYTES) != CODE_LINE_BYTES) {
			drop(c, i);
			return NULL;
		}
		c->n_fresh++;
	}
	c->line[i].used = c->walk;
	return c->bytes[i];
}

bool code_load(struct code *c, uint64_t address, void *dst, size_t n_bytes)
{
	uint8_t *to = dst;
	if (n_bytes > CODE_LINE_BYTES) {
		c->n_guarded++;
		return load_guarded(dst, address, n_bytes) == n_bytes;
	}
	while (n_bytes) {
		const size_t from = address % CODE_LINE_BYTES;
		const size_t n = n_bytes < CODE_LINE_BYTES - from ? n_bytes : CODE_LINE_BYTES - from;
		const uint8_t *line = find_line(c, address - from);
		if (!line)
			return false;
		memcpy(to, line + from, n);
		address += n;
		to += n;
		n_bytes -= n;
	}
	return true;
}
