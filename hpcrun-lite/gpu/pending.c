/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches in flight while operations are summed up; see pending.h. Allocates only with mmap. Test:
 * tests/unit/gpu/test_gpu_core.c.
 */
#include "hpcrun-lite/gpu/pending.h"

#include "common/safe/sys.h"
#include "hpcrun-lite/gpu/lock.h"

#include <sys/mman.h>

#define PENDING_NEAR 8u         /* number of places that an id may use */
/*
 * A thread may have been writing a record when summing up began. Its id is at most this far from
 * the first id.
 */
#define PENDING_GRACE 65536u

/* 16 bytes. The id has 48 bits, the kind 4, and thread and node 28 each; the file has no more. */
struct pending_slot {
	uint64_t id_kind; /* id << 4 | kind; 0: free */
	uint32_t thread, node; /* node may also contain IS_DONE */
};
#define IS_DONE (1u << 31) /* its operation has come */

/* The caller holds the lock. */
static struct pending_slot *slots(const struct pending *p)
{
	return atomic_load_explicit(&p->slot, memory_order_relaxed);
}

static bool have_slots(struct pending *p)
{
	if (slots(p))
		return true;
	long at =
		sys_mmap(NULL, PENDING_SLOTS * sizeof(struct pending_slot), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!sys_is_error(at))
		atomic_store_explicit(&p->slot, (struct pending_slot *)at, memory_order_relaxed);
	return slots(p) != NULL;
}

bool pending_is_used(const struct pending *p)
{
	return slots(p) != NULL;
}

static struct pending_slot *slot_at(const struct pending *p, uint64_t i)
{
	return &slots(p)[i & (PENDING_SLOTS - 1)];
}

static bool is_free(const struct pending_slot *s)
{
	return !s->id_kind || s->node & IS_DONE;
}

/* Returns a free place near the id's own, or else the place nearby with the lowest id. */
static struct pending_slot *choose(const struct pending *p, uint64_t id)
{
	struct pending_slot *oldest = slot_at(p, id);
	for (unsigned i = 0; i < PENDING_NEAR; i++) {
		struct pending_slot *s = slot_at(p, id + i);
		if (is_free(s))
			return s;
		if (s->id_kind < oldest->id_kind)
			oldest = s;
	}
	return oldest;
}

/*
 * If a thread ended while it held the lock, other threads wait for it once for a second, not at
 * each launch. If it was only stopped, it gives the lock back later.
 */
static bool lock(struct pending *p)
{
	if (gpu_lock_try(&p->lock)) {
		atomic_store_explicit(&p->is_dead, false, memory_order_relaxed);
		return true;
	}
	if (gpu_lock_is_nested() || atomic_load_explicit(&p->is_dead, memory_order_relaxed))
		return false;
	if (gpu_lock_wait(&p->lock))
		return true;
	atomic_store_explicit(&p->is_dead, true, memory_order_relaxed);
	return false;
}

bool pending_add(struct pending *p, const struct pending_launch *l, unsigned *n_out,
		 enum msr_gpu_loss *cause)
{
	*n_out = 0;
	*cause = MSR_GPU_LOSS_BUSY;
	if (!lock(p))
		return false;
	bool good = have_slots(p);
	*cause = good ? MSR_GPU_LOSS_NONE : MSR_GPU_LOSS_NO_MEMORY;
	if (good) {
		struct pending_slot *s = choose(p, l->id);
		*n_out = !is_free(s) && (s->id_kind & 15u) != MSR_GPU_GRAPH &&
			 (s->id_kind & 15u) != MSR_GPU_NO_KIND;
		p->has_put_out = p->has_put_out || *n_out;
		*s = (struct pending_slot){l->id << 4 | (unsigned)l->kind, l->thread, l->node};
	}
	/* Also set for a launch that is not remembered: it has no launch record. */
	p->has_put_out = p->has_put_out || !good;
	if (l->kind != MSR_GPU_NO_KIND && (!p->first_id || l->id < p->first_id))
		p->first_id = l->id;
	gpu_lock_give(&p->lock);
	return good;
}

static enum pending_found find(struct pending *p, uint64_t id, struct pending_launch *l, bool takes)
{
	for (unsigned i = 0; slots(p) && i < PENDING_NEAR; i++) {
		struct pending_slot *s = slot_at(p, id + i);
		if (s->id_kind >> 4 != id || (takes && s->node & IS_DONE))
			continue;
		*l = (struct pending_launch){.id = id,
					     .thread = s->thread,
					     .node = s->node & ~IS_DONE,
					     .kind = (enum msr_gpu_kind)(s->id_kind & 15u)};
		if (l->kind == MSR_GPU_NO_KIND) /* perhaps a graph: more operations may come */
			return PENDING_GONE;
		if (takes && l->kind != MSR_GPU_GRAPH)
			s->node |= IS_DONE;
		return PENDING_FOUND;
	}
	uint64_t grace = p->has_put_out ? 0 : PENDING_GRACE;
	return p->first_id && id >= p->first_id + grace ? PENDING_GONE : PENDING_RECORDED;
}

static enum pending_found find_locked(struct pending *p, uint64_t id, struct pending_launch *l,
				      bool takes)
{
	if (!lock(p))
		return PENDING_BUSY;
	enum pending_found found = find(p, id, l, takes);
	gpu_lock_give(&p->lock);
	return found;
}

enum pending_found pending_take(struct pending *p, uint64_t id, struct pending_launch *l)
{
	return find_locked(p, id, l, true);
}

enum pending_found pending_look(struct pending *p, uint64_t id, struct pending_launch *l)
{
	return find_locked(p, id, l, false);
}

void pending_clear(struct pending *p)
{
	if (slots(p))
		sys_munmap(slots(p), PENDING_SLOTS * sizeof(struct pending_slot));
	atomic_store_explicit(&p->slot, NULL, memory_order_relaxed);
	p->first_id = 0;
	p->has_put_out = false;
	atomic_store_explicit(&p->is_dead, false, memory_order_relaxed);
	trylock_give(&p->lock);
}
