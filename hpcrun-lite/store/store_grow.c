/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of the measurement file; see store_grow.h. Must not wait. Test:
 * tests/unit/run/test_store.c.
 */
#include "hpcrun-lite/store/store_grow.h"

#include "common/safe/clock.h"
#include "common/safe/newer.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/store/store_local.h"

#include <errno.h>
#include <sys/mman.h>

/* The first step: a process that ends soon needs no more, and giving space back costs time. */
#define STORE_FIRST_STEP (128u << 10)
#define STORE_STEP_MIN (1u << 20)
#define STORE_STEP_MAX (16u << 20)
/* Bytes made present at a time: more if more was written. This limits unused memory. */
#define STORE_TOUCH_MIN (32u << 10)
#define STORE_TOUCH_MAX (256u << 10)
/* How far ahead of the written bytes. */
#define STORE_AHEAD_MIN (8u << 10)
#define STORE_AHEAD_MAX (96u << 10)
#define STORE_RETRY_NS 200000000u /* after a failure to grow */

struct store store;

void store_raise_allocated(uint64_t end)
{
	uint64_t seen = atomic_load_explicit(&store.header->allocated, memory_order_relaxed);
	while (seen < end &&
	       !atomic_compare_exchange_weak_explicit(&store.header->allocated, &seen, end,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

bool store_touch(uint8_t *at, uint64_t n)
{
	long r = sys_madvise(at, n, MADV_POPULATE_WRITE);
	if (r != -EINVAL)
		return r != -EFAULT;
	/*
	 * Before Linux 5.14. The space is reserved, nobody else has it yet, and nobody cuts the
	 * file meanwhile (stop_touching).
	 */
	for (uint64_t i = 0; i < n; i += MACHINE_LEAST_PAGE)
		atomic_fetch_or_explicit((_Atomic uint8_t *)(at + i), 0, memory_order_relaxed);
	return true;
}

void store_touch_ahead(struct chunk *c)
{
	uint64_t next = atomic_load_explicit(&c->next, memory_order_relaxed);
	uint64_t touched = atomic_load_explicit(&c->touched, memory_order_relaxed);
	uint64_t ahead = store_between(STORE_AHEAD_MIN, (c->offset + next) / 2, STORE_AHEAD_MAX);
	if (next + ahead <= touched || touched >= c->n_bytes || !trylock_take(&store.touching))
		return;
	touched = atomic_load_explicit(&c->touched, memory_order_relaxed);
	uint64_t end = next + ahead +
		       store_between(STORE_TOUCH_MIN, 2 * (c->offset + next), STORE_TOUCH_MAX);
	end &= ~UINT64_C(4095);
	end = end > c->n_bytes ? c->n_bytes : end;
	if (end > touched) {
		store_touch(c->base + touched, end - touched);
		atomic_store_explicit(&c->touched, end, memory_order_relaxed);
	}
	trylock_give(&store.touching);
}

static uint64_t step_bytes(uint64_t size)
{
	if (size == 0)
		return STORE_FIRST_STEP;
	uint64_t step = size / 4 & ~(uint64_t)(STORE_STEP_MIN - 1);
	return store_between(STORE_STEP_MIN, step, STORE_STEP_MAX);
}

enum space_result store_space_add(uint64_t *n_bytes, uint8_t **base)
{
	struct space *file = store_space_at(store.file_bytes);
	enum space_result r = space_add(file, store.file_bytes, n_bytes, base);
	if (r == SPACE_FULL && file == &store.space && store.file_bytes > 0 &&
	    store_spill(store.file_bytes))
		r = space_add(&store.spill, store.file_bytes, n_bytes, base);
	space_rest(&store.spill); /* takes no more than one of the program's descriptors */
	return r;
}

enum space_result store_add_chunk(uint64_t first_touch)
{
	uint32_t n = atomic_load_explicit(&store.n_chunks, memory_order_relaxed);
	uint64_t size = store.file_bytes, most = store.options.max_bytes;
	uint64_t step = step_bytes(size);
	if (n == STORE_MAX_CHUNKS || (most && size >= most))
		return SPACE_LIMIT;
	if (most && size + step > most)
		step = machine_page_floor(most - size);
	struct chunk *c = &store.chunk[n];
	enum space_result r = store_space_add(&step, &c->base);
	if (r != SPACE_OK)
		return r;
	store.file_bytes = size + step;
	c->offset = size;
	c->n_bytes = step;
	atomic_store_explicit(&c->next, 0, memory_order_relaxed);
	first_touch = first_touch > step ? step : first_touch;
	store_touch(c->base, first_touch);
	atomic_store_explicit(&c->touched, first_touch, memory_order_relaxed);
	/* release: a thread that sees the number sees the chunk */
	atomic_store_explicit(&store.n_chunks, n + 1, memory_order_release);
	return SPACE_OK;
}

static enum msr_loss loss_of(enum space_result r)
{
	switch (r) {
	case SPACE_LIMIT:
		return MSR_LOSS_FILE_LIMIT;
	case SPACE_NO_MEMORY:
		return MSR_LOSS_NO_MEMORY;
	default:
		return MSR_LOSS_NO_SPACE;
	}
}

bool store_may_grow(void)
{
	return !atomic_load_explicit(&store.closed, memory_order_relaxed)
		&& clock_mono_ns() >= atomic_load_explicit(&store.retry_ns, memory_order_relaxed);
}

void store_note_failure(enum space_result r)
{
	atomic_store_explicit(&store.was_full, true, memory_order_relaxed);
	atomic_store_explicit(&store.last_failure, loss_of(r), memory_order_relaxed);
	atomic_store_explicit(&store.retry_ns, clock_mono_ns() + STORE_RETRY_NS,
			      memory_order_relaxed);
}

struct chunk *store_chunk_of(const void *p)
{
	const uint8_t *at = p;
	for (uint32_t i = atomic_load_explicit(&store.n_chunks, memory_order_acquire); i-- > 0;)
		if (at >= store.chunk[i].base && at < store.chunk[i].base + store.chunk[i].n_bytes)
			return &store.chunk[i];
	return NULL;
}
