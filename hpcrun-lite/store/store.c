/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extents of the measurement file, carved from chunks (store_state.h) without a lock. See store.h.
 * Must not wait, allocate, or raise SIGXFSZ or SIGBUS. Tests: tests/unit/run/test_store.c,
 * tests/cli/run/run_space.sh.
 */
#include "hpcrun-lite/store/store.h"

#include "common/safe/quiet.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/store/extent.h"
#include "hpcrun-lite/store/store_grow.h"
#include "hpcrun-lite/store/store_slab.h"

#include <sys/mman.h>

#define STORE_LOW_WATER (256u << 10) /* grow when less is left */
#define STORE_MIN_PIECE 256u         /* smaller tails stay with their extent */

/* Adds a chunk after chunk `seen` - 1, unless another thread added it or does so now. */
static void grow(uint32_t seen)
{
	if (!store_may_grow() || !trylock_take(&store.growing))
		return;
	if (atomic_load_explicit(&store.n_chunks, memory_order_relaxed) == seen &&
	    store_may_grow()) {
		enum space_result r = store.stays  ? SPACE_LOST
				      : store.slab ? store_leave_slab()
						   : SPACE_OK;
		if (r == SPACE_OK)
			r = store_add_chunk(0);
		if (r != SPACE_OK)
			store_note_failure(r);
	}
	trylock_give(&store.growing);
}

static uint8_t *pointer_to(uint64_t offset)
{
	for (uint32_t i = atomic_load_explicit(&store.n_chunks, memory_order_acquire); i-- > 0;)
		if (offset >= store.chunk[i].offset)
			return store.chunk[i].base + (offset - store.chunk[i].offset);
	return NULL;
}

