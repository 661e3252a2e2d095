/* SPDX-License-Identifier: BSD-3-Clause */
/* A striped hash map from handles; see ocl_map.h. Linear probing, deletion by shifting back. Test:
 * tests/unit/opencl/test_opencl_map.c. */
#include "hpcrun-lite/gpu/opencl/ocl_map.h"

#include "hpcrun-lite/gpu/opencl/ocl_memory.h"

#include <string.h>

#define FIRST_ROOM 256u

static uint64_t mix(uint64_t key)
{
	/* Fibonacci hashing: the high bits depend on all bits of the key */
	return key * UINT64_C(0x9e3779b97f4a7c15);
}

static struct ocl_map_stripe *stripe_of(struct ocl_map *m, uint64_t key)
{
	return &m->stripe[mix(key) >> 60];
}

static size_t home(const struct ocl_map_stripe *s, uint64_t key)
{
	return (size_t)(mix(key) >> 24) & (s->room - 1);
}

void ocl_map_init(struct ocl_map *m)
{
	_Static_assert(OCL_MAP_STRIPES == 16, "stripe_of takes four bits");
	memset(m, 0, sizeof *m);
	for (unsigned i = 0; i < OCL_MAP_STRIPES; i++)
		pthread_mutex_init(&m->stripe[i].lock, NULL);
}

/* Returns the entry where the key is or would be. At least one entry is free. */
static struct ocl_map_entry *find(const struct ocl_map_stripe *s, uint64_t key)
{
	size_t at = home(s, key);
	while (s->entries[at].key && s->entries[at].key != key)
		at = (at + 1) & (s->room - 1);
	return &s->entries[at];
}

static bool grow(struct ocl_map_stripe *s)
{
	struct ocl_map_stripe bigger = {.room = s->room ? s->room * 2 : FIRST_ROOM};
	bigger.entries = ocl_memory_map(bigger.room * sizeof *bigger.entries);
	if (!bigger.entries)
		return false;
	for (size_t i = 0; i < s->room; i++)
		if (s->entries[i].key)
			*find(&bigger, s->entries[i].key) = s->entries[i];
	ocl_memory_unmap(s->entries, s->room * sizeof *s->entries);
	s->entries = bigger.entries;
	s->room = bigger.room;
	return true;
}

void *ocl_map_get(struct ocl_map *m, uint64_t key)
{
	struct ocl_map_stripe *s = stripe_of(m, key);
	pthread_mutex_lock(&s->lock);
	void *value = key && s->room ? find(s, key)->value : NULL;
	pthread_mutex_unlock(&s->lock);
	return value;
}

bool ocl_map_put(struct ocl_map *m, uint64_t key, void *value, void **old)
{
	struct ocl_map_stripe *s = stripe_of(m, key);
	void *before = NULL;
	if (!key || !value)
		return false;
	pthread_mutex_lock(&s->lock);
	bool good = s->n < s->room / 2 || grow(s);
	if (good) {
		struct ocl_map_entry *e = find(s, key);
		before = e->value;
		s->n += !e->key;
		*e = (struct ocl_map_entry){key, value};
	}
	pthread_mutex_unlock(&s->lock);
	if (old)
		*old = before;
	return good;
}

/* Closes the gap at `at`: moves up later entries that are not at their home. */
static void shift_back(struct ocl_map_stripe *s, size_t at)
{
	size_t mask = s->room - 1;
	for (size_t next = (at + 1) & mask; s->entries[next].key; next = (next + 1) & mask) {
		size_t distance = (next - home(s, s->entries[next].key)) & mask;
		if (distance >= ((next - at) & mask)) {
			s->entries[at] = s->entries[next];
			at = next;
		}
	}
	s->entries[at] = (struct ocl_map_entry){0, NULL};
}

void *ocl_map_take(struct ocl_map *m, uint64_t key)
{
	struct ocl_map_stripe *s = stripe_of(m, key);
	void *value = NULL;
	pthread_mutex_lock(&s->lock);
	struct ocl_map_entry *e = key && s->room ? find(s, key) : NULL;
	if (e && e->key) {
		value = e->value;
		s->n--;
		shift_back(s, (size_t)(e - s->entries));
	}
	pthread_mutex_unlock(&s->lock);
	return value;
}
