/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binary search in arrays sorted by an unsigned field of their items. These are macros because the
 * arrays have many types. They use GNU C statement expressions, so that each argument except
 * `items` is evaluated once. Test: tests/unit/common/test_base.c.
 */
#ifndef COMMON_BASE_SORTED_H
#define COMMON_BASE_SORTED_H

#include <stddef.h>

/*
 * Number of items whose field is below `key`. This is the index of the first item at or above it.
 */
#define sorted_below(items, n_items, field, key) sorted_count(items, n_items, field, <, key)
/*
 * Number of items whose field is at most `key`: the index of the last one plus 1, or 0 if there is
 * none.
 */
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
