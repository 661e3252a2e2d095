/* SPDX-License-Identifier: BSD-3-Clause */
/* See torch_nodes.h. Test: tests/unit/torch/test_torch_nodes.c. */
#include "hpcrun-lite/torch/torch_nodes.h"

#include "common/safe/room.h"
#include "common/safe/sys.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

/* `check` is the key of the node xor `frame`. */
struct entry {
	_Atomic uint64_t check, frame;
};

static _Atomic(struct entry *) table;
static _Atomic bool has_no_memory;

#define TABLE_BYTES (TORCH_NODES_MOST * sizeof(struct entry))

static uint64_t key_of(const struct torch_node *node)
{
	return node->number ^ node->thread << 40;
}

/* The nodes of a thread follow each other in the table. Each thread begins at another entry. */
static struct entry *entry_of(struct entry *t, const struct torch_node *node)
{
	const uint64_t start = node->thread * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	return &t[(node->number + start) % TORCH_NODES_MOST];
}

static struct entry *make_table(void)
{
	struct entry *none = NULL;
	const long at = room_take(TABLE_BYTES)
				? sys_mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
				: -1;
	if (sys_is_error(at)) {
		atomic_store_explicit(&has_no_memory, true, memory_order_relaxed);
		return NULL;
	}
	/* acquire and release: the pages of another thread's table are zero */
	if (atomic_compare_exchange_strong_explicit(&table, &none, (struct entry *)at,
						    memory_order_acq_rel, memory_order_acquire))
		return (struct entry *)at;
	sys_munmap((void *)at, TABLE_BYTES);
	room_give(TABLE_BYTES);
	return none;
}

void torch_nodes_put(const struct torch_node *node, uint64_t frame)
{
	struct entry *t = atomic_load_explicit(&table, memory_order_acquire);
	if (!t && !atomic_load_explicit(&has_no_memory, memory_order_relaxed))
		t = make_table();
	if (!t)
		return;
	/* relaxed: PyTorch passes the node to other threads, and a torn entry fails its check */
	struct entry *e = entry_of(t, node);
	atomic_store_explicit(&e->frame, frame, memory_order_relaxed);
	atomic_store_explicit(&e->check, key_of(node) ^ frame, memory_order_relaxed);
}

uint64_t torch_nodes_find(const struct torch_node *node)
{
	struct entry *t = atomic_load_explicit(&table, memory_order_acquire);
	if (!t)
		return 0;
	const struct entry *e = entry_of(t, node);
	const uint64_t frame = atomic_load_explicit(&e->frame, memory_order_relaxed),
		       check = atomic_load_explicit(&e->check, memory_order_relaxed);
	return (check ^ frame) == key_of(node) ? frame : 0;
}

void torch_nodes_forget(void)
{
	struct entry *t = atomic_exchange_explicit(&table, NULL, memory_order_relaxed);
	if (t) {
		sys_munmap(t, TABLE_BYTES);
		room_give(TABLE_BYTES);
	}
}
