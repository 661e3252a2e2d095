/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slabs for children of fork; see nursery.h. Children take them in order, by an atomic counter in
 * the file. A slab's `used` is 0 while the slab is free, all of its content while a process uses
 * it, and LEFT when that process has left it. Must not wait: a process may be killed at any point.
 * Test: tests/unit/run/test_nursery.c.
 */
#include "hpcrun-lite/store/nursery.h"

#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/store/extent.h"

#include <sys/mman.h>

#define PAGE MACHINE_LEAST_PAGE
#define LEFT 8u /* less than a header: readers skip it */

_Static_assert(MSR_PROCESS_BYTES == NURSERY_SLAB_BYTES - sizeof(struct msr_extent) &&
		       MSR_BRIEF_BYTES == NURSERY_BRIEF_BYTES - sizeof(struct msr_extent),
	       "as the format says");

/* Where slab i starts in the mapping. */
static uint64_t place_of(const struct nursery *n, uint32_t i)
{
	return PAGE + (uint64_t)i * n->slab_bytes - sizeof(struct msr_extent);
}

static struct msr_extent *slab_at(const struct nursery *n, uint8_t *base, uint32_t i)
{
	return (struct msr_extent *)(void *)(base + place_of(n, i));
}

/* Writes the chain of extents: a free one before the slabs, the slabs, a free one after them. */
static void write_chain(const struct nursery *n, uint8_t *base)
{
	static const struct store_request slab = {.kind = MSR_PROCESS, .thread = UINT32_MAX};
	const uint64_t end = place_of(n, n->n_slabs);
	/* from the end, so that the chain is whole as soon as its first extent exists */
	extent_write_free(base + end, n->n_bytes - end);
	for (uint32_t i = n->n_slabs; i-- > 0;)
		extent_write(slab_at(n, base, i), &slab, n->slab_bytes);
	extent_write_free(base, place_of(n, 0));
}

enum space_result nursery_add(struct nursery *n, struct space *space, uint64_t offset,
			      uint64_t n_bytes)
{
	uint8_t *base;
	enum space_result r = space_add(space, offset, &n_bytes, &base);
	if (r != SPACE_OK)
		return r;
	n->offset = offset;
	n->n_bytes = n_bytes;
	n->n_slabs = (uint32_t)((n_bytes - PAGE) / n->slab_bytes);
	write_chain(n, base);
	sys_madvise(base, n_bytes, MADV_DOFORK);
	atomic_store_explicit(&n->base, base, memory_order_release);
	return SPACE_OK;
}

/*
 * Returns NULL if no slab can be taken. nursery_fork_begins() explains the order of the two loads.
 */
static uint8_t *open_base(const struct nursery *n)
{
	if (atomic_load_explicit(&n->is_closing, memory_order_seq_cst))
		return NULL;
	return atomic_load_explicit(&n->base, memory_order_seq_cst);
}

/*
 * The number of taken slabs. It is in the extent before the slabs, so that all processes and
 * collect_file.c see it.
 */
static _Atomic uint32_t *n_taken(uint8_t *base)
{
	return (_Atomic uint32_t *)(void *)(base + sizeof(struct msr_extent));
}

/* The number of promised slabs, including those taken since. It comes after n_taken(). */
static _Atomic uint32_t *n_promised(uint8_t *base)
{
	return n_taken(base) + 1;
}

bool nursery_has(const struct nursery *n, const void *address)
{
	const uint8_t *base = atomic_load_explicit(&n->base, memory_order_relaxed);
	return base && (uintptr_t)address - (uintptr_t)base < n->n_bytes;
}

static bool has_room(const struct nursery *n, uint8_t *base)
{
	return base && atomic_load_explicit(n_taken(base), memory_order_relaxed) < n->n_slabs;
}

bool nursery_has_room(const struct nursery *n)
{
	uint8_t *base = open_base(n);
	return has_room(n, base) &&
	       atomic_load_explicit(n_promised(base), memory_order_relaxed) < n->n_slabs;
}

/* Relaxed: only the number matters. */
bool nursery_promise(const struct nursery *n)
{
	uint8_t *base = open_base(n);
	if (!has_room(n, base))
		return false;
	if (atomic_fetch_add_explicit(n_promised(base), 1, memory_order_relaxed) < n->n_slabs)
		return true;
	nursery_break_promise(n);
	return false;
}

