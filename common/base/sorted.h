/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binary search in arrays that are sorted by an unsigned field of their items. Macros, as arrays are of many types; GNU C's statement expressions, so that each argument is
 * evaluated once but for `items`. Test: tests/unit/test_base.c.
 */
#ifndef COMMON_BASE_SORTED_H
#define COMMON_BASE_SORTED_H

#include <stddef.h>

/* How many items have a field below `key`: the index of the first that has not. */
#define sorted_below(items, n_items, field, key) sorted_count(items, n_items, field, <, key)
/* How many have one not above it: one more than the index of the last, 0 where there is none. */
#define sorted_up_to(items, n_items, field, key) sorted_count(items, n_items, field, <=, key)

#define sorted_count(items, n_items, field, is_in_order, key) \
	__extension__({ \
		size_t low_ = 0, high_ = (n_items); \
		const __typeof__(key) key_ = (key); \
		while (low_ < high_) { \
			size_t middle_ = low_ + (high_ - low_) / 2; \
			if ((items)[middle_].field is_in_order key_) \
				low_ = middle_ + 1; \
			else \
				high_ = middle_; \
		} \
		low_; \
	})

#endif
