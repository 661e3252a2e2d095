/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounded map from 64-bit keys to 64-bit values, in anonymous memory. Keys and values are not 0.
 * It calls nothing while it holds its lock. Any thread; not signal-safe; keeps errno. Test:
 * tests/unit/cupti/test_cupti.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_MAP_H
#define HPCRUN_LITE_GPU_CUPTI_NV_MAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nv_map_entry {
	uint64_t key, value;
};

struct nv_map {
	pthread_mutex_t lock;
	struct nv_map_entry *entries;
	size_t room, n, max; /* room: a power of two */
};

/* The map refuses more than `max` entries. */
void nv_map_init(struct nv_map *m, size_t max);
/* Returns 0 if there is no entry. */
uint64_t nv_map_get(struct nv_map *m, uint64_t key);
/* Adds or replaces an entry. Returns false if the map is full or there is no memory. */
bool nv_map_put(struct nv_map *m, uint64_t key, uint64_t value);
/* Returns true if at most `spare` more entries fit. */
bool nv_map_is_full(struct nv_map *m, size_t spare);
/* Removes an entry and returns its value; 0: there was none. */
uint64_t nv_map_take(struct nv_map *m, uint64_t key);
/* Removes all entries, then calls `each` for each of them without the lock, in any order. */
void nv_map_take_all(struct nv_map *m, void (*each)(uint64_t key, uint64_t value));
/* In a forked child, where no other thread runs: frees the memory. */
void nv_map_clear(struct nv_map *m);

#endif
