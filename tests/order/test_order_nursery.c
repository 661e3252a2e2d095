/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of slabs for children (hpcrun-lite/store/nursery.c): while a thread forks, no other
 * one unmaps the slab that it took, and a slab that a child begins is complete for its readers. See
 * order.h.
 */
#include "common/safe/sys.h"

#undef sys_munmap
#undef sys_madvise
#define sys_munmap(at, n) order_unmap(at, n)
#define sys_madvise(at, n, advice) ((void)0)
#include "hpcrun-lite/store/extent.c"
#include "hpcrun-lite/store/nursery.c"

enum { SLABS = 2, BYTES = PAGE + SLABS * NURSERY_BRIEF_BYTES };

static _Alignas(4096) uint8_t arena[2][2 * PAGE]; /* of the first slabs, and of those after them */
static unsigned n_added;
static struct nursery nursery = {.slab_bytes = NURSERY_BRIEF_BYTES};

void room_give(size_t n)
{
	(void)n;
}
void space_punch(struct space *s, uint64_t offset, uint64_t n_bytes)
{
	(void)s;
	(void)offset;
	(void)n_bytes;
}
enum space_result space_add(struct space *s, uint64_t offset, uint64_t *n_bytes, uint8_t **base)
{
	(void)s;
	(void)offset;
	(void)n_bytes;
	*base = arena[n_added++];
	return SPACE_OK;
}
uint32_t msr_extent_check(const struct msr_extent *e)
{
	return e->sequence;
}

/* As store_before_fork() and store_after_fork() do. */
static void fork_once(void)
{
	nursery_fork_begins(&nursery);
	struct msr_extent *slab = nursery_take(&nursery);
	if (slab)
		nursery_begin(slab);
	nursery_fork_ends(&nursery);
}

static void give_up(void)
{
	nursery_give_up(&nursery, 0);
}

/* Replaces the slabs, as add_nursery() does in a thread that forks. */
static void add_again(void)
{
	nursery_fork_begins(&nursery);
	if (nursery_give_up(&nursery, 1))
		nursery_add(&nursery, NULL, 0, BYTES);
	nursery_fork_ends(&nursery);
}

int main(void)
{
	nursery_add(&nursery, NULL, 0, BYTES);
	static const struct order_program programs[] = {
		{"slabs are given up beside a fork", {fork_once, give_up}, NULL},
		{"... by a thread that forks", {fork_once, add_again}, NULL},
		{.name = NULL}};
	static const struct order_spare spare[] = {
		{"extent_write", 1, "the readers of extents are not in the process"},
		{"nursery_add", 1, "the fence of extent_write() is before it"},
		{"nursery_begin", 1, "the readers of extents are not in the process"},
		{"nursery_give_up", 3, "the next store releases it"},
		{"nursery_give_up", 4, "the loads of base are in one order with the store before"},
		{.function = NULL}};
	order_test(programs, spare);
	return order_done();
}
