/* SPDX-License-Identifier: BSD-3-Clause */
/* See memory_table.h. Test: tests/unit/memory/test_memory_table.c. */
#include "hpcrun-lite/memory/memory_table.h"

#include "common/safe/room.h"
#include "common/safe/sys.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define BUCKET 8u
#define N_LEVELS 5u
#define FIRST_BUCKETS 512u
#define TAKING 1u /* the key of a place that is being read */

struct level {
	_Atomic uintptr_t keys[BUCKET]; /* of all buckets; then their struct memory_kept */
};

/* Relaxed: a level is zeros from the kernel until its places are used. */
static _Atomic(struct level *) levels[N_LEVELS];
static _Atomic bool has_no_memory;

static size_t n_buckets(unsigned level)
{
	return (size_t)FIRST_BUCKETS << 3 * level;
}

static size_t level_bytes(unsigned level)
{
	return n_buckets(level) * BUCKET * (sizeof(uintptr_t) + sizeof(struct memory_kept));
}

static size_t bucket_of(uintptr_t at, unsigned level)
{
	return (size_t)((uint64_t)at * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (n_buckets(level) - 1);
}

static struct memory_kept *kept_of(struct level *l, unsigned level, size_t bucket)
{
	return (struct memory_kept *)(void *)(l + n_buckets(level)) + bucket * BUCKET;
}

static struct level *make(unsigned level)
{
	struct level *none = NULL;
	if (atomic_load_explicit(&has_no_memory, memory_order_relaxed))
		return NULL;
	const long at = room_take(level_bytes(level))
				? sys_mmap(NULL, level_bytes(level), PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
				: -1;
	if (sys_is_error(at)) {
		atomic_store_explicit(&has_no_memory, true, memory_order_relaxed);
		return NULL;
	}
	if (atomic_compare_exchange_strong_explicit(&levels[level], &none, (struct level *)at,
						    memory_order_relaxed, memory_order_relaxed))
		return (struct level *)at;
	sys_munmap((void *)at, level_bytes(level));
	room_give(level_bytes(level));
	return none;
}

bool memory_table_put(uintptr_t at, const struct memory_kept *kept)
{
	for (unsigned i = 0; i < N_LEVELS; i++) {
		struct level *l = atomic_load_explicit(&levels[i], memory_order_relaxed);
		if (!l && !(l = make(i)))
			return false;
		const size_t bucket = bucket_of(at, i);
		for (unsigned k = 0; k < BUCKET; k++) {
			uintptr_t free = 0;
			/* acquire: whoever had the place has read it */
			if (!atomic_compare_exchange_strong_explicit(&l[bucket].keys[k], &free, at,
								     memory_order_acquire,
								     memory_order_relaxed))
				continue;
			kept_of(l, i, bucket)[k] = *kept;
			return true;
		}
	}
	return false;
}

bool memory_table_take(uintptr_t at, struct memory_kept *kept)
{
	for (unsigned i = 0; i < N_LEVELS; i++) {
		struct level *l = atomic_load_explicit(&levels[i], memory_order_relaxed);
		if (!l)
			return false;
		const size_t bucket = bucket_of(at, i);
		for (unsigned k = 0; k < BUCKET; k++) {
			uintptr_t key = at;
			/* relaxed: the program passed the block, and so its place, to this thread
			 */
			if (atomic_load_explicit(&l[bucket].keys[k], memory_order_relaxed) != at ||
			    !atomic_compare_exchange_strong_explicit(&l[bucket].keys[k], &key,
								     TAKING, memory_order_relaxed,
								     memory_order_relaxed))
				continue;
			*kept = kept_of(l, i, bucket)[k];
			atomic_store_explicit(&l[bucket].keys[k], 0, memory_order_release);
			return true;
		}
	}
	return false;
}

void memory_table_forget(void)
{
	for (unsigned i = 0; i < N_LEVELS; i++) {
		struct level *l = atomic_exchange_explicit(&levels[i], NULL, memory_order_relaxed);
		if (!l)
			break;
		sys_munmap(l, level_bytes(i));
		room_give(level_bytes(i));
	}
}
