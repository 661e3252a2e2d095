/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads bounded foreign bytes with a sticky error, for CFI and DWARF expressions: a read past the
 * end returns 0 and sets `bad`. Modelled on struct dwarf_buf of libbacktrace. Signal-safe. Test:
 * tests/unit/unwind/test_unwind_cfi.c.
 */
#ifndef HPCRUN_LITE_UNWIND_BYTES_H
#define HPCRUN_LITE_UNWIND_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *at, *end;
	uintptr_t address; /* of `at` in the process; differs from it when the bytes are a copy */
	bool bad;
};

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->at);
}

static inline const uint8_t *bytes_take(struct bytes *b, uint64_t n)
{
	if (n > bytes_left(b)) {
		b->bad = true;
		b->address += bytes_left(b);
		b->at = b->end;
		return NULL;
	}
	const uint8_t *p = b->at;
	b->at += n;
	b->address += n;
	return p;
}

/* Little-endian; n is 1, 2, 4 or 8. */
static inline uint64_t bytes_unsigned(struct bytes *b, unsigned n)
{
	uint64_t v = 0;
	const uint8_t *p = bytes_take(b, n);
	if (p)
		memcpy(&v, p, n);
	return v;
}

static inline int64_t bytes_signed(struct bytes *b, unsigned n)
{
	const uint64_t v = bytes_unsigned(b, n);
	const unsigned shift = 64 - 8 * n;
	return (int64_t)(v << shift) >> shift;
}

/*
 * LEB128 (DWARF 5, section 7.6). Bits above 64 are dropped; a number longer than 10 bytes is bad.
 */
static inline uint64_t bytes_leb(struct bytes *b, bool is_signed)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		const uint8_t *p = bytes_take(b, 1);
		if (!p)
			return 0;
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (*p & 0x80)
			continue;
		if (is_signed && (*p & 0x40) && shift + 7 < 64)
			v |= ~UINT64_C(0) << (shift + 7);
		return v;
	}
	b->bad = true;
	return 0;
}

static inline uint64_t bytes_uleb(struct bytes *b)
{
	return bytes_leb(b, false);
}

static inline int64_t bytes_sleb(struct bytes *b)
{
	return (int64_t)bytes_leb(b, true);
}

#endif
