/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growable array of one type. VEC(T) declares the struct; the macros below take its address. The
 * capacity doubles when the array is full. If growing fails, the array is unchanged and the result
 * is NULL or false. One owner; not thread-safe. Test: tests/unit/common/test_base.c.
 *
 *     VEC(struct row) rows = {0};
 *     struct row *r = vec_push(&rows);      // zeroed; NULL if there is no memory
 *     for (size_t i = 0; i < rows.n; i++) use(&rows.at[i]);
 *     vec_free(&rows);
 *
 * Pointers into the array are valid until the next push. A VEC without a name makes a type that
 * functions can take: struct rows { VEC(struct row); }.
 */
#ifndef COMMON_BASE_VEC_H
#define COMMON_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#define VEC(T) \
	struct { \
		T *at; \
		size_t n, capacity; \
	}

/* Makes room for at least `capacity` items. */
#define vec_reserve(v, capacity_) \
	vec_reserve_raw((void **)&(v)->at, &(v)->capacity, sizeof *(v)->at, (capacity_))
/* Appends `count` zeroed items. Returns the first of them, or NULL. */
#define vec_extend(v, count) \
	((__typeof__((v)->at))vec_extend_raw( \
		(void **)&(v)->at, &(v)->n, &(v)->capacity, sizeof *(v)->at, (count)))
#define vec_push(v) vec_extend(v, 1)
#define vec_free(v) (vec_free_raw((void **)&(v)->at), (v)->n = (v)->capacity = 0)
#define vec_clear(v) ((void)((v)->n = 0))

bool vec_reserve_raw(void **at, size_t *capacity, size_t item_bytes, size_t wanted);
void *vec_extend_raw(void **at, size_t *n, size_t *capacity, size_t item_bytes, size_t count);
void vec_free_raw(void **at);

#endif
