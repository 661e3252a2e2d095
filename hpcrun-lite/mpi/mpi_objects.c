/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See mpi_objects.h. An open hash table that uses each slot only once: a freed handle keeps its
 * slot, so a look-up never misses. Test: tests/unit/mpi/test_mpi_bytes.c.
 */
#include "hpcrun-lite/mpi/mpi_objects.h"

#include <string.h>

#define N_SLOTS 8192u /* at most half full */
#define FREED UINT64_MAX
#define BUSY (UINT64_MAX - 1)

static struct mpi_object_entry slots[N_SLOTS];
static _Atomic uint32_t n_added;

/* Handles are addresses below 2^48 or 32 bits wide. */
static uint64_t key_of(enum mpi_object kind, uintptr_t handle)
{
	return (uint64_t)handle << 2 | ((uint64_t)kind + 1);
}

static uint32_t slot_of(uint64_t key)
{
	return (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 40) & (N_SLOTS - 1);
}

struct mpi_object_entry *mpi_objects_find(enum mpi_object kind, uintptr_t handle)
{
	const uint64_t key = key_of(kind, handle);
	for (uint32_t i = slot_of(key);; i = (i + 1) & (N_SLOTS - 1)) {
		/* acquire: a thread that sees the key sees the rest of the entry */
		uint64_t here = atomic_load_explicit(&slots[i].key, memory_order_acquire);
		if (here == key)
			return &slots[i];
		if (!here)
			return NULL;
	}
}

static struct mpi_object_entry *claim(uint64_t key)
{
	if (atomic_fetch_add_explicit(&n_added, 1, memory_order_relaxed) >= MPI_MAX_OBJECTS) {
		atomic_store_explicit(&n_added, MPI_MAX_OBJECTS, memory_order_relaxed);
		return NULL;
	}
	for (uint32_t i = slot_of(key);; i = (i + 1) & (N_SLOTS - 1)) {
		uint64_t none = 0;
		if (atomic_compare_exchange_strong_explicit(&slots[i].key, &none, BUSY,
							    memory_order_relaxed,
							    memory_order_relaxed))
			return &slots[i];
	}
}

/* ---- identity ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

/* Returns the rank in MPI_COMM_WORLD of rank 0 of the communicator; -1: unknown. */
static int first_in_world(const struct mpi_library *l, uintptr_t comm)
{
	uintptr_t group = 0, world = 0;
	const int zero = 0;
	int rank = -1;
	if (l->comm_group(comm, &group) != 0)
		return -1;
	if (l->comm_group(l->world, &world) == 0) {
		if (l->translate(group, 1, &zero, world, &rank) != 0)
			rank = -1;
		l->group_free(&world);
	}
	l->group_free(&group);
	return rank;
}

static bool is_taken(uint64_t identity)
{
	for (uint32_t i = 0; i < N_SLOTS; i++)
		if (atomic_load_explicit(&slots[i].key, memory_order_acquire) &&
		    slots[i].identity == identity)
			return true;
	return false;
}

static uint64_t identity_of(const struct mpi_library *l, const struct mpi_new_object *new)
{
	if (!new->parent || !new->parent->identity)
		return 0;
	uint64_t h = mix(new->parent->identity, new->number << 2 | (uint64_t)new->kind);
	if (new->kind != MPI_OBJECT_COMM)
		return h | 2;
	int first = first_in_world(l, new->handle);
	if (first < 0)
		return 0;
	h = mix(mix(h, (uint64_t)first), new->is_of_group) | 2;
	int size = 0;
	if (new->is_of_group && l->comm_size(new->handle, &size) == 0)
		h = mix(h, (uint64_t)size) | 2;
	/* If one group makes two with the same tag, the second gets the same number everywhere. */
	while (new->is_of_group && is_taken(h))
		h = mix(h, 1) | 2;
	return h;
}

/* ---- adding ---- */

