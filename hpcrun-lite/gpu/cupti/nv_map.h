/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A map from 64-bit keys to 64-bit values, in anonymous memory, with a bound. Any thread; not signal-safe; keeps errno. Nothing is called while its lock is held.
 * Keys and values are not 0. Test: tests/unit/test_cupti.c.
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

/* `max`: entries beyond it are refused. */
void nv_map_init(struct nv_map *m, size_t max);
/* 0: not there. */
uint64_t nv_map_get(struct nv_map *m, uint64_t key);
/* In place of what was there. False: full, or no memory. */
bool nv_map_put(struct nv_map *m, uint64_t key, uint64_t value);
/* There is room for no more than `spare` entries. */
bool nv_map_is_full(struct nv_map *m, size_t spare);
/* What was there, and takes it out; 0: nothing. */
uint64_t nv_map_take(struct nv_map *m, uint64_t key);
/* Takes all out, and then calls `each` with each of them, without the lock; in no order. */
void nv_map_take_all(struct nv_map *m, void (*each)(uint64_t key, uint64_t value));
/* In the child of a fork, where nobody else lives: gives the memory back. */
void nv_map_clear(struct nv_map *m);

#endif
