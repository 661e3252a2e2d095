/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The index of the GPU core; see index.h. Allocates only with mmap. Test:
 * tests/unit/gpu/test_gpu_index.c.
 */
#include "hpcrun-lite/gpu/index.h"

#include "common/safe/sys.h"

#include <sys/mman.h>

#define INDEX_FIRST_SLOTS 256u

struct slot {
	uint64_t hash;
	_Atomic(void *) value; /* NULL: empty; stored after `hash` */
};

struct index_table {
	struct index_table *older; /* replaced by this one */
	uint64_t n, n_slots;       /* n_slots: a power of two */
	struct slot slot[];
};

static size_t table_bytes(uint64_t n_slots)
{
	return sizeof(struct index_table) + n_slots * sizeof(struct slot);
}

static struct index_table *make_table(uint64_t n_slots)
{
	long at = sys_mmap(NULL, table_bytes(n_slots), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(at))
		return NULL;
	struct index_table *t = (struct index_table *)at;
	t->n_slots = n_slots;
	return t;
}

/* The low bits of a hash may be those of an id, so mix them again. */
static uint64_t first_slot(uint64_t hash)
{
	return (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> 16;
}

void *index_find(const struct index *x, uint64_t hash, index_same_fn *same, const void *key)
{
	/* Acquire: the table has all its entries. */
	const struct index_table *t = atomic_load_explicit(&x->table, memory_order_acquire);
	if (!t)
		return NULL;
	for (uint64_t i = first_slot(hash);; i++) {
		const struct slot *s = &t->slot[i & (t->n_slots - 1)];
		/* Acquire: `hash` and the memory behind `value` are complete. */
		void *value = atomic_load_explicit(&s->value, memory_order_acquire);
		if (!value)
			return NULL;
		if (s->hash == hash && same(value, key))
			return value;
	}
}

static void place(struct index_table *t, uint64_t hash, void *value)
{
	uint64_t i = first_slot(hash);
	while (atomic_load_explicit(&t->slot[i & (t->n_slots - 1)].value, memory_order_relaxed))
		i++;
	struct slot *s = &t->slot[i & (t->n_slots - 1)];
	s->hash = hash;
	atomic_store_explicit(&s->value, value, memory_order_release);
	t->n++;
}

/* Returns a table twice as large with all entries of `old`; NULL if there is no memory. */
static struct index_table *doubled(struct index_table *old)
{
	struct index_table *t = make_table(old ? old->n_slots * 2 : INDEX_FIRST_SLOTS);
	for (uint64_t i = 0; t && old && i < old->n_slots; i++) {
		void *value = atomic_load_explicit(&old->slot[i].value, memory_order_relaxed);
		if (value)
			place(t, old->slot[i].hash, value);
	}
	if (t)
		t->older = old;
	return t;
}

bool index_add(struct index *x, uint64_t hash, void *value)
{
	struct index_table *t = atomic_load_explicit(&x->table, memory_order_relaxed);
	if (!t || (t->n + 1) * 2 > t->n_slots) {
		struct index_table *larger = doubled(t);
		if (larger)
			atomic_store_explicit(&x->table, larger, memory_order_release);
		/* Keep a slot empty, so that look-ups end. */
		else if (!t || t->n + 2 > t->n_slots)
			return false;
		t = larger ? larger : t;
	}
	place(t, hash, value);
	return true;
}

void index_clear(struct index *x)
{
	struct index_table *t = atomic_exchange_explicit(&x->table, NULL, memory_order_relaxed);
	while (t) {
		struct index_table *older = t->older;
		sys_munmap(t, table_bytes(t->n_slots));
		t = older;
	}
}
