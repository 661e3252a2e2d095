/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See mpi_sums.h. The index is a hash table of fixed size with linear probing. It can never be
 * full: beyond MPI_SUMS_WITH_PATHS, sums differ only by function and size class. Test:
 * tests/unit/mpi/test_mpi_sums.c.
 */
#include "hpcrun-lite/runtime/sums/mpi_sums.h"

#include "common/safe/one_writer.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/cct/table.h"

#include <sys/mman.h>

struct mpi_sums {
	struct table calls, collectives, comms, opens;
	struct msr_mpi_open *open;
	struct msr_mpi_call *last;   /* the sum that was found last */
	uint32_t n;
	struct table_extent many[4][TABLE_MAX_EXTENTS];
	struct msr_mpi_call *index[MPI_SUMS_INDEX];
};

_Static_assert(MPI_SUMS_WITH_PATHS + MPI_N_CALLS * 65u < MPI_SUMS_INDEX, "the index has room");

static struct mpi_sums *make(uint32_t thread)
{
	if (!room_take(sizeof(struct mpi_sums)))
		return NULL;
	long at = sys_mmap(NULL, sizeof(struct mpi_sums), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at)) {
		room_give(sizeof(struct mpi_sums));
		return NULL;
	}
	struct mpi_sums *s = (void *)at;
	table_init(&s->calls, MSR_MPI_CALL, sizeof(struct msr_mpi_call), thread, s->many[0]);
	table_init(&s->collectives, MSR_MPI_COLLECTIVE, sizeof(struct msr_mpi_collective), thread,
		   s->many[1]);
	table_init(&s->comms, MSR_MPI_COMM, sizeof(struct msr_mpi_comm), thread, s->many[2]);
	table_init(&s->opens, MSR_MPI_OPEN, sizeof(struct msr_mpi_open), thread, s->many[3]);
	enum msr_loss cause;
	s->open = table_reserve_patiently(&s->opens, &cause);
	if (!s->open) { /* the next call tries again */
		sys_munmap(s, sizeof *s);
		room_give(sizeof *s);
		return NULL;
	}
	table_commit(&s->opens);
	table_trim(&s->opens);
	return s;
}

static bool need(struct mpi_thread *t, uint32_t thread)
{
	if (__builtin_expect(!t->sums, 0))
		t->sums = make(thread);
	return t->sums != NULL;
}

static inline bool same(const struct msr_mpi_call *a, const struct msr_mpi_call *b)
{
	return a->node == b->node && a->call == b->call && a->size_class == b->size_class &&
	       a->comm == b->comm && a->peer == b->peer;
}

static uint32_t slot_of(const struct msr_mpi_call *k)
{
	uint64_t h = ((uint64_t)k->node << 32 | k->comm) * UINT64_C(0x9E3779B97F4A7C15);
	h ^= ((uint64_t)(uint32_t)k->peer << 32 | (uint32_t)k->call << 8 | k->size_class) +
	     (h >> 29);
	h *= UINT64_C(0xBF58476D1CE4E5B9);
	return (uint32_t)(h >> 40) & (MPI_SUMS_INDEX - 1);
}

/* Returns the slot with the key's sum, or the free slot for it. */
static struct msr_mpi_call **find(struct mpi_sums *s, const struct msr_mpi_call *key)
{
	uint32_t at = slot_of(key);
	while (s->index[at] && !same(s->index[at], key))
		at = (at + 1) & (MPI_SUMS_INDEX - 1);
	return &s->index[at];
}

/* Finds the slot for a key, which it makes coarser if there are too many sums. */
static struct msr_mpi_call **choose(struct mpi_sums *s, struct msr_mpi_call *key)
{
	struct msr_mpi_call **slot = find(s, key);
	if (!*slot && s->n >= MPI_SUMS_WITH_PEERS) {
		key->peer = MSR_MPI_ALL_PEERS;
		slot = find(s, key);
	}
	if (!*slot && s->n >= MPI_SUMS_WITH_PATHS) {
		key->node = key->comm = 0;
		slot = find(s, key);
	}
	return slot;
}

