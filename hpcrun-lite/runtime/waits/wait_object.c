/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See wait_object.h. The table only grows. Readers take no lock; if a thread cannot get the
 * writers' lock, this wait has no name, which is counted. Must not wait or allocate.
 */
#include "hpcrun-lite/runtime/waits/wait_object.h"

#include "common/safe/find_object.h"
#include "common/safe/fnv.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/store/store.h"

#include <stdatomic.h>
#include <string.h>

#define OBJECTS_MOST 1024u /* waits for further objects show only their cause */
#define LOCKS_MOST 512u    /* of these, so that an array of locks leaves room for others */
#define SLOTS (2 * OBJECTS_MOST)
#define NAME_MOST 256u

static struct {
	trylock lock;
	uint32_t n, n_locks;
	_Atomic uint64_t hash[SLOTS]; /* 0: free; written after the id */
	_Atomic uint32_t id[SLOTS];
} objects;

void wait_object_forked(void)
{
	if (!process.has_offcpu)
		return;
	trylock_forked(&objects.lock);
	if (!objects.n)
		return;
	objects.n = objects.n_locks = 0;
	for (unsigned i = 0; i < SLOTS; i++)
		atomic_store_explicit(&objects.hash[i], 0, memory_order_relaxed);
}

/* Returns the slot of this hash, or the free slot for it. */
static unsigned slot_of(uint64_t hash, bool *is_there)
{
	for (unsigned i = (unsigned)(hash % SLOTS);; i = (i + 1) % SLOTS) {
		/* acquire: the id was written before */
		uint64_t found = atomic_load_explicit(&objects.hash[i], memory_order_acquire);
		*is_there = found == hash;
		if (found == hash || found == 0) /* half of the slots are always free */
			return i;
	}
}

static bool write_record(uint32_t id, enum msr_wait_object_kind kind, msr_addr addr,
			 const char *text, size_t text_bytes)
{
	enum msr_loss cause;
	const size_t n = (sizeof(struct msr_wait_object) + text_bytes + 1 + 7) & ~(size_t)7;
	struct msr_wait_object *r = records_begin(MSR_WAIT_OBJECT, n, &cause);
	if (!r)
		return false;
	*r = (struct msr_wait_object){.bytes = (uint32_t)n,
				      .id = id,
				      .kind = (uint32_t)kind,
				      .text_bytes = (uint32_t)text_bytes + 1,
				      .addr = addr};
	memcpy(r + 1, text, text_bytes); /* extents are zeroed, so the NUL exists already */
	records_end(MSR_WAIT_OBJECT, n);
	return true;
}

/* Returns 0 if there is no room, or another thread adds one. */
static uint32_t add_object(uint64_t hash, enum msr_wait_object_kind kind, msr_addr addr,
			   const char *text, size_t text_bytes)
{
	bool is_there;
	if (!trylock_take(&objects.lock))
		return 0;
	const unsigned slot = slot_of(hash, &is_there);
	const bool is_lock = kind == MSR_WAIT_OBJECT_LOCK,
		   has_room = objects.n < OBJECTS_MOST &&
			      !(is_lock && objects.n_locks == LOCKS_MOST);
	uint32_t id = 0;
	if (is_there) {
		id = atomic_load_explicit(&objects.id[slot], memory_order_relaxed);
	} else if (has_room && write_record(objects.n + 1, kind, addr, text, text_bytes)) {
		id = ++objects.n;
		objects.n_locks += is_lock;
		atomic_store_explicit(&objects.id[slot], id, memory_order_relaxed);
		atomic_store_explicit(&objects.hash[slot], hash, memory_order_release);
	}
	trylock_give(&objects.lock);
	return id;
}

static uint32_t intern(uint64_t hash, enum msr_wait_object_kind kind, msr_addr addr,
		       const char *text, size_t text_bytes)
{
	bool is_there;
	hash = hash ? hash : 1;
	const unsigned slot = slot_of(hash, &is_there);
	const uint32_t id = is_there ? atomic_load_explicit(&objects.id[slot], memory_order_relaxed)
				     : add_object(hash, kind, addr, text, text_bytes);
	if (!id)
		store_count_loss(MSR_LOSS_WAIT_OBJECT);
	return id;
}

static uint32_t descriptor(int fd)
{
	char buffer[NAME_MOST];
	struct text name = text_in(buffer, sizeof buffer);
	if (!wait_object_name(fd, &name))
		return 0;
	return intern(fnv64(FNV64_START, buffer, name.n), MSR_WAIT_OBJECT_DESCRIPTOR, 0, buffer,
		      name.n);
}

/*
 * Names locks in static data. Locks on the heap or a stack have other addresses in each run, so
 * only their path identifies them.
 */
static uint32_t lock(uintptr_t address)
{
	struct dl_find_object found;
	uintptr_t bias;
	if (find_object((void *)address, &found) != 0)
		return 0;
	const uint16_t module = module_of(&found, &bias);
	if (module == MSR_MODULE_UNKNOWN)
		return 0;
	const msr_addr addr = msr_addr_make(module, address - bias, false);
	return intern(fnv64(FNV64_START, &addr, sizeof addr), MSR_WAIT_OBJECT_LOCK, addr, "", 0);
}

uint32_t wait_object_of(enum source_object object, uint64_t object_id)
{
	switch (object) {
	case SOURCE_OBJECT_DESCRIPTOR: return descriptor((int)object_id);
	case SOURCE_OBJECT_LOCK: return lock((uintptr_t)object_id);
	default: return 0;
	}
}
