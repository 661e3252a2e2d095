/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slabs of the store; see store_slab.h. Test: tests/unit/run/test_nursery.c.
 */
#include "hpcrun-lite/store/store_slab.h"

#include "common/safe/quiet.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/store/extent.h"
#include "hpcrun-lite/store/store_grow.h"
#include "hpcrun-lite/store/store_local.h"

#include <string.h>
#include <sys/mman.h>

#define STORE_SLAB_TOUCH 8192u /* pages made present at the start of a slab */

/* Set while a fork is in progress, in the thread that forks and therefore in the child. */
static __thread struct msr_extent *slab_of_child;
static __thread bool is_forking, has_promise;

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

/* The process no longer uses the slabs of its ancestor. Our children get slabs of our own file. */
static void leave_nurseries(void)
{
	nursery_abandon(store.slab);
	store.slab = NULL;
	nursery_give_up(&store.nursery, is_forking);
	nursery_give_up(&store.briefs, is_forking);
}

/* From now on a file is mapped over the first extents, and children do not get that mapping. */
static void leave_image(void)
{
	sys_madvise(store.chunk[0].base, NURSERY_SLAB_BYTES, MADV_DONTFORK);
	if (store.is_brief)
		store.image = NULL;
	store.is_brief = false;
}

/* The file gets its magic number last; until then readers use the slab. */
static enum space_result move_to_file(void)
{
	static char target_before[sizeof store.target];
	const char *cause;
	struct space *file = &store.own_file;
	memcpy(target_before, store.target, sizeof target_before);
	if (!store_make_file(file, &store.options, &cause))
		return SPACE_LOST;
	uint8_t *image = store.chunk[0].base;
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
	leave_nurseries();
	memcpy(store.header->magic, MSR_MAGIC, sizeof store.header->magic);
	leave_image();
	return SPACE_OK;
}

/* Blocks signals, because a sample that a handler takes during the move would be lost. */
enum space_result store_leave_slab(void)
{
	const uint64_t mask = quiet_begin();
	enum space_result r = move_to_file();
	quiet_end(mask);
	return r;
}

/* ---- brief processes ---- */

/* The extent's header ends a page, and the content starts the next. */
static bool touch_slab(struct msr_extent *slab)
{
	return store_touch((uint8_t *)(slab + 1) - MACHINE_LEAST_PAGE,
			   MACHINE_LEAST_PAGE + STORE_SLAB_TOUCH);
}

/*
 * Maps the slab over the private memory, so that pointers to that memory stay valid. An old size of
 * 0 makes mremap(2) map the same pages a second time. The slab gets its magic number last, like a
 * file.
 */
static bool move_to_slab(void)
{
	const size_t magic_bytes = sizeof store.header->magic;
	struct msr_extent *brief = store.slab,
			  *slab = store.has_promise ? nursery_take(&store.nursery) : NULL;
	struct chunk *c = &store.chunk[0];
	store.has_promise = false;
	if (!slab || !touch_slab(slab))
		return false;
	const uint64_t used = atomic_load_explicit(&c->next, memory_order_relaxed);
	memcpy((uint8_t *)(slab + 1) + magic_bytes, c->base + magic_bytes, used - magic_bytes);
	if (sys_is_error(sys_call6(SYS_mremap, (long)(slab + 1), 0, NURSERY_SLAB_BYTES,
				   MREMAP_MAYMOVE | MREMAP_FIXED, (long)c->base, 0)))
		return false;
	nursery_begin(slab);
	nursery_abandon(brief);
	memcpy(store.header->magic, MSR_MAGIC, magic_bytes);
	store.slab = slab;
	leave_image();
	return true;
}

/* The caller holds `growing`. */
static enum space_result leave_brief(void)
{
	const uint64_t mask = quiet_begin();
	enum space_result r = SPACE_OK;
	if (!move_to_slab())
		r = store.stays ? SPACE_LOST : move_to_file();
	quiet_end(mask);
	return r;
}

static void describe(bool was_brief)
{
	if (was_brief && !store.is_brief && store.options.describe)
		store.options.describe();
}

bool store_need_room(void)
{
	if (!store.is_brief || !store_may_grow() || !trylock_take(&store.growing))
		return !store.is_brief;
	const enum space_result r = leave_brief();
	if (r != SPACE_OK)
		store_note_failure(r);
	trylock_give(&store.growing);
	describe(true);
	return !store.is_brief;
}

bool store_is_brief(void)
{
	return store.is_brief;
}

void store_publish(void)
{
	const struct chunk *c = &store.chunk[0];
	uint8_t header[sizeof *store.header];
	const uint32_t header_bytes = MSR_BRIEF_HEADER_BYTES;
	const uint64_t allocated = MSR_BRIEF_BYTES;
	const size_t magic_bytes = sizeof store.header->magic;
	if (!store.is_brief)
		return;
	uint8_t *to = (uint8_t *)(store.slab + 1);
	if (atomic_load_explicit(&c->next, memory_order_relaxed) > MSR_HEADER_BYTES)
		memcpy(to + header_bytes, c->base + MSR_HEADER_BYTES,
		       sizeof(struct msr_extent) + sizeof(struct msr_thread));
	memcpy(header, store.header, sizeof header);
	memcpy(header + offsetof(struct msr_header, header_bytes), &header_bytes,
	       sizeof header_bytes);
	memcpy(header + offsetof(struct msr_header, allocated), &allocated, sizeof allocated);
	memcpy(to + magic_bytes, header + magic_bytes, sizeof header - magic_bytes);
	atomic_thread_fence(memory_order_release); /* a header is valid once it has its magic */
	memcpy(to, header, magic_bytes);
}

