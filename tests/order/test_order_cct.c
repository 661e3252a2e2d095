/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of the calling context tree (hpcrun-lite/cct): who reads the mapped file while a
 * thread adds to its tree sees whole nodes and cells. The reader here is another thread. See
 * order.h.
 */
#include "hpcrun-lite/cct/cct.c"
#include "hpcrun-lite/cct/table.c"

enum { N_EXTENTS = 2, EXTENT_BYTES = 512, ADDRESS = 77, METRIC = 3, SUM = 1000 };

/* The extents of nodes and of cells. */
static _Alignas(64) uint8_t extents[N_EXTENTS][EXTENT_BYTES];
static _Alignas(64) uint8_t memory[1 << 18];
static struct cct *tree;

struct msr_extent *store_extent(const struct store_request *r, enum msr_loss *cause)
{
	(void)cause;
	struct msr_extent *e = (struct msr_extent *)(void *)extents[r->kind == MSR_CELL];
	atomic_store_explicit(&e->length, EXTENT_BYTES, memory_order_relaxed);
	return e;
}
void store_give_tail(struct msr_extent *e)
{
	(void)e;
}
void store_drop(struct msr_extent *e)
{
	(void)e;
}
bool room_take(size_t n)
{
	return n != 0;
}
void room_give(size_t n)
{
	(void)n;
}
bool patience_wait(struct patience *p)
{
	(void)p;
	return false;
}

static void add(void)
{
	enum msr_loss cause;
	uint32_t node;
	if (!cct_child(tree, 0, ADDRESS, &node, &cause) ||
	    !cct_add(tree, node, METRIC, 1, SUM, &cause))
		order_fault("the tree has room, and finds none");
}

/* Returns what is in use of an extent. */
static uint64_t used(unsigned i)
{
	struct msr_extent *e = (struct msr_extent *)(void *)extents[i];
	return atomic_load_explicit(&e->used, memory_order_acquire);
}

/* As hpcprof-lite would read the file of a process that lives. */
static void look(void)
{
	struct msr_node *node = (struct msr_node *)(void *)(extents[0] + sizeof(struct msr_extent));
	if (used(0) < 2 * sizeof *node)
		return;
	if (node[1].addr != ADDRESS)
		order_fault("a node is seen before it is complete");
	if (!atomic_load_explicit(&node[1].first_cell, memory_order_acquire))
		return;
	struct msr_cell *cell = (struct msr_cell *)(void *)(extents[1] + sizeof(struct msr_extent));
	if (cell->metric != METRIC || one_writer_get(&cell->sum) != SUM)
		order_fault("a cell is seen before it is complete");
	if (used(1) < sizeof *cell)
		order_fault("a cell is seen that is not in use");
}

int main(void)
{
	static const struct cct_options options = {.max_depth = 4, .max_nodes = 8};
	enum msr_loss cause;
	uint32_t root;
	tree = cct_init(memory, &options);
	if (cct_bytes(4) > sizeof memory || !new_node(tree, 0, 0, &root, &cause))
		return 1;
	static const struct order_program programs[] = {
		{"a node and a cell are read while they are added", {add, look}, NULL},
		{.name = NULL}};
	order_test(programs, NULL);
	return order_done();
}
