/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash map from pairs of 64-bit words to 64-bit values (usually an index into a vec). Open addressing, linear probing, load at
 * most 1/2. No deletion: nothing here needs it. One owner; not thread-safe. Test: tests/unit/test_base.c.
 */
#ifndef COMMON_BASE_MAP_H
#define COMMON_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT64_MAX /* no such key; also not a value that may be stored */

struct map_slot {
	uint64_t a, b, value;
};

/* The key is a pair of words, as in (parent, address); where one is enough the other is 0. Zero-initialise to create. */
struct map {
	struct map_slot *slots;
	size_t n, capacity;
};

/* The value of the key, or MAP_NONE. */
uint64_t map_get(const struct map *m, uint64_t a, uint64_t b);
/* Stores `value` when the key is new. Returns the value now stored, or MAP_NONE when memory is short. */
uint64_t map_put(struct map *m, uint64_t a, uint64_t b, uint64_t value);
void map_free(struct map *m);

/* 64-bit finaliser of MurmurHash3 (Appleby, public domain): a bijection with good avalanche. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}
/* FNV-1a, 64 bit, finished by hash_u64. */
uint64_t hash_bytes(const void *data, size_t n_bytes);

#endif