static struct msr_mpi_call *sum_of(struct mpi_sums *s, struct msr_mpi_call *key,
				   enum msr_loss *cause)
{
	if (s->last && same(s->last, key))
		return s->last;
	struct msr_mpi_call **slot = choose(s, key);
	if (!*slot) {
		struct msr_mpi_call *new = table_reserve_patiently(&s->calls, cause);
		if (!new)
			return NULL;
		*new = *key;
		table_commit(&s->calls);
		s->n++;
		*slot = new;
	}
	return s->last = *slot;
}

static bool record_collective(struct mpi_sums *s, uint32_t node, const struct mpi_event *e,
			      enum msr_loss *cause)
{
	struct msr_mpi_collective *c = table_reserve_patiently(&s->collectives, cause);
	if (!c)
		return false;
	*c = (struct msr_mpi_collective){.enter_ns = e->enter_ns,
					 .leave_ns = e->leave_ns,
					 .number = e->number,
					 .node = node,
					 .comm = e->comm,
					 .root = e->peer,
					 .call = e->call};
	table_commit(&s->collectives);
	return true;
}

bool mpi_sums_add(struct mpi_thread *t, uint32_t thread, uint32_t node, const struct mpi_event *e,
		  enum msr_loss *cause)
{
	*cause = MSR_LOSS_NO_MEMORY;
	if (!need(t, thread))
		return false;
	uint64_t ns = e->leave_ns - e->enter_ns;
	struct msr_mpi_call key = {.node = node,
				   .call = e->call,
				   .size_class = msr_mpi_size_class(e->sent > e->received
									    ? e->sent
									    : e->received),
				   .comm = e->comm,
				   .peer = e->peer,
				   .least_ns = UINT64_MAX};
	struct msr_mpi_call *sum = sum_of(t->sums, &key, cause);
	if (!sum)
		return false;
	t->ns += ns;
	one_writer_add(&sum->n_calls, 1);
	one_writer_add(&sum->ns, ns);
	if (e->sent)
		one_writer_add(&sum->sent, e->sent);
	if (e->received)
		one_writer_add(&sum->received, e->received);
	if (ns < atomic_load_explicit(&sum->least_ns, memory_order_relaxed))
		atomic_store_explicit(&sum->least_ns, ns, memory_order_relaxed);
	return !e->is_collective || !msr_mpi_is_recorded(e->number) ||
	       record_collective(t->sums, node, e, cause);
}

void mpi_sums_start(struct mpi_thread *t, uint32_t thread)
{
	need(t, thread);
}

void mpi_sums_enter(struct mpi_thread *t, uint32_t node, const struct mpi_event *e,
		    uint64_t enter_ns)
{
	if (!t->sums)
		return;
	struct msr_mpi_open *o = t->sums->open;
	/* a reader of a file that is being written skips the record while it changes */
	atomic_store_explicit(&o->enter_ns, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release); /* before the stores that follow */
	o->node = node;
	o->comm = e->comm;
	o->peer = e->peer;
	o->call = e->call;
	o->way = e->way;
	/* release: whoever sees the time sees the rest */
	atomic_store_explicit(&o->enter_ns, enter_ns, memory_order_release);
}

void mpi_sums_leave(struct mpi_thread *t)
{
	if (t->sums)
		atomic_store_explicit(&t->sums->open->enter_ns, 0, memory_order_release);
}

_Atomic uint64_t *mpi_sums_last(const struct mpi_thread *t)
{
	return t->sums && t->sums->last ? &t->sums->last->n_calls : NULL;
}

bool mpi_sums_comm(struct mpi_thread *t, uint32_t thread, const struct msr_mpi_comm *c,
		   enum msr_loss *cause)
{
	*cause = MSR_LOSS_NO_MEMORY;
	struct msr_mpi_comm *at =
		need(t, thread) ? table_reserve_patiently(&t->sums->comms, cause) : NULL;
	if (!at)
		return false;
	*at = *c;
	table_commit(&t->sums->comms);
	return true;
}

void mpi_sums_trim(struct mpi_thread *t)
{
	if (!t->sums)
		return;
	table_trim(&t->sums->calls);
	table_trim(&t->sums->collectives);
	table_trim(&t->sums->comms);
}

void mpi_sums_free(struct mpi_thread *t, bool keeps_file)
{
	if (t->sums && keeps_file)
		mpi_sums_trim(t);
	if (t->sums) {
		sys_munmap(t->sums, sizeof *t->sums);
		room_give(sizeof *t->sums);
	}
	t->sums = NULL;
}