void store_end_brief(void)
{
	store_publish();
	if (store.has_promise)
		nursery_break_promise(&store.nursery);
	store.has_promise = false;
}

void store_reopen_brief(void)
{
	store.has_promise = store.is_brief && nursery_promise(&store.nursery);
}

/* ---- forks ---- */

/*
 * Adds slabs when all are taken; few at first, because most processes fork seldom. A slab begins
 * 4096 bytes into the file or at a multiple of 16 KiB after that, where a larger page does not:
 * then each child makes a file.
 */
static void add_nursery(struct nursery *n, uint32_t slab_bytes)
{
	const uint64_t most = store.options.max_bytes,
		       slabs = store_between(NURSERY_LEAST_BYTES, n->next_bytes,
					     NURSERY_MOST_BYTES),
		       n_bytes = slabs + MACHINE_LEAST_PAGE;
	if (machine_page_bytes() > MACHINE_LEAST_PAGE ||
	    (most && store.file_bytes + n_bytes > most))
		return;
	/* After a cut the mapping may reach past the end of the file. */
	uint64_t end = n->base ? store_between(0, n->offset + n->n_bytes, store.file_bytes) : 0;
	if (!nursery_give_up(n, 1))
		return;
	store.nurseries_end = store_later(end, store.nurseries_end);
	n->slab_bytes = slab_bytes;
	enum space_result r =
		nursery_add(n, store_space_at(store.file_bytes), store.file_bytes, n_bytes);
	if (r == SPACE_FULL && store_spill(store.file_bytes))
		r = nursery_add(n, &store.spill, store.file_bytes, n_bytes);
	space_rest(&store.spill);
	if (r != SPACE_OK) {
		store_note_failure(r);
		return;
	}
	store.file_bytes += n->n_bytes;
	store_raise_allocated(store.file_bytes);
	n->next_bytes = 2 * slabs;
}

static void make_image(void)
{
	if (store.image || !room_take(MSR_PROCESS_BYTES))
		return;
	const long at = sys_mmap(NULL, NURSERY_SLAB_BYTES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at))
		room_give(MSR_PROCESS_BYTES);
	else
		store.image = (uint8_t *)at;
}

void store_forget_image(void)
{
	if (store.slab && !store.is_brief)
		room_give(MSR_PROCESS_BYTES); /* the mapping did not come through the fork */
	if (store.is_brief && sys_madvise(store.image, NURSERY_SLAB_BYTES, MADV_DONTNEED) != 0)
		memset(store.image, 0, NURSERY_SLAB_BYTES); /* mlockall has locked it */
}

/* Makes slabs for children. A process gets its own file when its ancestor has no slab left. */
static void make_slabs(void)
{
	if (!store.header)
		return;
	make_image();
	if (nursery_has_room(&store.briefs) && (store.slab || nursery_has_room(&store.nursery)))
		return;
	if (store.stays || !store_may_grow() || !trylock_take(&store.growing))
		return;
	const bool was_brief = store.is_brief;
	if (!store.slab || store_leave_slab() == SPACE_OK) {
		if (!nursery_has_room(&store.briefs))
			add_nursery(&store.briefs, NURSERY_BRIEF_BYTES);
		if (!nursery_has_room(&store.nursery))
			add_nursery(&store.nursery, NURSERY_SLAB_BYTES);
	}
	trylock_give(&store.growing);
	describe(was_brief);
}

void store_before_fork(void)
{
	nursery_fork_begins(&store.nursery);
	nursery_fork_begins(&store.briefs);
	is_forking = true;
	make_slabs();
	struct msr_extent *slab = nursery_take(&store.briefs);
	slab_of_child = store_is_damaged() ? NULL : slab;
	has_promise = slab_of_child && nursery_promise(&store.nursery);
}

void store_after_fork(void)
{
	slab_of_child = NULL;
	if (is_forking) {
		nursery_fork_ends(&store.nursery);
		nursery_fork_ends(&store.briefs);
	}
	is_forking = false;
}

bool store_own(void)
{
	if (!store.slab || store.stays || store.closed || !trylock_take(&store.growing))
		return !store.slab;
	const bool was_brief = store.is_brief;
	store.stays = store_leave_slab() != SPACE_OK;
	if (store.is_brief)
		leave_brief();
	trylock_give(&store.growing);
	describe(was_brief);
	return !store.stays;
}

bool store_is_forked(void)
{
	return slab_of_child != NULL;
}

struct msr_extent *store_slab_of_fork(void)
{
	struct msr_extent *slab = slab_of_child;
	slab_of_child = NULL;
	is_forking = false;
	if (!slab || !store.image)
		return NULL;
	uint8_t *first = (uint8_t *)((uintptr_t)slab & ~(uintptr_t)4095),
		*end = (uint8_t *)slab + NURSERY_BRIEF_BYTES;
	if (!store_touch(first, (uint64_t)(end - first + 4095) & ~UINT64_C(4095)))
		return NULL;
	nursery_begin(slab);
	store.has_promise = has_promise && atomic_load(&store.nursery.base);
	return slab;
}
