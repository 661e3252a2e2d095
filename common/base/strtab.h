/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of distinct strings in one block: interning gives a dense id and an offset that may go into a file as it is. One owner; not
 * thread-safe. Test: tests/unit/test_base.c.
 */
#ifndef COMMON_BASE_STRTAB_H
#define COMMON_BASE_STRTAB_H

#include "common/base/vec.h"

#include <stdint.h>

#define STRTAB_FAILED UINT32_MAX

struct strtab {
	VEC(char) bytes;      /* the strings, each with its NUL */
	VEC(uint32_t) starts; /* by id: offset in bytes */
	uint32_t *slots;      /* hash table of id + 1 */
	size_t n_slots;
};

/* Id of the `n_bytes` long string at `s` (no NUL inside); STRTAB_FAILED when memory is short. The first distinct string gets id 0. */
uint32_t strtab_add(struct strtab *t, const char *s, size_t n_bytes);
uint32_t strtab_add_z(struct strtab *t, const char *s);
/* Borrowed; good until the next add. */
const char *strtab_get(const struct strtab *t, uint32_t id);
/* Offset of the string in bytes.at. */
uint32_t strtab_offset(const struct strtab *t, uint32_t id);
void strtab_free(struct strtab *t);

#endif
