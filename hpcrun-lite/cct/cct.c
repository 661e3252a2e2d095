/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calling context tree of a thread; see cct.h. Must not allocate except by mmap, and must not
 * wait. Tests: tests/unit/run/test_cct.c.
 *
 * The index is an open-addressing table with linear probing of 8-byte entries: 32 bits of the hash
 * of (parent, address) and the node's id. It lives in anonymous memory and doubles when it is two
 * thirds full; hashes are in the entries, so doubling does not touch the nodes. `memo` holds the
 * nodes of the path inserted last, outermost first.
 */
#include "hpcrun-lite/cct/cct.h"

#include "common/safe/one_writer.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/cct/table.h"
#include "hpcrun-lite/store/store.h"

#include <sys/mman.h>

#define CCT_FIRST_SLOTS 128u
#define CCT_TRACE_FIRST_BYTES 512u
#define CCT_TRACE_LAST_BYTES (64u << 10)

struct slot {
	uint32_t hash;
	uint32_t node; /* 0: empty, because the root is never looked up */
};

struct cct {
	struct cct_options options;
	struct table nodes, cells;
	struct slot *slot;
	uint32_t n_slots;      /* a power of two */
	uint32_t n_memo;       /* valid entries after memo[0] */
	struct msr_extent *trace;
	uint64_t trace_used,
		trace_end; /* bytes after its header: used, and available */
	uint32_t trace_sequence, trace_bytes;
	uint64_t trace_ns;     /* time of the last record */
	struct slot first_slots[CCT_FIRST_SLOTS];
	uint32_t memo[];       /* [0]: the entry point; [i]: the i-th frame from the outermost */
};

/* Returns where the large arrays of the tables start, after the memo. */
static size_t arrays_at(uint32_t max_depth)
{
	return (sizeof(struct cct) + ((size_t)max_depth + 1) * sizeof(uint32_t) + 63) & ~(size_t)63;
}

size_t cct_bytes(uint32_t max_depth)
{
	return arrays_at(max_depth) + 2 * TABLE_MANY_BYTES;
}

struct cct *cct_init(void *memory, const struct cct_options *options)
{
	struct cct *t = memory;
	uint8_t *arrays = (uint8_t *)memory + arrays_at(options->max_depth);
	t->options = *options;
	table_init(&t->nodes, MSR_NODE, sizeof(struct msr_node), options->thread,
		   (struct table_extent *)arrays);
	table_init(&t->cells, MSR_CELL, sizeof(struct msr_cell), options->thread,
		   (struct table_extent *)(arrays + TABLE_MANY_BYTES));
	for (uint32_t i = 0; t->slot == t->first_slots && i < CCT_FIRST_SLOTS;
	     i++) /* memory was in use before */
		t->first_slots[i] = (struct slot){0, 0};
	t->slot = t->first_slots;
	t->n_slots = CCT_FIRST_SLOTS;
	t->n_memo = 0;
	t->trace = NULL;
	t->trace_sequence = 0;
	t->trace_bytes = CCT_TRACE_FIRST_BYTES;
	return t;
}

/* ---- nodes ---- */

static uint32_t hash_of(uint32_t parent, msr_addr addr)
{
	uint64_t h = (addr ^ (uint64_t)parent << 32 ^ parent) * UINT64_C(0x9E3779B97F4A7C15);
	h ^= h >> 32;
	return (uint32_t)((h * UINT64_C(0xD6E8FEB86659FD93)) >> 32);
}

static void place(struct slot *slot, uint32_t n_slots, struct slot entry)
{
	uint32_t i = entry.hash & (n_slots - 1);
	while (slot[i].node)
		i = (i + 1) & (n_slots - 1);
	slot[i] = entry;
}

static void release_slots(struct cct *t, struct slot *slot, uint32_t n_slots)
{
	if (slot == t->first_slots)
		return;
	sys_munmap(slot, (size_t)n_slots * sizeof *slot);
	room_give((size_t)n_slots * sizeof *slot);
	/* first_slots was in use before the index grew */
	for (uint32_t i = 0; i < CCT_FIRST_SLOTS; i++)
		t->first_slots[i] = (struct slot){0, 0};
}

