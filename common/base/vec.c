/* SPDX-License-Identifier: BSD-3-Clause */
/* Growable array; see vec.h. Does not know the type of its items.
 * Test: tests/unit/common/test_base.c. */
#include "common/base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool vec_reserve_raw(void **at, size_t *capacity, size_t item_bytes, size_t wanted)
{
	if (wanted <= *capacity)
		return true;
	size_t grown = *capacity < 8 ? 8 : *capacity;
	while (grown < wanted) {
		if (grown > SIZE_MAX / 2)
			return false;
		grown *= 2;
	}
	if (grown > SIZE_MAX / item_bytes)
		return false;
	void *p = realloc(*at, grown * item_bytes);
	if (!p)
		return false;
	*at = p;
	*capacity = grown;
	return true;
}

void *vec_extend_raw(void **at, size_t *n, size_t *capacity, size_t item_bytes, size_t count)
{
	/* Make room for at least one item: the result must not be NULL when the caller wants 0
	 * items. */
	if (count >= SIZE_MAX - *n ||
	    !vec_reserve_raw(at, capacity, item_bytes, *n + (count ? count : 1)))
		return NULL;
	char *first = (char *)*at + *n * item_bytes;
	memset(first, 0, count * item_bytes);
	*n += count;
	return first;
}

void vec_free_raw(void **at)
{
	free(*at);
	*at = NULL;
}
