/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before everything else in code that the checker runs: atomic operations say where they
 * are, and copies of memory go through the checker. See order.h.
 */
#ifndef TESTS_ORDER_ORDER_NAMES_H
#define TESTS_ORDER_ORDER_NAMES_H

#include "tests/order/order.h"

#include <stdatomic.h>
#include <string.h>

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wtsan" /* libtsan does not know fences; the checker does */
#endif

void *order_memcpy(void *to, const void *from, size_t n);
void *order_memset(void *to, int byte, size_t n);
#undef memcpy
#undef memset
#define memcpy order_memcpy
#define memset order_memset

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_thread_fence

#define ORDER_AT(operation) order_at(__func__, __LINE__, operation)
#ifdef __clang__
#define ORDER_DO(name) __c11_atomic_##name
#define ORDER_COMPARE(p, e, d, s, f) __c11_atomic_compare_exchange_strong(p, e, d, s, f)
#else
#define ORDER_DO(name) ORDER_GNU_##name
#define ORDER_GNU_load __atomic_load_n
#define ORDER_GNU_store __atomic_store_n
#define ORDER_GNU_exchange __atomic_exchange_n
#define ORDER_GNU_fetch_add __atomic_fetch_add
#define ORDER_GNU_fetch_sub __atomic_fetch_sub
#define ORDER_GNU_fetch_or __atomic_fetch_or
#define ORDER_COMPARE(p, e, d, s, f) __atomic_compare_exchange_n(p, e, d, 0, s, f)
#endif
#define atomic_load_explicit(p, o) (ORDER_AT("load"), ORDER_DO(load)(p, o))
#define atomic_store_explicit(p, v, o) (ORDER_AT("store"), ORDER_DO(store)(p, v, o))
#define atomic_exchange_explicit(p, v, o) (ORDER_AT("exchange"), ORDER_DO(exchange)(p, v, o))
#define atomic_fetch_add_explicit(p, v, o) (ORDER_AT("add"), ORDER_DO(fetch_add)(p, v, o))
#define atomic_fetch_sub_explicit(p, v, o) (ORDER_AT("subtract"), ORDER_DO(fetch_sub)(p, v, o))
#define atomic_fetch_or_explicit(p, v, o) (ORDER_AT("or"), ORDER_DO(fetch_or)(p, v, o))
#define atomic_compare_exchange_strong_explicit(p, e, d, s, f) \
	(ORDER_AT("compare and swap"), ORDER_COMPARE(p, e, d, s, f))
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit
#define atomic_thread_fence(o) (ORDER_AT("fence"), __atomic_thread_fence(o))

#endif
