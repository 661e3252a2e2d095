/* SPDX-License-Identifier: BSD-3-Clause */
/* Fat binaries; see fatbin.h. Must not read outside the given bytes. */
#include "config.h"

#include "hpcstruct-lite/image/fatbin.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

static const uint8_t mark[4] = {0x50, 0xed, 0x55, 0xba};

enum { HEADER_BYTES = 16, ENTRY_BYTES = 64, FATBIN_VERSION = 1 };
enum { KIND_PTX = 1, KIND_ELF = 2 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

/*
 * An entry may grow at most by this factor when unpacked. LZ4 makes at most 255 bytes of one. zstd
 * can make more, but not from cubins.
 */
#define MOST_GROWTH 4096u

static uint16_t u16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static uint32_t u32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static uint64_t u64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

/* Moves to the first entry of the next fat binary. */
static bool find(const uint8_t *bytes, size_t n_bytes, struct fatbin_search *s)
{
	while (n_bytes - s->at >= HEADER_BYTES) {
		const uint8_t *p = memmem(bytes + s->at, n_bytes - s->at, mark, sizeof mark);
		if (!p)
			break;
		size_t at = (size_t)(p - bytes);
		s->at = at + sizeof mark;
		if (n_bytes - at < HEADER_BYTES || u16(p + 4) != FATBIN_VERSION ||
		    u16(p + 6) < HEADER_BYTES)
			continue;
		size_t header_bytes = u16(p + 6);
		uint64_t left = n_bytes - at, size = u64(p + 8);
		if (header_bytes > left || size > left - header_bytes || size < ENTRY_BYTES)
			continue;
		s->at = at + header_bytes;
		s->end = s->at + (size_t)size;
		return true;
	}
	s->at = n_bytes;
	return false;
}

/* Reads the entry at s->at and moves past it. Returns false if the entry is damaged. */
static bool read_entry(const uint8_t *bytes, struct fatbin_search *s, struct fatbin_entry *e)
{
	const uint8_t *p = bytes + s->at;
	size_t left = s->end - s->at;
	if (left < ENTRY_BYTES)
		return false;
	uint32_t header_bytes = u32(p + 4), packed_bytes = u32(p + 16);
	uint64_t size = u64(p + 8), flags = u64(p + 40), full_bytes = u64(p + 56);
	unsigned kind = u16(p);
	if (header_bytes < ENTRY_BYTES || header_bytes > left || size > left - header_bytes)
		return false;
	*e = (struct fatbin_entry){
		.form = kind == KIND_ELF   ? FATBIN_CUBIN
			: kind == KIND_PTX ? FATBIN_PTX
					   : FATBIN_OTHER,
		.packing = flags & FLAG_LZ4    ? FATBIN_LZ4
			   : flags & FLAG_ZSTD ? FATBIN_ZSTD
					       : FATBIN_PLAIN,
		.architecture = u32(p + 28),
		.bytes = p + header_bytes,
		.n_bytes = (size_t)size,
		.full_bytes = size,
		.offset = s->at,
	};
	if (e->packing != FATBIN_PLAIN) {
		e->full_bytes = full_bytes;
		if (packed_bytes > 0 && packed_bytes <= size)
			e->n_bytes = packed_bytes;
	}
	s->at += header_bytes + (size_t)size;
	return true;
}

bool fatbin_next(const uint8_t *bytes, size_t n_bytes, struct fatbin_search *s,
		 struct fatbin_entry *e)
{
	for (;;) {
		if (s->end > s->at) {
			if (read_entry(bytes, s, e))
				return true;
			s->n_damaged++;
		}
		s->end = 0;
		if (!find(bytes, n_bytes, s))
			return false;
	}
}

static enum fatbin_result unpack_lz4(const struct fatbin_entry *e, uint8_t *to)
{
#ifdef HAVE_LZ4
	if (e->n_bytes > INT_MAX || e->full_bytes > INT_MAX)
		return FATBIN_DAMAGED;
	int n = LZ4_decompress_safe((const char *)e->bytes, (char *)to, (int)e->n_bytes,
				    (int)e->full_bytes);
	return n == (int)e->full_bytes ? FATBIN_OK : FATBIN_DAMAGED;
#else
	(void)e;
	(void)to;
	return FATBIN_NO_UNPACKER;
#endif
}

static enum fatbin_result unpack_zstd(const struct fatbin_entry *e, uint8_t *to)
{
#ifdef HAVE_ZSTD
	size_t n = ZSTD_decompress(to, (size_t)e->full_bytes, e->bytes, e->n_bytes);
	return !ZSTD_isError(n) && n == e->full_bytes ? FATBIN_OK : FATBIN_DAMAGED;
#else
	(void)e;
	(void)to;
	return FATBIN_NO_UNPACKER;
#endif
}

enum fatbin_result fatbin_unpack(const struct fatbin_entry *e, uint8_t **out)
{
	if (e->full_bytes == 0 || e->full_bytes / MOST_GROWTH > e->n_bytes)
		return FATBIN_DAMAGED;
	uint8_t *to = malloc((size_t)e->full_bytes);
	if (!to)
		return FATBIN_NO_MEMORY;
	enum fatbin_result r = FATBIN_OK;
	if (e->packing == FATBIN_PLAIN)
		memcpy(to, e->bytes, e->n_bytes);
	else
		r = e->packing == FATBIN_LZ4 ? unpack_lz4(e, to) : unpack_zstd(e, to);
	if (r != FATBIN_OK) {
		free(to);
		return r;
	}
	*out = to;
	return FATBIN_OK;
}
