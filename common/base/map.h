/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash map from a pair of 64-bit words to a 64-bit value, which is usually an index into a vec.
 * Open addressing, linear probing, load factor at most 1/2. Keys cannot be deleted. One owner; not
 * thread-safe. Test: tests/unit/common/test_base.c.
 */
#ifndef COMMON_BASE_MAP_H
#define COMMON_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT64_MAX /* means "no such key", so it cannot be stored as a value */

struct map_slot {
	uint64_t a, b, value;
};

/*
 * The key is a pair of words such as (parent, address). A key of one word has 0 as its second word.
 * Initialise the map with zeros.
 */
struct map {
	struct map_slot *slots;
	size_t n, capacity;
};

/* Returns the value of the key, or MAP_NONE. */
uint64_t map_get(const struct map *m, uint64_t a, uint64_t b);
/*
 * Stores `value` if the key is new. Returns the value that is stored now, or MAP_NONE if there is
 * no memory.
 */
uint64_t map_put(struct map *m, uint64_t a, uint64_t b, uint64_t value);
void map_free(struct map *m);

/* The 64-bit finaliser of MurmurHash3 (Appleby, public domain). A bijection with good avalanche. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}
/* FNV-1a, 64 bits, finished with hash_u64(). */
uint64_t hash_bytes(const void *data, size_t n_bytes);
/* Hashes eight bytes at a time. For long names in tables of one process: the value may change. */
uint64_t hash_name(const void *data, size_t n_bytes);

#endif
