/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of distinct strings in one block of memory. Adding a string returns a dense id. Its
 * offset in the block can go into a file unchanged. One owner; not thread-safe. Test:
 * tests/unit/common/test_base.c.
 */
#ifndef COMMON_BASE_STRTAB_H
#define COMMON_BASE_STRTAB_H

#include "common/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define STRTAB_FAILED UINT32_MAX

struct strtab {
	VEC(char) bytes;      /* the strings, each with its NUL */
	VEC(uint32_t) starts; /* offset in `bytes`, indexed by id */
	uint64_t *slots;      /* hash table: half of the hash, and in the low half id + 1 */
	size_t n_slots;
};

/*
 * Returns the id of the string of `n_bytes` at `s`, which contains no NUL. Ids start at 0. Returns
 * STRTAB_FAILED if there is no memory.
 */
uint32_t strtab_add(struct strtab *t, const char *s, size_t n_bytes);
uint32_t strtab_add_z(struct strtab *t, const char *s);
/* Makes room for that many more strings at once. Returns false if there is no memory. */
bool strtab_reserve(struct strtab *t, size_t n);
/* Borrowed; valid until the next add. */
const char *strtab_get(const struct strtab *t, uint32_t id);
/* Offset of the string in bytes.at. */
uint32_t strtab_offset(const struct strtab *t, uint32_t id);
void strtab_free(struct strtab *t);

#endif
