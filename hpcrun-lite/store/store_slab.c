/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slabs of the store; see store_slab.h. Test: tests/unit/run/test_nursery.c.
 */
#include "hpcrun-lite/store/store_slab.h"

#include "common/safe/quiet.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/store/extent.h"
#include "hpcrun-lite/store/store_grow.h"
#include "hpcrun-lite/store/store_local.h"

#include <string.h>
#include <sys/mman.h>

#define STORE_SLAB_TOUCH 8192u /* pages made present at the start of a slab */

/* Set from the start of a fork to its end, in the thread that forks and so in the child. */
static __thread struct msr_extent *slab_of_child;
static __thread bool is_forking;

/* Copies the slab, except its magic number, into a new file and maps the file in its place. */
static enum space_result copy_to(struct space *file, uint8_t *image)
{
	const size_t magic_bytes = sizeof store.header->magic;
	struct msr_extent rest = {0}; /* from the image to the end of its page */
	extent_write_free((uint8_t *)&rest, sizeof rest);
	enum space_result r = space_write(file, image + magic_bytes,
					  MSR_PROCESS_BYTES - magic_bytes, magic_bytes);
	if (r == SPACE_OK)
		r = space_write(file, &rest, sizeof rest, MSR_PROCESS_BYTES);
	return r == SPACE_OK ? space_map_over(file, image, NURSERY_SLAB_BYTES) : r;
}

/* The file gets its magic number last; until then the slab counts. */
static enum space_result move_to_file(void)
{
	static char target_before[sizeof store.target];
	const char *cause;
	struct space *file = &store.own_file;
	memcpy(target_before, store.target, sizeof target_before);
	if (!store_make_file(file, &store.options, &cause))
		return SPACE_LOST;
	uint8_t *image = (uint8_t *)(store.slab + 1);
	enum space_result r = copy_to(file, image);
	if (r != SPACE_OK && store_leave_node(file))
		r = copy_to(file, image);
	if (r != SPACE_OK) {
		store_unmake_file(file);
		memcpy(store.target, target_before, sizeof target_before);
		return r;
	}
	if (target_before[0])
		memcpy(store.left, store.space.path, sizeof store.left);
	store.space = *file;
	store.file_bytes = NURSERY_SLAB_BYTES;
	nursery_abandon(store.slab);
	memcpy(store.header->magic, MSR_MAGIC, sizeof store.header->magic);
	/* The slabs around it stay mapped here. Our children get slabs of our own file. */
	sys_madvise(store.nursery.base, store.nursery.n_bytes, MADV_DONTFORK);
	store.n_around_bytes = store.nursery.n_bytes - store.chunk[0].n_bytes;
	store.nursery.base = NULL;
	store.slab = NULL;
	return SPACE_OK;
}

/* A sample that a handler takes during the move would be lost. */
enum space_result store_leave_slab(void)
{
	const uint64_t mask = quiet_begin();
	enum space_result r = move_to_file();
	quiet_end(mask);
	return r;
}

/* Adds slabs when all are taken; few at first, because most processes fork seldom. */
static void add_nursery(struct nursery *n)
{
	const uint64_t most = store.options.max_bytes;
	if (most && store.file_bytes + (store.n_slabs_next + 1) * NURSERY_SLAB_BYTES > most)
		return;
	/* After a cut the mapping may reach over the end of the file. */
	uint64_t end = n->base ? store_between(0, n->offset + n->n_bytes, store.file_bytes) : 0;
	if (!nursery_give_up(n, 1))
		return;
	store.nurseries_end = store_later(end, store.nurseries_end);
	enum space_result r = nursery_add(n, store_space_at(store.file_bytes), store.file_bytes,
					  store.n_slabs_next);
	if (r == SPACE_FULL && store_spill(store.file_bytes))
		r = nursery_add(n, &store.spill, store.file_bytes, store.n_slabs_next);
	space_rest(&store.spill);
	if (r != SPACE_OK) {
		store_note_failure(r);
		return;
	}
	store.file_bytes += n->n_bytes;
	store_raise_allocated(store.file_bytes);
	store.n_slabs_next = (uint32_t)store_between(0, 2 * store.n_slabs_next, NURSERY_MOST_SLABS);
}

void store_before_fork(void)
{
	struct nursery *n = &store.nursery;
	nursery_fork_begins(n);
	is_forking = true;
	if (store.header && !store.slab && !nursery_has_room(n) && store_may_grow() &&
	    trylock_take(&store.growing)) {
		if (store_may_grow() && !nursery_has_room(n))
			add_nursery(n);
		trylock_give(&store.growing);
	}
	struct msr_extent *slab = nursery_take(n);
	slab_of_child = store_is_damaged() ? NULL : slab;
}

void store_after_fork(void)
{
	slab_of_child = NULL;
	if (is_forking)
		nursery_fork_ends(&store.nursery);
	is_forking = false;
}

bool store_own(void)
{
	if (!store.slab || store.stays || store.closed || !trylock_take(&store.growing))
		return !store.slab;
	store.stays = store_leave_slab() != SPACE_OK;
	trylock_give(&store.growing);
	return !store.stays;
}

bool store_is_forked(void)
{
	return slab_of_child != NULL;
}

/* The extent's header ends a page, and the content starts the next. */
static bool touch_slab(struct msr_extent *slab)
{
	return store_touch((uint8_t *)(slab + 1) - 4096, 4096 + STORE_SLAB_TOUCH);
}

struct msr_extent *store_slab_of_fork(void)
{
	struct msr_extent *slab = slab_of_child;
	slab_of_child = NULL;
	is_forking = false;
	return slab && touch_slab(slab) ? slab : NULL;
}
