/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of the index of the GPU core (hpcrun-lite/gpu/index.c): a reader finds complete
 * entries, or nothing, while one thread adds and doubles the table. Memory comes from an arena,
 * which every run has anew. See order.h.
 */
#include "common/safe/sys.h"

static long arena_take(size_t n);
static void arena_give(const void *at);
#undef sys_mmap
#define sys_mmap(at, n, protection, flags, fd, offset) arena_take(n)
#undef sys_munmap
#define sys_munmap(at, n) arena_give(at)
#include "hpcrun-lite/gpu/index.c"

static _Alignas(64) char arena[1 << 16];
static size_t arena_used;

static long arena_take(size_t n)
{
	char *at = arena + arena_used;
	arena_used += (n + 63) & ~(size_t)63;
	return (long)at;
}

static void arena_give(const void *at)
{
	order_unmap(at, sizeof arena);
}

static struct index x;
static struct entry {
	uint64_t key, value;
} entries[4];

static bool same(const void *value, const void *key)
{
	const struct entry *e = value;
	return e->key == *(const uint64_t *)key;
}

static void add(uint64_t key)
{
	entries[key].key = key;
	entries[key].value = key + 100;
	if (!index_add(&x, key, &entries[key]))
		order_fault("there is room, and index_add() finds none");
}

static void add_two(void)
{
	add(1);
	add(2);
}

static void find(uint64_t key)
{
	const struct entry *e = index_find(&x, key, same, &key);
	if (e && e->value != key + 100)
		order_fault("an entry is found before it is complete");
}

static void find_1(void)
{
	find(1);
}

/* An entry that was found is found again, in the larger table. */
static void find_twice(void)
{
	uint64_t key = 1;
	const struct entry *e = index_find(&x, key, same, &key);
	if (e && index_find(&x, key, same, &key) != e)
		order_fault("an entry is lost");
}

int main(void)
{
	/* The first table holds one entry, so that the second one makes a larger table. */
	x.table = make_table(2);
	static const struct order_program programs[] = {
		{"two entries are added", {add_two, find_1}, NULL},
		{"... and searched twice", {add_two, find_twice}, NULL},
		{.name = NULL}};
	order_test(programs, NULL);
	return order_done();
}
