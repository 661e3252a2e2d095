/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded reader; see cursor.h. Must stay safe on any bytes.
 * Test: tests/unit/common/test_base.c. */
#include "common/base/cursor.h"

#include <string.h>

static bool take(struct cursor *c, size_t n_bytes)
{
	if (c->failed || n_bytes > cursor_left(c)) {
		c->failed = true;
		return false;
	}
	return true;
}

static uint64_t fixed(struct cursor *c, size_t n_bytes)
{
	if (!take(c, n_bytes))
		return 0;
	uint64_t v = 0;
	for (size_t i = 0; i < n_bytes; i++)
		v |= (uint64_t)c->at[i] << 8 * i;
	c->at += n_bytes;
	return v;
}

uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)fixed(c, 1);
}

uint16_t cursor_u16(struct cursor *c)
{
	return (uint16_t)fixed(c, 2);
}

uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)fixed(c, 4);
}

uint64_t cursor_u64(struct cursor *c)
{
	return fixed(c, 8);
}

uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; take(c, 1); shift += 7) {
		uint8_t byte = *c->at++;
		uint64_t bits = byte & 0x7f;
		if (shift >= 64 ? bits != 0 : (bits << shift) >> shift != bits) {
			c->failed = true;
			return 0;
		}
		if (shift < 64)
			v |= bits << shift;
		if (!(byte & 0x80))
			return v;
	}
	return 0;
}

int64_t cursor_sleb(struct cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; take(c, 1); shift += 7) {
		uint8_t byte = *c->at++;
		if (shift >= 70) {
			c->failed = true;
			return 0;
		}
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			if (shift + 7 < 64 && (byte & 0x40))
				v |= ~UINT64_C(0) << (shift + 7);
			return (int64_t)v;
		}
	}
	return 0;
}

const char *cursor_string(struct cursor *c)
{
	const void *nul = c->failed ? NULL : memchr(c->at, 0, cursor_left(c));
	if (!nul) {
		c->failed = true;
		return "";
	}
	const char *s = (const char *)c->at;
	c->at = (const uint8_t *)nul + 1;
	return s;
}

const uint8_t *cursor_bytes(struct cursor *c, size_t n_bytes)
{
	if (!take(c, n_bytes))
		return NULL;
	const uint8_t *p = c->at;
	c->at += n_bytes;
	return p;
}

struct cursor cursor_sub(struct cursor *c, size_t n_bytes)
{
	const uint8_t *p = cursor_bytes(c, n_bytes);
	return p ? cursor_make(p, n_bytes) : (struct cursor){.failed = true};
}

void cursor_seek(struct cursor *c, size_t offset)
{
	if (c->failed || offset > (size_t)(c->end - c->start))
		c->failed = true;
	else
		c->at = c->start + offset;
}