void nursery_break_promise(const struct nursery *n)
{
	uint8_t *base = open_base(n);
	if (base)
		atomic_fetch_sub_explicit(n_promised(base), 1, memory_order_relaxed);
}

struct msr_extent *nursery_take(const struct nursery *n)
{
	uint8_t *base = open_base(n);
	if (!has_room(n, base))
		return NULL;
	uint32_t i = atomic_fetch_add_explicit(n_taken(base), 1, memory_order_relaxed);
	return i < n->n_slabs ? slab_at(n, base, i) : NULL;
}

void nursery_begin(struct msr_extent *slab)
{
	const uint64_t length = atomic_load_explicit(&slab->length, memory_order_relaxed);
	atomic_store_explicit(&slab->used, length - sizeof *slab, memory_order_release);
}

void nursery_abandon(struct msr_extent *slab)
{
	atomic_store_explicit(&slab->used, LEFT, memory_order_relaxed);
}

/*
 * Ends the chain of extents after the first n_used slabs, with the first bytes of the next slab.
 * Returns where the chain ends in the mapping.
 */
static uint64_t end_chain(const struct nursery *n, uint8_t *base, uint32_t n_used)
{
	enum { SHORT = 2 * sizeof(struct msr_extent) };
	if (n_used == n->n_slabs)
		return n->n_bytes;
	struct msr_extent *next = slab_at(n, base, n_used);
	atomic_store_explicit(&next->length, SHORT, memory_order_release);
	return (uint64_t)((uint8_t *)next - base) + SHORT;
}

uint64_t nursery_close(struct nursery *n, struct space *space)
{
	uint8_t *base = atomic_load_explicit(&n->base, memory_order_acquire);
	if (!base)
		return 0;
	/* promised slabs, too, because a child may still take its slab */
	_Atomic uint32_t *n_given =
		n->slab_bytes == NURSERY_BRIEF_BYTES ? n_taken(base) : n_promised(base);
	uint32_t n_used = atomic_exchange_explicit(n_given, n->n_slabs, memory_order_relaxed);
	n_used = n_used < n->n_slabs ? n_used : n->n_slabs;
	/* the whole pages after the next slab's header */
	if (n_used < n->n_slabs) {
		const uint64_t end = place_of(n, n_used) + sizeof(struct msr_extent),
			       start = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
		space_punch(space, n->offset + start, n->n_bytes - start);
	}
	const uint64_t end = n->offset + end_chain(n, base, n_used);
	/* if a fork is in progress, it may still read the page before the slabs */
	nursery_give_up(n, 0);
	return end;
}

/*
 * Sequential consistency: either the thread that forks sees that the nursery closes, or the thread
 * that closes it sees the fork.
 */
void nursery_fork_begins(struct nursery *n)
{
	atomic_fetch_add_explicit(&n->n_forks, 1, memory_order_seq_cst);
}

void nursery_fork_ends(struct nursery *n)
{
	atomic_fetch_sub_explicit(&n->n_forks, 1, memory_order_seq_cst);
}

bool nursery_give_up(struct nursery *n, uint32_t n_own)
{
	uint8_t *base = atomic_load_explicit(&n->base, memory_order_relaxed);
	if (!base)
		return true;
	atomic_store_explicit(&n->is_closing, true, memory_order_seq_cst);
	const bool is_free = atomic_load_explicit(&n->n_forks, memory_order_seq_cst) <= n_own;
	if (is_free) {
		atomic_store_explicit(&n->base, NULL, memory_order_seq_cst);
		sys_munmap(base, n->n_bytes);
		room_give(n->n_bytes);
	}
	atomic_store_explicit(&n->is_closing, false, memory_order_seq_cst);
	return is_free;
}

void nursery_forked(struct nursery *n, bool has_slab)
{
	if (atomic_load_explicit(&n->is_closing, memory_order_relaxed) && !has_slab)
		atomic_store_explicit(&n->base, NULL, memory_order_relaxed);
	atomic_store_explicit(&n->is_closing, false, memory_order_relaxed);
	atomic_store_explicit(&n->n_forks, 0, memory_order_relaxed);
}
