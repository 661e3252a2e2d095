/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of the store (hpcrun-lite/store/store.c, store_grow.c): threads that take space
 * while one adds a chunk get memory that is mapped and their own, a piece or the end of an extent
 * that one gives back is complete for the next, and the chain of extents is whole at any moment.
 * The file below is an arena, and the pages need no touch. See order.h.
 */
#include "common/safe/clock.h"
#include "common/safe/quiet.h"
#include "common/safe/sys.h"

#define clock_mono_ns() UINT64_C(1)
#define quiet_begin() UINT64_C(0)
#define quiet_end(mask) ((void)(mask))
#include "hpcrun-lite/store/extent.c"
#include "hpcrun-lite/store/store.c"
#include "hpcrun-lite/store/store_grow.c"

enum { CHUNK_BYTES = 4096, EXTENT_BYTES = 512, LAST_BYTES = 1024, LAST = CHUNK_BYTES - LAST_BYTES };

static _Alignas(4096) uint8_t arena[4 * CHUNK_BYTES];
static struct msr_header header;

/* ---- what is below the store ---- */

enum space_result space_add(struct space *s, uint64_t offset, uint64_t *n_bytes, uint8_t **base)
{
	(void)s;
	*n_bytes = CHUNK_BYTES;
	*base = arena + offset;
	return offset < sizeof arena ? SPACE_OK : SPACE_FULL;
}
void space_rest(struct space *s)
{
	(void)s;
}
const char *space_failure(struct space *s)
{
	(void)s;
	return NULL;
}
const char *space_failure_later(struct space *s)
{
	(void)s;
	return NULL;
}
bool space_move_fd(struct space *s)
{
	(void)s;
	return false;
}
bool store_spill(uint64_t offset)
{
	(void)offset;
	return false;
}
enum space_result store_leave_slab(void)
{
	return SPACE_LOST;
}
bool store_need_room(void)
{
	return true;
}
uint32_t msr_extent_check(const struct msr_extent *e)
{
	return e->sequence;
}

/* ---- programs ---- */

static void take(uint64_t mark)
{
	uint8_t *at = take_space(EXTENT_BYTES);
	if (!at)
		return;
	if (at < arena || at > arena + sizeof arena - EXTENT_BYTES)
		order_fault("space is outside of all chunks");
	else
		*(uint64_t *)(void *)at = mark; /* two owners would race */
}

static void take_1(void)
{
	take(1);
}
static void take_2(void)
{
	take(2);
}

/* Gives a piece back that it has written to. */
static void give(void)
{
	uint8_t *at = arena + EXTENT_BYTES;
	*(uint64_t *)(void *)at = 4;
	offer_piece(EXTENT_BYTES, EXTENT_BYTES);
}

static void take_given(void)
{
	uint64_t length;
	uint8_t *at = take_piece(EXTENT_BYTES, EXTENT_BYTES, &length);
	if (at)
		*(uint64_t *)(void *)at = 5;
}

/* The last extent of the chunk becomes shorter. */
static void give_tail(void)
{
	store_give_tail((struct msr_extent *)(void *)(arena + LAST));
}

/* As a process that reads the file at this moment. */
static void read_chain(void)
{
	const struct msr_extent *last = (const struct msr_extent *)(void *)(arena + LAST);
	const uint64_t length = atomic_load_explicit(&last->length, memory_order_acquire);
	const struct msr_extent *next =
		(const struct msr_extent *)(const void *)(arena + LAST + length);
	if (length < LAST_BYTES && next->magic != MSR_EXTENT_MAGIC)
		order_fault("an extent ends where no other begins");
}

/* An extent without content. A kill may leave it at any moment, and so a reader finds it. */
static _Alignas(64) struct msr_extent fresh;
static void write_fresh(void)
{
	extent_write(&fresh, &(struct store_request){.kind = MSR_TRACE, .sequence = 5},
		     EXTENT_BYTES);
}
static void read_fresh(void)
{
	const uint32_t magic = fresh.magic;
	atomic_thread_fence(memory_order_acquire);
	if (magic == MSR_EXTENT_MAGIC && fresh.sequence != 5)
		order_fault("an extent is valid before it is complete");
}

static void add_chunk(void)
{
	grow(1);
}

/* Looks at all chunks, the newest first. */
static void find_chunk(void)
{
	if (pointer_to(EXTENT_BYTES) != arena + EXTENT_BYTES)
		order_fault("an offset is in another chunk");
}

int main(void)
{
	/* One chunk, which is full. */
	store.header = &header;
	store.file_bytes = CHUNK_BYTES;
	store.chunk[0] = (struct chunk){
		.base = arena, .n_bytes = CHUNK_BYTES, .next = CHUNK_BYTES, .touched = CHUNK_BYTES};
	store.n_chunks = 1;
	extent_write_free(arena + LAST, LAST_BYTES);
	order_may_race(&fresh, sizeof fresh);
	static const struct order_program programs[] = {
		{"a piece is given and taken", {give, take_given}, NULL},
		{"a chunk is added beside a search", {add_chunk, find_chunk}, NULL},
		{"the end of an extent is given and taken", {give_tail, take_2}, NULL},
		{"... and read", {give_tail, read_chain}, NULL},
		{"an extent is written and read", {write_fresh, read_fresh}, NULL},
		{"two threads take space in a new chunk", {take_1, take_2}, NULL},
		{.name = NULL}};
	order_test(programs, NULL);
	return order_done();
}
