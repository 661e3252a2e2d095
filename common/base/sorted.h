/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binary search. These are macros because the arrays have many types. They use GNU C statement
 * expressions, so that each argument except `items` and `is_before` is evaluated once. Test:
 * tests/unit/common/test_base.c.
 */
#ifndef COMMON_BASE_SORTED_H
#define COMMON_BASE_SORTED_H

#include <stddef.h>

/*
 * Number of items whose unsigned field is below `key`. This is the index of the first item at or
 * above it. The items are sorted by the field.
 */
#define sorted_below(items, n_items, field, key) sorted_count(items, n_items, field, <, key)
/*
 * Number of items whose field is at most `key`: the index of the last one plus 1, or 0 if there is
 * none.
 */
#define sorted_up_to(items, n_items, field, key) sorted_count(items, n_items, field, <=, key)

#define sorted_count(items, n_items, field, is_in_order, key) \
	__extension__({ \
		const __typeof__(key) key_ = (key); \
		sorted_prefix(n_items, middle_, (items)[middle_].field is_in_order key_); \
	})

/*
 * Number of indices i < n_items for which the expression `is_before` is true. It must be true for
 * all indices below this number and false for the others. `i` is the name of the index in the
 * expression.
 */
#define sorted_prefix(n_items, i, is_before) \
	__extension__({ \
		size_t low_ = 0, high_ = (n_items); \
		while (low_ < high_) { \
			const size_t i = low_ + (high_ - low_) / 2; \
			if (is_before) \
				low_ = i + 1; \
			else \
				high_ = i; \
		} \
		low_; \
	})

#endif
