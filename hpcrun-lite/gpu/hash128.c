/* SPDX-License-Identifier: BSD-3-Clause */
/* MurmurHash3_x64_128; see hash128.h. Pure. Test: tests/unit/gpu/test_gpu_hash.c. */
#include "hpcrun-lite/gpu/hash128.h"

#include <string.h>

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static inline uint64_t rotate(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static inline uint64_t finish(uint64_t h)
{
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 33;
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

static inline uint64_t mix1(uint64_t k)
{
	return rotate(k * C1, 31) * C2;
}

static inline uint64_t mix2(uint64_t k)
{
	return rotate(k * C2, 33) * C1;
}

void hash128_add(uint64_t state[2], const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t h1 = state[0], h2 = state[1], block[2];
	for (size_t left = n; left >= sizeof block; left -= sizeof block, p += sizeof block) {
		memcpy(block, p, sizeof block);
		h1 = (rotate(h1 ^ mix1(block[0]), 27) + h2) * 5 + 0x52dce729;
		h2 = (rotate(h2 ^ mix2(block[1]), 31) + h1) * 5 + 0x38495ab5;
	}
	state[0] = h1;
	state[1] = h2;
}

void hash128_end(const uint64_t state[2], const void *rest, size_t n, uint64_t hash[2])
{
	uint64_t h1 = state[0], h2 = state[1], block[2] = {0, 0};
	/* The rest is one block, padded with zeros, for which the original skips the rounds. */
	if (n % sizeof block)
		memcpy(block, rest, n % sizeof block);
	h2 ^= mix2(block[1]);
	h1 ^= mix1(block[0]);
	h1 ^= n;
	h2 ^= n;
	h1 += h2;
	h2 += h1;
	h1 = finish(h1);
	h2 = finish(h2);
	h1 += h2;
	h2 += h1;
	hash[0] = h1;
	hash[1] = h2;
}

void hash128(const void *bytes, size_t n, uint32_t seed, uint64_t hash[2])
{
	uint64_t state[2] = {seed, seed};
	hash128_add(state, bytes, n);
	hash128_end(state, n ? (const uint8_t *)bytes + (n & ~(size_t)15) : NULL, n, hash);
}
