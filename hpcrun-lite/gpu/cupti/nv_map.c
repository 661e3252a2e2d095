/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A map from 64-bit keys; see nv_map.h. Linear probing; deletion shifts entries back. Test:
 * tests/unit/cupti/test_cupti.c.
 */
#include "hpcrun-lite/gpu/cupti/nv_map.h"

#include "common/safe/sys.h"

#include <sys/mman.h>

#define FIRST_ROOM 256u

static size_t home(const struct nv_map *m, uint64_t key)
{
	/* Fibonacci hashing: the high bits depend on all bits of the key. */
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & (m->room - 1);
}

/* Returns the entry where the key is or would be. At least one entry is free. */
static struct nv_map_entry *find(const struct nv_map *m, uint64_t key)
{
	size_t at = home(m, key);
	while (m->entries[at].key && m->entries[at].key != key)
		at = (at + 1) & (m->room - 1);
	return &m->entries[at];
}

static void drop(struct nv_map *m)
{
	if (m->entries)
		sys_munmap(m->entries, m->room * sizeof *m->entries);
	m->entries = NULL;
}

static bool grow(struct nv_map *m)
{
	struct nv_map bigger = {.room = m->room ? m->room * 2 : FIRST_ROOM};
	long at = sys_mmap(NULL, bigger.room * sizeof *bigger.entries, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(at))
		return false;
	bigger.entries = (struct nv_map_entry *)at;
	for (size_t i = 0; i < m->room; i++)
		if (m->entries[i].key)
			*find(&bigger, m->entries[i].key) = m->entries[i];
	drop(m);
	m->entries = bigger.entries;
	m->room = bigger.room;
	return true;
}

void nv_map_init(struct nv_map *m, size_t max)
{
	*m = (struct nv_map){.max = max};
	pthread_mutex_init(&m->lock, NULL);
}

uint64_t nv_map_get(struct nv_map *m, uint64_t key)
{
	pthread_mutex_lock(&m->lock);
	uint64_t value = m->room && key ? find(m, key)->value : 0;
	pthread_mutex_unlock(&m->lock);
	return value;
}

bool nv_map_put(struct nv_map *m, uint64_t key, uint64_t value)
{
	if (!key || !value)
		return false;
	pthread_mutex_lock(&m->lock);
	bool good = m->n < m->room / 2 || grow(m);
	struct nv_map_entry *e = good ? find(m, key) : NULL;
	good = e && (e->key || m->n < m->max);
	if (good) {
		m->n += !e->key;
		*e = (struct nv_map_entry){key, value};
	}
	pthread_mutex_unlock(&m->lock);
	return good;
}

bool nv_map_is_full(struct nv_map *m, size_t spare)
{
	pthread_mutex_lock(&m->lock);
	bool is_full = m->n + spare >= m->max;
	pthread_mutex_unlock(&m->lock);
	return is_full;
}

/* Moves later entries into the hole if look-ups would not find them otherwise. */
static void close_hole(struct nv_map *m, size_t hole)
{
	size_t mask = m->room - 1;
	for (size_t at = (hole + 1) & mask; m->entries[at].key; at = (at + 1) & mask) {
		size_t from_home = (at - home(m, m->entries[at].key)) & mask;
		if (from_home < ((at - hole) & mask))
			continue;
		m->entries[hole] = m->entries[at];
		hole = at;
	}
	m->entries[hole] = (struct nv_map_entry){0, 0};
}

uint64_t nv_map_take(struct nv_map *m, uint64_t key)
{
	pthread_mutex_lock(&m->lock);
	struct nv_map_entry *e = m->room && key ? find(m, key) : NULL;
	uint64_t value = e ? e->value : 0;
	if (e && e->key) {
		m->n--;
		close_hole(m, (size_t)(e - m->entries));
	}
	pthread_mutex_unlock(&m->lock);
	return value;
}

void nv_map_take_all(struct nv_map *m, void (*each)(uint64_t key, uint64_t value))
{
	pthread_mutex_lock(&m->lock);
	struct nv_map all = {.entries = m->entries, .room = m->room};
	m->entries = NULL;
	m->n = m->room = 0;
	pthread_mutex_unlock(&m->lock);
	for (size_t i = 0; i < all.room; i++)
		if (all.entries[i].key)
			each(all.entries[i].key, all.entries[i].value);
	drop(&all);
}

void nv_map_clear(struct nv_map *m)
{
	size_t max = m->max;
	drop(m);
	nv_map_init(m, max);
}
