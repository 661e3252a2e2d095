/* SPDX-License-Identifier: BSD-3-Clause */
/* See content_hash.h. Test: tests/unit/common/test_safe.c. */
#include "common/safe/content_hash.h"

#include <string.h>

enum { PIECES = 64 };

/* Takes eight bytes at a time. Each step can be reversed, so no input is forgotten. */
static uint64_t add(uint64_t h, const unsigned char *bytes, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i += sizeof h) {
		uint64_t word = 0;
		memcpy(&word, bytes + i, n_bytes - i < sizeof word ? n_bytes - i : sizeof word);
		h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		h ^= h >> 29;
	}
	return h;
}

uint64_t content_hash(uint64_t n_bytes, content_piece_fn *piece, void *arg)
{
	const uint64_t most = (uint64_t)PIECES * CONTENT_PIECE_BYTES;
	uint64_t h = n_bytes;
	for (uint64_t i = 0, at = 0; i < PIECES && at < n_bytes; i++) {
		size_t n = CONTENT_PIECE_BYTES;
		if (n_bytes > most)
			at = (n_bytes - n) / (PIECES - 1) * i;
		else if (n > n_bytes - at)
			n = (size_t)(n_bytes - at);
		if (n_bytes > most && i == PIECES - 1)
			at = n_bytes - n;
		const void *bytes = piece(arg, at, n);
		if (!bytes)
			return 0;
		h = add(h, bytes, n);
		at += n;
	}
	return h ? h : 1;
}

static const void *piece_of_bytes(void *arg, uint64_t at, size_t n)
{
	(void)n;
	return (const char *)arg + at;
}

uint64_t content_hash_bytes(const void *bytes, uint64_t n_bytes)
{
	return content_hash(n_bytes, piece_of_bytes, (void *)(uintptr_t)bytes);
}