static void find_neighbours(const struct mpi_library *l, const struct mpi_new_object *new,
			    struct mpi_object_entry *e)
{
	int n = 0, in = 0, out = 0, weighted;
	if (new->kind != MPI_OBJECT_COMM)
		return;
	if (new->is_copy && new->parent) {
		in = new->parent->n_in;
		out = new->parent->n_out;
	} else if (new->n_dimensions > 0)
		in = out = 2 * new->n_dimensions;
	else if (new->is_graph && l->graph_degree(new->handle, e->rank, &n) == 0)
		in = out = n;
	else if (new->is_dist_graph &&
		 l->dist_graph_degrees(new->handle, &in, &out, &weighted) != 0)
		in = out = 0;
	e->n_in = in;
	e->n_out = out;
}

static bool find_sizes(const struct mpi_library *l, const struct mpi_new_object *new,
		       struct mpi_object_entry *e)
{
	int is_inter = 0;
	if (new->kind == MPI_OBJECT_COMM) {
		if (l->comm_size(new->handle, &e->size) != 0 ||
		    l->comm_rank(new->handle, &e->rank) != 0 ||
		    l->comm_test_inter(new->handle, &is_inter) != 0)
			return false;
		e->is_inter = is_inter;
		return true;
	}
	e->size = new->parent ? new->parent->size : 0;
	e->rank = new->parent ? new->parent->rank : 0;
	return true;
}

static void add(const struct mpi_host *host, const struct mpi_library *l,
		const struct mpi_new_object *new, uint64_t identity, uint32_t flags)
{
	struct mpi_object_entry e = {.identity = identity};
	if (l->abi == MPI_ABI_UNKNOWN || !find_sizes(l, new, &e))
		return;
	find_neighbours(l, new, &e);
	struct mpi_object_entry *at = claim(key_of(new->kind, new->handle));
	if (!at)
		return;
	at->identity = identity;
	at->size = e.size;
	at->rank = e.rank;
	at->n_in = e.n_in;
	at->n_out = e.n_out;
	at->is_inter = e.is_inter;
	at->id = host->comm(&(struct msr_mpi_comm){.size = (uint32_t)e.size,
						   .rank = (uint32_t)e.rank,
						   .flags = flags,
						   .identity = identity});
	/* release: a thread that finds the key sees the rest */
	atomic_store_explicit(&at->key, key_of(new->kind, new->handle), memory_order_release);
}

/* MPI_COMM_NULL has no size, and asking for it is an error. */
static bool is_null(const struct mpi_library *l, uintptr_t comm)
{
	return !comm || comm == l->null;
}

void mpi_objects_add(const struct mpi_host *host, const struct mpi_library *l,
		     const struct mpi_new_object *new)
{
	if (l->abi == MPI_ABI_UNKNOWN ||
	    atomic_load_explicit(&n_added, memory_order_relaxed) >= MPI_MAX_OBJECTS ||
	    (new->kind == MPI_OBJECT_COMM && is_null(l, new->handle)))
		return;
	add(host, l, new, identity_of(l, new), 0);
}

void mpi_objects_start(const struct mpi_host *host, const struct mpi_library *l)
{
	struct mpi_new_object new = {.kind = MPI_OBJECT_COMM, .handle = l->world};
	if (l->abi == MPI_ABI_UNKNOWN || mpi_objects_find(MPI_OBJECT_COMM, l->world))
		return;
	add(host, l, &new, 1, MSR_MPI_COMM_WORLD);
	new.handle = l->self;
	add(host, l, &new, 0, 0);
}

struct mpi_object_entry *mpi_objects_take(enum mpi_object kind, uintptr_t handle)
{
	struct mpi_object_entry *e = mpi_objects_find(kind, handle);
	if (e)
		atomic_store_explicit(&e->key, FREED, memory_order_relaxed);
	return e;
}

void mpi_objects_put_back(struct mpi_object_entry *e, enum mpi_object kind, uintptr_t handle)
{
	if (e)
		atomic_store_explicit(&e->key, key_of(kind, handle), memory_order_release);
}

void mpi_objects_reset(void)
{
	memset(slots, 0, sizeof slots);
	atomic_store_explicit(&n_added, 0, memory_order_relaxed);
}
