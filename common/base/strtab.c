/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of distinct strings; see strtab.h. Ids and offsets never change once given. Test:
 * tests/unit/common/test_base.c. */
#include "common/base/strtab.h"

#include "common/base/map.h"

#include <stdlib.h>
#include <string.h>

#define HASH_PART (~(uint64_t)UINT32_MAX)

static uint32_t id_in(uint64_t slot)
{
	return (uint32_t)slot - 1;
}

/* Finds the string's slot. Compares strings only if hashes are equal: C++ names begin alike. */
static uint64_t *find(const struct strtab *t, uint64_t hash, const char *s, size_t n_bytes)
{
	size_t i = hash & (t->n_slots - 1);
	for (; t->slots[i]; i = (i + 1) & (t->n_slots - 1)) {
		if (((t->slots[i] ^ hash) & HASH_PART) != 0)
			continue;
		const char *have = strtab_get(t, id_in(t->slots[i]));
		if (strncmp(have, s, n_bytes) == 0 && have[n_bytes] == '\0')
			break;
	}
	return &t->slots[i];
}

static bool grow(struct strtab *t, size_t n_slots)
{
	uint64_t *slots = calloc(n_slots, sizeof *slots);
	if (!slots)
		return false;
	for (uint32_t id = 0; id < t->starts.n; id++) {
		const char *s = strtab_get(t, id);
		uint64_t hash = hash_name(s, strlen(s));
		size_t i = hash & (n_slots - 1);
		while (slots[i])
			i = (i + 1) & (n_slots - 1);
		slots[i] = (hash & HASH_PART) | (id + 1);
	}
	free(t->slots);
	t->slots = slots;
	t->n_slots = n_slots;
	return true;
}

bool strtab_reserve(struct strtab *t, size_t n)
{
	size_t n_slots = t->n_slots ? t->n_slots : 64;
	while ((t->starts.n + n) * 2 > n_slots)
		n_slots *= 2;
	return n_slots == t->n_slots || grow(t, n_slots);
}

uint32_t strtab_add(struct strtab *t, const char *s, size_t n_bytes)
{
	if (t->starts.n * 2 >= t->n_slots && !strtab_reserve(t, 1))
		return STRTAB_FAILED;
	uint64_t hash = hash_name(s, n_bytes), *slot = find(t, hash, s, n_bytes);
	if (*slot)
		return id_in(*slot);
	if (t->bytes.n + n_bytes + 1 >= STRTAB_FAILED || !vec_reserve(&t->starts, t->starts.n + 1))
		return STRTAB_FAILED;
	size_t start = t->bytes.n;
	if (!vec_reserve(&t->bytes, start + n_bytes + 1))
		return STRTAB_FAILED;
	memcpy(t->bytes.at + start, s, n_bytes);
	t->bytes.at[start + n_bytes] = '\0';
	t->bytes.n += n_bytes + 1;
	*vec_push(&t->starts) = (uint32_t)start;
	*slot = (hash & HASH_PART) | (uint32_t)t->starts.n;
	return id_in(*slot);
}

uint32_t strtab_add_z(struct strtab *t, const char *s)
{
	return strtab_add(t, s, strlen(s));
}

const char *strtab_get(const struct strtab *t, uint32_t id)
{
	return t->bytes.at + t->starts.at[id];
}

uint32_t strtab_offset(const struct strtab *t, uint32_t id)
{
	return t->starts.at[id];
}

void strtab_free(struct strtab *t)
{
	vec_free(&t->bytes);
	vec_free(&t->starts);
	free(t->slots);
	*t = (struct strtab){0};
}