static bool double_slots(struct cct *t)
{
	uint32_t old_n = t->n_slots, n = old_n * 2;
	struct slot *old = t->slot;
	if (!room_take((size_t)n * sizeof(struct slot)))
		return false;
	long at = sys_mmap(NULL, (size_t)n * sizeof(struct slot), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(at)) {
		room_give((size_t)n * sizeof(struct slot));
		return false;
	}
	struct slot *slot = (struct slot *)at;
	for (uint32_t i = 0; i < old_n; i++)
		if (old[i].node)
			place(slot, n, old[i]);
	/* In this order, because another thread may fork here, and its child calls cct_forget. */
	t->slot = slot;
	t->n_slots = n;
	atomic_signal_fence(memory_order_seq_cst);
	release_slots(t, old, old_n);
	return true;
}

static bool new_node(struct cct *t, uint32_t parent, msr_addr addr, uint32_t *id,
		     enum msr_loss *cause)
{
	if (t->nodes.n > t->options.max_nodes) {
		*cause = MSR_LOSS_NODE_LIMIT;
		return false;
	}
	struct msr_node *node = table_reserve(&t->nodes, cause);
	if (!node)
		return false;
	node->addr = addr;
	node->parent = parent;
	*id = table_commit(&t->nodes);
	return true;
}

/* Finds or makes the child of `parent` with this address. */
static bool child(struct cct *t, uint32_t parent, msr_addr addr, uint32_t *id, enum msr_loss *cause)
{
	uint32_t hash = hash_of(parent, addr);
	for (uint32_t i = hash & (t->n_slots - 1); t->slot[i].node;
	     i = (i + 1) & (t->n_slots - 1)) {
		if (t->slot[i].hash != hash)
			continue;
		const struct msr_node *node = table_at(&t->nodes, t->slot[i].node);
		if (node->addr == addr && node->parent == parent) {
			*id = t->slot[i].node;
			return true;
		}
	}
	if ((uint64_t)t->nodes.n * 3 >= (uint64_t)t->n_slots * 2 && !double_slots(t)) {
		*cause = MSR_LOSS_NO_MEMORY;
		return false;
	}
	if (!new_node(t, parent, addr, id, cause))
		return false;
	place(t->slot, t->n_slots, (struct slot){hash, *id});
	return true;
}

static bool entry_node(struct cct *t, const struct cct_path *path, enum msr_loss *cause)
{
	uint64_t entry = path->entry;
	uint32_t root;
	if (t->nodes.n == 0 && !new_node(t, 0, 0, &root, cause))
		return false;
	if (path->end != MSR_END_ROOT)
		entry = MSR_ENTRY_PARTIAL + (uint64_t)path->end;
	return child(t, 0, msr_addr_make(MSR_MODULE_NONE, entry, false), &t->memo[0], cause);
}

bool cct_insert(struct cct *t, const struct cct_path *path, uint32_t *node, enum msr_loss *cause)
{
	uint32_t same = path->n_same < t->n_memo ? path->n_same : t->n_memo;
	uint32_t n = path->n < t->options.max_depth ? path->n : t->options.max_depth;
	if (same > n)
		same = n;
	t->n_memo = 0; /* until the path is complete, only nodes found below are valid */
	if (same == 0 && !entry_node(t, path, cause))
		return false;
	uint32_t at = t->memo[same];
	for (uint32_t i = same; i < n; i++) {
		msr_addr addr = path->addr[path->n - 1 - i];
		if (!path->has_synthetic && msr_addr_module(addr) == MSR_MODULE_NONE)
			addr |= (uint64_t)MSR_MODULE_UNKNOWN << 48;
		if (!child(t, at, addr, &at, cause)) {
			t->n_memo = i;
			return false;
		}
		t->memo[i + 1] = at;
	}
	t->n_memo = n;
	*node = at;
	return true;
}

bool cct_child(struct cct *t, uint32_t parent, msr_addr addr, uint32_t *node, enum msr_loss *cause)
{
	return child(t, parent, addr, node, cause);
}

void cct_forget_path(struct cct *t)
{
	t->n_memo = 0;
}

