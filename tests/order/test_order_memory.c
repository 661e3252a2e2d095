/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of the table of sampled addresses (hpcrun-lite/memory/memory_table.c): who takes an
 * address gets what was put with it, also while another thread uses its place again. The program
 * itself passes a block from thread to thread. See order.h.
 */
#include "hpcrun-lite/memory/memory_table.c"

/* For memory_table.c: a level is made before the threads run. */
bool room_take(size_t n)
{
	return n != 0;
}
void room_give(size_t n)
{
	(void)n;
}

static _Atomic int is_passed;
static uintptr_t first = 16, second; /* of one bucket */

static void put(uintptr_t at, uint64_t stamp)
{
	if (!memory_table_put(at, &(struct memory_kept){NULL, stamp}))
		order_fault("there is no room");
}

static void expect(uintptr_t at, uint64_t stamp)
{
	struct memory_kept kept;
	if (!memory_table_take(at, &kept))
		order_fault("an address is not found");
	else if (kept.stamp != stamp)
		order_fault("an address has what belongs to another");
}

static void put_and_pass(void)
{
	put(second, 2);
	atomic_store_explicit(&is_passed, 1, memory_order_release);
}
static void take_passed(void)
{
	if (atomic_load_explicit(&is_passed, memory_order_acquire))
		expect(second, 2);
	else
		atomic_store_explicit(&is_passed, 2, memory_order_relaxed);
}
static void take_first(void)
{
	expect(first, 1);
}
static void put_second(void)
{
	put(second, 2);
}
static void look(void)
{
	expect(second, 2);
}

int main(void)
{
	second = first;
	do
		second += 16;
	while (bucket_of(second, 0) != bucket_of(first, 0));
	put(first, 1);
	static const struct order_program programs[] = {
		{"place used again", {take_first, put_second}, look},
		{"block passed on", {put_and_pass, take_passed}, NULL},
		{.name = NULL}};
	order_test(programs, NULL);
	return order_done();
}
