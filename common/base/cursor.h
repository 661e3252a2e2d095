/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads foreign bytes, little-endian, with a sticky error: after the first read past the end, every
 * read returns 0 and cursor_ok() returns false. Modelled on struct dwarf_buf of libbacktrace.
 * Allocates nothing. Async-signal-safe. Test: tests/unit/common/test_base.c.
 */
#ifndef COMMON_BASE_CURSOR_H
#define COMMON_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *start, *at, *end;
	bool failed;
};

static inline struct cursor cursor_make(const void *bytes, size_t n_bytes)
{
	const uint8_t *p = bytes;
	return (struct cursor){p, p, p + n_bytes, false};
}
static inline bool cursor_ok(const struct cursor *c)
{
	return !c->failed;
}
static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}
static inline size_t cursor_offset(const struct cursor *c)
{
	return (size_t)(c->at - c->start);
}

uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
/* LEB128 (DWARF 5, section 7.6). More than 64 significant bits are an error. */
uint64_t cursor_uleb(struct cursor *c);
int64_t cursor_sleb(struct cursor *c);
/* Returns a borrowed NUL-terminated string; "" on error. */
const char *cursor_string(struct cursor *c);
/* Returns `n_bytes` borrowed bytes; NULL on error. */
const uint8_t *cursor_bytes(struct cursor *c, size_t n_bytes);
/* Returns a cursor over the next `n_bytes`. It has failed if there are fewer bytes. */
struct cursor cursor_sub(struct cursor *c, size_t n_bytes);
/* Moves to `offset`, counted from the start. */
void cursor_seek(struct cursor *c, size_t offset);

#endif
