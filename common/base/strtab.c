/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of distinct strings; see strtab.h. Ids and offsets never change once given. Test:
 * tests/unit/common/test_base.c. */
#include "common/base/strtab.h"

#include "common/base/map.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *find(const struct strtab *t, const char *s, size_t n_bytes)
{
	size_t i = hash_bytes(s, n_bytes) & (t->n_slots - 1);
	for (; t->slots[i]; i = (i + 1) & (t->n_slots - 1)) {
		const char *have = strtab_get(t, t->slots[i] - 1);
		if (strncmp(have, s, n_bytes) == 0 && have[n_bytes] == '\0')
			break;
	}
	return &t->slots[i];
}

static bool grow(struct strtab *t)
{
	struct strtab bigger = *t;
	bigger.n_slots = t->n_slots ? t->n_slots * 2 : 64;
	bigger.slots = calloc(bigger.n_slots, sizeof *bigger.slots);
	if (!bigger.slots)
		return false;
	for (uint32_t id = 0; id < t->starts.n; id++) {
		const char *s = strtab_get(t, id);
		*find(&bigger, s, strlen(s)) = id + 1;
	}
	free(t->slots);
	*t = bigger;
	return true;
}

uint32_t strtab_add(struct strtab *t, const char *s, size_t n_bytes)
{
	if (t->starts.n * 2 >= t->n_slots && !grow(t))
		return STRTAB_FAILED;
	uint32_t *slot = find(t, s, n_bytes);
	if (*slot)
		return *slot - 1;
	if (t->bytes.n + n_bytes + 1 >= STRTAB_FAILED || !vec_reserve(&t->starts, t->starts.n + 1))
		return STRTAB_FAILED;
	size_t start = t->bytes.n;
	char *copy = vec_extend(&t->bytes, n_bytes + 1);
	if (!copy)
		return STRTAB_FAILED;
	memcpy(copy, s, n_bytes);
	*vec_push(&t->starts) = (uint32_t)start;
	*slot = (uint32_t)t->starts.n;
	return *slot - 1;
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
