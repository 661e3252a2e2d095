/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that code compiled with -fsanitize=thread calls, instead of those of libtsan. The
 * compiler knows them; their contract is the interface of libtsan. A plain
 * access calls before it happens. Outside of threads of the checker all of them do what the name
 * says. Test: tests/order/test_order_litmus.c.
 */
#include "tests/order/order_internal.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"

void __tsan_init(void)
{
}
void __tsan_func_entry(void *caller)
{
	(void)caller;
}
void __tsan_func_exit(void)
{
}

static void before_read(const void *at, size_t n)
{
	if (order_thread >= 0)
		model_read((uintptr_t)at, n);
}

static void before_write(const void *at, size_t n)
{
	if (order_thread >= 0)
		model_write((uintptr_t)at, n);
}

#define PLAIN(n)                                 \
	void __tsan_read##n(void *at)            \
	{                                        \
		before_read(at, n);              \
	}                                        \
	void __tsan_write##n(void *at)           \
	{                                        \
		before_write(at, n);             \
	}                                        \
	void __tsan_unaligned_read##n(void *at)  \
	{                                        \
		before_read(at, n);              \
	}                                        \
	void __tsan_unaligned_write##n(void *at) \
	{                                        \
		before_write(at, n);             \
	}
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *at, size_t n)
{
	before_read(at, n);
}
void __tsan_write_range(void *at, size_t n)
{
	before_write(at, n);
}

void *order_memcpy(void *to, const void *from, size_t n)
{
	before_read(from, n);
	before_write(to, n);
	return memcpy(to, from, n);
}
void *order_memset(void *to, int byte, size_t n)
{
	before_write(to, n);
	return memset(to, byte, n);
}
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
	return order_memcpy(to, from, n);
}
void *__tsan_memset(void *to, int byte, size_t n)
{
	return order_memset(to, byte, n);
}

static uint64_t take(uint64_t old, uint64_t v)
{
	(void)old;
	return v;
}
static uint64_t add(uint64_t old, uint64_t v)
{
	return old + v;
}
static uint64_t subtract(uint64_t old, uint64_t v)
{
	return old - v;
}
static uint64_t unite(uint64_t old, uint64_t v)
{
	return old | v;
}
static uint64_t intersect(uint64_t old, uint64_t v)
{
	return old & v;
}

#define CHANGE(bits, name, function)                                                              \
	uint##bits##_t __tsan_atomic##bits##_##name(volatile void *at, uint##bits##_t v,          \
						    int order)                                    \
	{                                                                                         \
		uint##bits##_t *p = (uint##bits##_t *)(uintptr_t)at;                              \
		if (order_thread >= 0)                                                            \
			return (uint##bits##_t)model_change((uintptr_t)at, bits / 8, function, v, \
							    order_weakened(order));               \
		const uint##bits##_t old = *p;                                                    \
		*p = (uint##bits##_t)function(old, v);                                            \
		return old;                                                                       \
	}
#define ATOMIC(bits)                                                                              \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile void *at, int order)             \
	{                                                                                         \
		if (order_thread >= 0)                                                            \
			return (uint##bits##_t)model_load((uintptr_t)at, bits / 8,                \
							  order_weakened(order));                 \
		return *(const uint##bits##_t *)(uintptr_t)at;                                    \
	}                                                                                         \
	void __tsan_atomic##bits##_store(volatile void *at, uint##bits##_t v, int order)          \
	{                                                                                         \
		if (order_thread >= 0)                                                            \
			model_store((uintptr_t)at, bits / 8, v, order_weakened(order));           \
		else                                                                              \
			*(uint##bits##_t *)(uintptr_t)at = v;                                     \
	}                                                                                         \
	int __tsan_atomic##bits##_compare_exchange_strong(                                        \
		volatile void *at, uint##bits##_t *expected, uint##bits##_t v, int order,         \
		int failure_order)                                                                \
	{                                                                                         \
		uint64_t e = *expected;                                                           \
		uint##bits##_t *p = (uint##bits##_t *)(uintptr_t)at;                              \
		bool is_done;                                                                     \
		if (order_thread >= 0) {                                                          \
			is_done = model_compare((uintptr_t)at, bits / 8, &e, v,                   \
						order_weakened(order), failure_order);            \
		} else {                                                                          \
			is_done = *p == e;                                                        \
			e = *p;                                                                   \
			*p = is_done ? v : *p;                                                    \
		}                                                                                 \
		*expected = (uint##bits##_t)e;                                                    \
		return is_done;                                                                   \
	}                                                                                         \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile void *at,                        \
							uint##bits##_t *expected,                 \
							uint##bits##_t v, int order, int failure) \
	{                                                                                         \
		return __tsan_atomic##bits##_compare_exchange_strong(at, expected, v, order,      \
								     failure);                    \
	}                                                                                         \
	/* clang calls this one. */                                                               \
	uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                \
		volatile void *at, uint##bits##_t expected, uint##bits##_t v, int order,          \
		int failure_order)                                                                \
	{                                                                                         \
		__tsan_atomic##bits##_compare_exchange_strong(at, &expected, v, order,            \
							      failure_order);                     \
		return expected;                                                                  \
	}                                                                                         \
	CHANGE(bits, exchange, take)                                                              \
	CHANGE(bits, fetch_add, add)                                                              \
	CHANGE(bits, fetch_sub, subtract)                                                         \
	CHANGE(bits, fetch_or, unite)                                                             \
	CHANGE(bits, fetch_and, intersect)
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
	if (order_thread >= 0)
		model_fence(order_weakened(order));
}
void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
