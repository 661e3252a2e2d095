/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash map of integers; see map.h. An empty slot has value MAP_NONE. Test:
 * tests/unit/common/test_base.c. */
#include "common/base/map.h"

#include "common/safe/fnv.h"

#include <stdlib.h>
#include <string.h>

uint64_t hash_bytes(const void *data, size_t n_bytes)
{
	return hash_u64(fnv64(FNV64_START, data, n_bytes));
}

uint64_t hash_name(const void *data, size_t n_bytes)
{
	const uint8_t *at = data;
	uint64_t h = n_bytes, word;
	for (; n_bytes > sizeof word; n_bytes -= sizeof word, at += sizeof word) {
		memcpy(&word, at, sizeof word);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	word = 0;
	if (n_bytes > 0)
		memcpy(&word, at, n_bytes);
	return hash_u64(h ^ word);
}

static struct map_slot *find(const struct map *m, uint64_t a, uint64_t b)
{
	size_t i = hash_u64(hash_u64(a) ^ b) & (m->capacity - 1);
	while (m->slots[i].value != MAP_NONE && (m->slots[i].a != a || m->slots[i].b != b))
		i = (i + 1) & (m->capacity - 1);
	return &m->slots[i];
}

static bool grow(struct map *m)
{
	struct map bigger = {.capacity = m->capacity ? m->capacity * 2 : 16, .n = m->n};
	bigger.slots = malloc(bigger.capacity * sizeof *bigger.slots);
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < bigger.capacity; i++)
		bigger.slots[i].value = MAP_NONE;
	for (size_t i = 0; i < m->capacity; i++)
		if (m->slots[i].value != MAP_NONE)
			*find(&bigger, m->slots[i].a, m->slots[i].b) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return true;
}

uint64_t map_get(const struct map *m, uint64_t a, uint64_t b)
{
	return m->capacity ? find(m, a, b)->value : MAP_NONE;
}

uint64_t map_put(struct map *m, uint64_t a, uint64_t b, uint64_t value)
{
	if (m->n * 2 >= m->capacity && !grow(m))
		return MAP_NONE;
	struct map_slot *s = find(m, a, b);
	if (s->value == MAP_NONE) {
		*s = (struct map_slot){a, b, value};
		m->n++;
	}
	return s->value;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}