/* ---- cells ---- */

bool cct_add(struct cct *t, uint32_t id, uint32_t metric, uint64_t count, uint64_t sum,
	     enum msr_loss *cause)
{
	struct msr_node *node = table_at(&t->nodes, id);
	uint32_t first = atomic_load_explicit(&node->first_cell, memory_order_relaxed);
	for (uint32_t i = first, n = 0; i && i <= t->cells.n && n < 1024;
	     n++) { /* a damaged file may contain any value */
		struct msr_cell *cell = table_at(&t->cells, i - 1);
		if (cell->metric == metric) {
			one_writer_add(&cell->sum, sum);
			one_writer_add(&cell->count, count);
			return true;
		}
		i = cell->next;
	}
	struct msr_cell *cell = table_reserve(&t->cells, cause);
	if (!cell)
		return false;
	cell->node = id;
	cell->metric = (uint16_t)metric;
	cell->next = first;
	atomic_store_explicit(&cell->sum, sum, memory_order_relaxed);
	atomic_store_explicit(&cell->count, count, memory_order_relaxed);
	uint32_t made = table_commit(&t->cells);
	atomic_store_explicit(&node->first_cell, made + 1,
			      memory_order_release); /* after the cell itself */
	return true;
}

/* ---- time line ---- */

static bool new_trace_extent(struct cct *t, uint64_t now_ns, enum msr_loss *cause)
{
	const struct store_request request = {
		.kind = MSR_TRACE,
		.record_bytes = sizeof(uint64_t),
		.thread = t->options.thread,
		.sequence = t->trace_sequence,
		.first = now_ns,
		.n_bytes = t->trace_bytes,
		.least_bytes = t->trace_bytes / 4,
	};
	struct msr_extent *e = store_extent(&request, cause);
	if (!e)
		return false;
	if (t->trace)
		store_drop(t->trace);
	t->trace = e;
	t->trace_used = 0;
	t->trace_end = atomic_load_explicit(&e->length, memory_order_relaxed) - sizeof *e;
	t->trace_sequence++;
	t->trace_ns = now_ns;
	if (t->trace_bytes < CCT_TRACE_LAST_BYTES)
		t->trace_bytes *= 2;
	return true;
}

/* Uses our own numbers and not those in the file, which another process may have overwritten. */
static uint64_t trace_room(const struct cct *t)
{
	return t->trace ? (t->trace_end - t->trace_used) / sizeof(uint64_t) : 0;
}

bool cct_trace(struct cct *t, uint32_t node, uint32_t metric, uint64_t now_ns, enum msr_loss *cause)
{
	bool absolute = now_ns - t->trace_ns > UINT32_MAX;
	if (trace_room(t) < (absolute ? 3 : 1)) {
		if (!new_trace_extent(t, now_ns, cause))
			return false;
		absolute = false; /* the extent contains the time */
	}
	uint64_t used = t->trace_used;
	uint64_t *record = (uint64_t *)(t->trace + 1) + used / sizeof *record;
	if (absolute) {
		*record++ = msr_trace_make(0, MSR_TRACE_TAG_ESCAPE, MSR_TRACE_ABSOLUTE);
		*record++ = now_ns;
		used += 2 * sizeof *record;
		t->trace_ns = now_ns;
	}
	*record = msr_trace_make((uint32_t)(now_ns - t->trace_ns), metric, node);
	t->trace_ns = now_ns;
	t->trace_used = used + sizeof *record;
	atomic_store_explicit(&t->trace->used, t->trace_used,
			      memory_order_release); /* after the record */
	return true;
}

/* ---- end ---- */

void cct_forget(struct cct *t)
{
	release_slots(t, t->slot, t->n_slots);
	t->slot = t->first_slots;
}

void cct_trim(struct cct *t)
{
	if (t->trace)
		store_give_tail(t->trace);
	t->trace_end = t->trace_used;
	table_trim(&t->nodes);
	table_trim(&t->cells);
}

void cct_finish(struct cct *t)
{
	cct_trim(t);
	cct_forget(t);
}

uint32_t cct_n_nodes(const struct cct *t)
{
	return t->nodes.n;
}
