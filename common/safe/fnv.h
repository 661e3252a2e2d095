/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FNV-1a hashes of 32 and 64 bits (G. Fowler, L. C. Noll, P. Vo; RFC 9923). Pure and signal-safe.
 * Test: tests/unit/common/test_base.c.
 */
#ifndef COMMON_SAFE_FNV_H
#define COMMON_SAFE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV32_START UINT32_C(0x811c9dc5)
#define FNV64_START UINT64_C(0xcbf29ce484222325)

/* Continues the hash `h` over n more bytes. Begin with FNV32_START or FNV64_START. */
static inline uint32_t fnv32(uint32_t h, const void *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;
	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT32_C(0x01000193);
	return h;
}

static inline uint64_t fnv64(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;
	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

#endif