/* Offers a piece whose header is written. */
static void offer_piece(uint64_t offset, uint64_t n)
{
	uint64_t value = offset / MSR_EXTENT_ALIGN << 28 | n / MSR_EXTENT_ALIGN;
	if (n / MSR_EXTENT_ALIGN >= 1u << 28)
		return;
	for (unsigned i = 0; i < STORE_N_PIECES; i++) {
		uint64_t empty = 0;
		if (atomic_load_explicit(&store.piece[i], memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong_explicit(&store.piece[i], &empty, value,
							    memory_order_release,
							    memory_order_relaxed))
			return;
	}
	/* No slot is empty: the piece stays unused, and store_finish releases its pages. */
}

/* Takes at most `n` bytes of a free piece that has at least `least` bytes. */
static uint8_t *take_piece(uint64_t least, uint64_t n, uint64_t *length)
{
	for (unsigned i = 0; i < STORE_N_PIECES; i++) {
		uint64_t value = atomic_load_explicit(&store.piece[i], memory_order_relaxed);
		uint64_t bytes = (value & ((1u << 28) - 1)) * MSR_EXTENT_ALIGN;
		if (value == 0 || bytes < least ||
		    !atomic_compare_exchange_strong_explicit(
			    &store.piece[i], &value, 0, memory_order_acquire, memory_order_relaxed))
			continue;
		uint64_t offset = (value >> 28) * MSR_EXTENT_ALIGN;
		uint8_t *at = pointer_to(offset);
		*length = bytes;
		if (bytes >= n + STORE_MIN_PIECE) {
			/* the rest gets its header first, so that the chain is always whole */
			extent_write_free(at + n, bytes - n);
			offer_piece(offset + n, bytes - n);
			*length = n;
		}
		return at;
	}
	return NULL;
}

/* Takes n bytes at the end of a chunk. Returns NULL if they do not fit. */
static uint8_t *carve(struct chunk *c, uint64_t n)
{
	uint64_t next = atomic_load_explicit(&c->next, memory_order_relaxed);
	do
		if (c->n_bytes - next < n)
			return NULL;
	/* Acquire: store_give_tail() may have written a header there. */
	while (!atomic_compare_exchange_weak_explicit(&c->next, &next, next + n,
						      memory_order_acquire, memory_order_relaxed));
	store_raise_allocated(c->offset + next + n);
	return c->base + next;
}

/* An extent did not fit into chunk i: the rest becomes a free piece. */
static void retire(uint32_t i)
{
	struct chunk *c = &store.chunk[i];
	uint64_t next = atomic_load_explicit(&c->next, memory_order_relaxed);
	/* Acquire: as in carve(). */
	while (next < c->n_bytes &&
	       !atomic_compare_exchange_weak_explicit(&c->next, &next, c->n_bytes,
						      memory_order_acquire, memory_order_relaxed))
		;
	if (next < c->n_bytes) {
		store_raise_allocated(c->offset + c->n_bytes);
		extent_write_free(c->base + next, c->n_bytes - next);
		offer_piece(c->offset + next, c->n_bytes - next);
	}
	/* Release: pairs with the acquire in take_space(). */
	atomic_compare_exchange_strong_explicit(&store.current, &i, i + 1, memory_order_release,
						memory_order_relaxed);
}

static uint8_t *take_space(uint64_t n)
{
	for (int attempt = 0; attempt < 4; attempt++) {
		/* Acquire: who moved it saw the chunk. The number below may be older. */
		uint32_t current = atomic_load_explicit(&store.current, memory_order_acquire);
		uint32_t n_chunks = atomic_load_explicit(&store.n_chunks, memory_order_acquire);
		struct chunk *c = &store.chunk[current];
		uint8_t *at = carve(c, n);
		if (at) {
			store_touch_ahead(c);
			uint64_t left =
				c->n_bytes - atomic_load_explicit(&c->next, memory_order_relaxed);
			if (!store.slab && current + 1 == n_chunks &&
			    left < store_between(0, c->n_bytes / 4, STORE_LOW_WATER))
				grow(n_chunks);
			return at;
		}
		if (current + 1 < n_chunks)
			retire(current);
		else
			grow(n_chunks);
	}
	return NULL;
}

/* True for the record of the first thread. A brief process has room for nothing else. */
static bool is_first_thread(const struct store_request *request)
{
	return request->kind == MSR_THREAD &&
	       atomic_load_explicit(&store.chunk[0].next, memory_order_relaxed) == MSR_HEADER_BYTES;
}

static struct msr_extent *make_extent(const struct store_request *request, enum msr_loss *cause)
{
	uint64_t n = ((uint64_t)request->n_bytes + MSR_EXTENT_ALIGN - 1) &
		     ~(uint64_t)(MSR_EXTENT_ALIGN - 1);
	uint64_t least = request->least_bytes ? request->least_bytes : n;
	uint64_t length = n;
	if (!store.header || atomic_load_explicit(&store.closed, memory_order_relaxed)) {
		*cause = MSR_LOSS_NO_SPACE;
		return NULL;
	}
	if (store.is_brief && !is_first_thread(request) && !store_need_room()) {
		*cause = (enum msr_loss)atomic_load_explicit(&store.last_failure,
							     memory_order_relaxed);
		return NULL;
	}
	uint8_t *at = take_piece(least, n, &length);
	if (!at)
		at = take_space(n);
	if (!at && least < n) {
		length = (least + MSR_EXTENT_ALIGN - 1) & ~(uint64_t)(MSR_EXTENT_ALIGN - 1);
		at = take_space(length);
	}
	if (!at) {
		/* No space, or another thread is making some: "busy" if no growth failed before. */
		*cause = (enum msr_loss)atomic_load_explicit(&store.last_failure,
							     memory_order_relaxed);
		return NULL;
	}
	extent_write((struct msr_extent *)at, request, length);
	return (struct msr_extent *)at;
}

/* Blocks signals: a jump out of here would leave the file locked, or space without a header. */
struct msr_extent *store_extent(const struct store_request *request, enum msr_loss *cause)
{
	const uint64_t mask = quiet_begin();
	struct msr_extent *e = make_extent(request, cause);
	quiet_end(mask);
	return e;
}

void store_give_tail(struct msr_extent *e)
{
	uint64_t used = atomic_load_explicit(&e->used, memory_order_relaxed);
	uint64_t length = atomic_load_explicit(&e->length, memory_order_relaxed);
	uint64_t keep =
		(sizeof *e + used + MSR_EXTENT_ALIGN - 1) & ~(uint64_t)(MSR_EXTENT_ALIGN - 1);
	struct chunk *c = store_chunk_of(e);
	if (!c || length > c->n_bytes - (uint64_t)((uint8_t *)e - c->base) || used > length ||
	    length < keep + STORE_MIN_PIECE ||
	    atomic_load_explicit(&store.closed, memory_order_relaxed))
		return;
	/*
	 * First the tail gets a header, then the extent shrinks, then others may take the tail. So
	 * the chain of extents is always whole.
	 */
	extent_write_free((uint8_t *)e + keep, length - keep);
	atomic_store_explicit(&e->length, keep, memory_order_release);
	uint64_t start = (uint64_t)((uint8_t *)e - c->base), end = start + length;
	if (!atomic_compare_exchange_strong_explicit(&c->next, &end, start + keep,
						     memory_order_release, memory_order_relaxed))
		offer_piece(c->offset + start + keep, length - keep); /* not the last extent */
}

void store_drop(struct msr_extent *e)
{
	uint64_t length = atomic_load_explicit(&e->length, memory_order_relaxed);
	const struct chunk *c = store_chunk_of(e);
	/* Another process may have written a wrong length. */
	if (!c || length > c->n_bytes - (uint64_t)((uint8_t *)e - c->base))
		return;
	const uintptr_t from = machine_page_ceiling((uintptr_t)e),
			to = machine_page_floor((uintptr_t)e + length);
	if (to > from)
		sys_madvise((void *)from, to - from, MADV_DONTNEED);
}

bool store_is_damaged(void)
{
	return atomic_load_explicit(&store.damaged, memory_order_relaxed);
}

const char *store_failure(const char **path)
{
	const char *failure = space_failure(&store.space);
	/* After store_finish() we have the lock. Before, another thread may use the descriptor. */
	const bool closed = atomic_load_explicit(&store.closed, memory_order_seq_cst);
	if (failure || !store.spill_from || (!closed && !trylock_take(&store.growing)))
		return failure;
	failure = space_failure_later(&store.spill);
	space_rest(&store.spill);
	if (!closed)
		trylock_give(&store.growing);
	if (failure)
		*path = store.spill.path;
	return failure;
}

const char *store_path(void)
{
	return store.target[0] ? store.target : store.space.path;
}

struct msr_header *store_header(void)
{
	return store.header;
}

void store_count_loss(enum msr_loss cause)
{
	if (store.header)
		atomic_fetch_add_explicit(&store.header->losses[cause], 1, memory_order_relaxed);
}

uint64_t store_bytes(void)
{
	return store.header ? atomic_load_explicit(&store.header->allocated, memory_order_relaxed)
			    : 0;
}

bool store_was_full(void)
{
	return atomic_load_explicit(&store.was_full, memory_order_relaxed);
}

int store_fd(void)
{
	return store.space.fd - 1;
}

bool store_move_fd(void)
{
	return space_move_fd(&store.space);
}
