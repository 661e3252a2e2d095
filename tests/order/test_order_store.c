/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of the store (hpcrun-lite/store/store.c, store_grow.c): threads that take space
 * while one adds a chunk get memory that is mapped and their own, and a piece that one gives back
 * is complete for the next. The file below is an arena, and the pages need no touch. See order.h.
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

enum { CHUNK_BYTES = 4096, EXTENT_BYTES = 512 };

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
	static const struct order_program programs[] = {
		{"a piece is given and taken", {give, take_given}, NULL},
		{"a chunk is added beside a search", {add_chunk, find_chunk}, NULL},
		{"two threads take space in a new chunk", {take_1, take_2}, NULL},
		{.name = NULL}};
	order_test(programs, NULL);
	return order_done();
}
