/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement file: chunks of reserved, mapped and touched space, from which extents are carved
 * without a lock. See store.h. Must not: wait, allocate, raise SIGXFSZ or SIGBUS. Tests:
 * tests/unit/run/test_store.c, tests/cli/run/run_space.sh.
 *
 * A chunk is one mapping of a piece of the file. `next` is where its next extent goes (a
 * compare-and-swap takes space), `touched` how far its pages have been made present. Allocation
 * works in chunk `current`; when an extent does not fit, what is left becomes a free piece and
 * `current` moves on. Free pieces, also the tails that finished threads give back, are kept in a
 * small table of slots that are emptied by exchange.
 */
#include "hpcrun-lite/store/store.h"

#include "common/safe/clock.h"
#include "common/safe/fnv.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/store/extent.h"
#include "hpcrun-lite/store/nursery.h"
#include "hpcrun-lite/store/file_space.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define STORE_MAX_CHUNKS 8192u
#define STORE_FIRST_STEP \
	(128u << 10) /* a process that ends soon needs no more, and giving more back costs time */
#define STORE_STEP_MIN (1u << 20)
#define STORE_STEP_MAX (16u << 20)
#define STORE_FIRST_TOUCH \
	(32u << 10) /* pages made present at the start: what a process writes that ends soon */
#define STORE_SLAB_TOUCH 8192u         /* the same of a slab */
#define STORE_TOUCH_MIN (32u << 10)   /* and at a time from then on: more, the more was written */
#define STORE_TOUCH_MAX (256u << 10)  /* bounds the resident memory that is not in use */
#define STORE_AHEAD_MIN (8u << 10)    /* they are this much ahead of what is written */
#define STORE_AHEAD_MAX (96u << 10)
#define STORE_LOW_WATER (256u << 10)   /* grow when less is left */
#define STORE_RETRY_NS 200000000u      /* after a failure to grow */
#define STORE_MIN_PIECE 256u           /* smaller tails stay with their extent */
#define STORE_N_PIECES 128u
#define STORE_END_YIELDS \
	1000u /* the end of measurement lets a thread that makes pages present come to its end */

struct chunk {
	uint8_t *base;
	uint64_t offset; /* of base in the file */
	uint64_t n_bytes;
	_Atomic uint64_t next;
	_Atomic uint64_t touched;
};

static struct {
	struct space space;
	struct msr_header *header;
	struct store_options options;
	/* The process lives in a slab of an ancestor's file, which is this extent; NULL: in its own
	 * file. */
	struct msr_extent *slab;
	struct space own_file; /* while it moves there from the slab */
	/* of the ancestor's nursery, still mapped around the chunk that was the slab */
	uint64_t n_around_bytes;
	bool stays;            /* it could not move when it had to, and may have threads now */
	struct nursery nursery; /* of its own, for its children, or in a slab the ancestor's */
	uint64_t nurseries_end; /* offset in the file where closed nurseries end */
	uint32_t n_slabs_next;
	uint64_t file_bytes; /* of its own file: chunks and nurseries; changes under `growing` */
	_Atomic uint32_t n_chunks;  /* published with release after the chunk is complete */
	_Atomic uint32_t current;
	trylock growing, touching;
	_Atomic bool closed;
	_Atomic bool damaged;          /* by another process; see store_mend */
	bool sealed, cut; /* by store_finish, which then holds `growing`, and `touching` */
	_Atomic bool was_full;
	_Atomic uint32_t last_failure; /* enum msr_loss of the last failed growth */
	_Atomic uint64_t retry_ns;     /* no growth before this moment */
	_Atomic uint64_t piece[STORE_N_PIECES]; /* file offset / 64 << 28 | bytes / 64; 0: empty */
	struct chunk chunk[STORE_MAX_CHUNKS];
} store;

static void raise_allocated(uint64_t end)
{
	uint64_t seen = atomic_load_explicit(&store.header->allocated, memory_order_relaxed);
	while (seen < end &&
	       !atomic_compare_exchange_weak_explicit(&store.header->allocated, &seen, end,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/* Between the start of a fork and its end, in the thread that forks, and so in the child. */
static __thread struct msr_extent *slab_of_child;
static __thread bool is_forking;

/* ---- growing ---- */

static uint64_t between(uint64_t least, uint64_t n, uint64_t most)
{
	return n < least ? least : n > most ? most : n;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Makes pages present. Returns false if they are behind the end of a file that was shortened. */
static bool touch(uint8_t *at, uint64_t n)
{
	long r = sys_madvise(at, n, MADV_POPULATE_WRITE);
	if (r != -EINVAL)
		return r != -EFAULT;
	/* Before Linux 5.14: the space is reserved, nobody else has it yet, and the file is not cut
	 * meanwhile (stop_touching). */
	for (uint64_t i = 0; i < n; i += 4096)
		atomic_fetch_or_explicit((_Atomic uint8_t *)(at + i), 0, memory_order_relaxed);
	return true;
}

/* Makes pages present ahead of `next`, if nobody else is at it. */
static void touch_ahead(struct chunk *c)
{
	uint64_t next = atomic_load_explicit(&c->next, memory_order_relaxed);
	uint64_t touched = atomic_load_explicit(&c->touched, memory_order_relaxed);
	uint64_t ahead = between(STORE_AHEAD_MIN, (c->offset + next) / 2, STORE_AHEAD_MAX);
	if (next + ahead <= touched || touched >= c->n_bytes || !trylock_take(&store.touching))
		return;
	touched = atomic_load_explicit(&c->touched, memory_order_relaxed);
	uint64_t end =
		next + ahead + between(STORE_TOUCH_MIN, 2 * (c->offset + next), STORE_TOUCH_MAX);
	end &= ~UINT64_C(4095);
	end = end > c->n_bytes ? c->n_bytes : end;
	if (end > touched) {
		touch(c->base + touched, end - touched);
		atomic_store_explicit(&c->touched, end, memory_order_relaxed);
	}
	trylock_give(&store.touching);
}

static uint64_t step_bytes(uint64_t size)
{
	if (size == 0)
		return STORE_FIRST_STEP;
	return between(STORE_STEP_MIN, size / 4 & ~(uint64_t)(STORE_STEP_MIN - 1), STORE_STEP_MAX);
}

/* Adds a chunk. The caller holds `growing` (or is alone). */
static enum space_result add_chunk(uint64_t first_touch)
{
	uint32_t n = atomic_load_explicit(&store.n_chunks, memory_order_relaxed);
	uint64_t size = store.file_bytes, most = store.options.max_bytes;
	uint64_t step = step_bytes(size);
	if (n == STORE_MAX_CHUNKS || (most && size >= most))
		return SPACE_LIMIT;
	if (most && size + step > most)
		step = (most - size) & ~UINT64_C(4095);
	struct chunk *c = &store.chunk[n];
	enum space_result r = space_add(&store.space, size, &step, &c->base);
	if (r != SPACE_OK)
		return r;
	store.file_bytes = size + step;
	c->offset = size;
	c->n_bytes = step;
	atomic_store_explicit(&c->next, 0, memory_order_relaxed);
	first_touch = first_touch > step ? step : first_touch;
	touch(c->base, first_touch);
	atomic_store_explicit(&c->touched, first_touch, memory_order_relaxed);
	atomic_store_explicit(&store.n_chunks, n + 1,
			      memory_order_release); /* whoever sees it sees the chunk */
	return SPACE_OK;
}

/*
 * Moves from the slab to a file of its own. The process has one thread, which is here: the file
 * gets what the slab holds, and is then mapped in its place. Until all of that is done the file has
 * no magic number and the slab counts.
 */
static enum space_result move_to_file(void)
{
	const struct store_options *o = &store.options;
	const char *cause;
	struct space *file = &store.own_file;
	uint8_t *image = (uint8_t *)(store.slab + 1);
	if (!space_create(file, o->directory, o->rank, o->host, o->pid, &cause))
		return SPACE_LOST;
	const size_t magic_bytes = sizeof store.header->magic;
	struct msr_extent rest = {0}; /* from the image to the end of its page */
	extent_write_free((uint8_t *)&rest, sizeof rest);
	enum space_result r = space_write(file, image + magic_bytes,
					  MSR_PROCESS_BYTES - magic_bytes, magic_bytes);
	if (r == SPACE_OK)
		r = space_write(file, &rest, sizeof rest, MSR_PROCESS_BYTES);
	if (r == SPACE_OK)
		r = space_map_over(file, image, NURSERY_SLAB_BYTES);
	if (r != SPACE_OK) {
		space_remove(file);
		return r;
	}
	store.space = *file;
	store.file_bytes = NURSERY_SLAB_BYTES;
	nursery_abandon(store.slab);
	memcpy(store.header->magic, MSR_MAGIC, sizeof store.header->magic);
	/* What is around it stays mapped, but for our children there will be slabs of ours. */
	sys_madvise(store.nursery.base, store.nursery.n_bytes, MADV_DONTFORK);
	store.n_around_bytes = store.nursery.n_bytes - store.chunk[0].n_bytes;
	store.nursery.base = NULL;
	store.slab = NULL;
	return SPACE_OK;
}

/*
 * A sample that a handler takes during the move would be lost. SIGBUS stays: blocked, a fault would
 * end the process.
 */
static enum space_result leave_slab(void)
{
	const uint64_t all_but_bus = ~(UINT64_C(1) << (SIGBUS - 1));
	uint64_t old = 0;
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all_but_bus, (long)&old, sizeof old);
	enum space_result r = move_to_file();
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof old);
	return r;
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

static bool may_grow(void)
{
	return !atomic_load_explicit(&store.closed, memory_order_relaxed)
		&& clock_mono_ns() >= atomic_load_explicit(&store.retry_ns, memory_order_relaxed);
}

static void note_failure(enum space_result r)
{
	atomic_store_explicit(&store.was_full, true, memory_order_relaxed);
	atomic_store_explicit(&store.last_failure, loss_of(r), memory_order_relaxed);
	atomic_store_explicit(&store.retry_ns, clock_mono_ns() + STORE_RETRY_NS,
			      memory_order_relaxed);
}

/* More slabs, all of the last ones are taken; few at first, for most processes fork seldom. */
static void add_nursery(struct nursery *n)
{
	const uint64_t most = store.options.max_bytes;
	if (most && store.file_bytes + (store.n_slabs_next + 1) * NURSERY_SLAB_BYTES > most)
		return;
	/* After a cut the mapping may reach over the end of the file. */
	uint64_t end = n->base ? between(0, n->offset + n->n_bytes, store.file_bytes) : 0;
	if (!nursery_give_up(n, 1))
		return;
	store.nurseries_end = later(end, store.nurseries_end);
	enum space_result r = nursery_add(n, &store.space, store.file_bytes, store.n_slabs_next);
	if (r != SPACE_OK) {
		note_failure(r);
		return;
	}
	store.file_bytes += n->n_bytes;
	raise_allocated(store.file_bytes);
	store.n_slabs_next = (uint32_t)between(0, 2 * store.n_slabs_next, NURSERY_MOST_SLABS);
}

void store_before_fork(void)
{
	struct nursery *n = &store.nursery;
	nursery_fork_begins(n);
	is_forking = true;
	if (store.header && !store.slab && !nursery_has_room(n) && may_grow() &&
	    trylock_take(&store.growing)) {
		if (may_grow() && !nursery_has_room(n))
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
	store.stays = leave_slab() != SPACE_OK;
	trylock_give(&store.growing);
	return !store.stays;
}

/* One more chunk behind chunk `seen` - 1, unless someone added it or is about to. */
static void grow(uint32_t seen)
{
	if (!may_grow() || !trylock_take(&store.growing))
		return;
	if (atomic_load_explicit(&store.n_chunks, memory_order_relaxed) == seen && may_grow()) {
		enum space_result r = store.stays  ? SPACE_LOST
				      : store.slab ? leave_slab()
						   : SPACE_OK;
		if (r == SPACE_OK)
			r = add_chunk(0);
		if (r != SPACE_OK)
			note_failure(r);
	}
	trylock_give(&store.growing);
}

/* ---- free pieces ---- */

static uint8_t *pointer_to(uint64_t offset)
{
	for (uint32_t i = atomic_load_explicit(&store.n_chunks, memory_order_acquire); i-- > 0;)
		if (offset >= store.chunk[i].offset)
			return store.chunk[i].base + (offset - store.chunk[i].offset);
	return NULL;
}

static struct chunk *chunk_of(const void *p)
{
	const uint8_t *at = p;
	for (uint32_t i = atomic_load_explicit(&store.n_chunks, memory_order_acquire); i-- > 0;)
		if (at >= store.chunk[i].base && at < store.chunk[i].base + store.chunk[i].n_bytes)
			return &store.chunk[i];
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
	/* No slot: the piece stays unused; store_finish releases its pages. */
}

/* A free piece of at least `least` bytes, of which at most `n` are taken. */
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
			/* The rest first, so that every moment's chain of lengths is whole. */
			extent_write_free(at + n, bytes - n);
			offer_piece(offset + n, bytes - n);
			*length = n;
		}
		return at;
	}
	return NULL;
}

/* ---- extents ---- */

/* Takes n bytes at the end of a chunk; NULL when they do not fit. */
static uint8_t *carve(struct chunk *c, uint64_t n)
{
	uint64_t next = atomic_load_explicit(&c->next, memory_order_relaxed);
	do
		if (c->n_bytes - next < n)
			return NULL;
	while (!atomic_compare_exchange_weak_explicit(&c->next, &next, next + n,
						      memory_order_relaxed, memory_order_relaxed));
	raise_allocated(c->offset + next + n);
	return c->base + next;
}

/* Nothing of the wanted size fits into chunk i any more: what is left becomes a free piece. */
static void retire(uint32_t i)
{
	struct chunk *c = &store.chunk[i];
	uint64_t next = atomic_load_explicit(&c->next, memory_order_relaxed);
	while (next < c->n_bytes &&
	       !atomic_compare_exchange_weak_explicit(&c->next, &next, c->n_bytes,
						      memory_order_relaxed, memory_order_relaxed))
		;
	if (next < c->n_bytes) {
		raise_allocated(c->offset + c->n_bytes);
		extent_write_free(c->base + next, c->n_bytes - next);
		offer_piece(c->offset + next, c->n_bytes - next);
	}
	atomic_compare_exchange_strong_explicit(&store.current, &i, i + 1, memory_order_relaxed,
						memory_order_relaxed);
}

static uint8_t *take_space(uint64_t n)
{
	for (int attempt = 0; attempt < 4; attempt++) {
		uint32_t current = atomic_load_explicit(&store.current, memory_order_relaxed);
		uint32_t n_chunks = atomic_load_explicit(&store.n_chunks, memory_order_acquire);
		struct chunk *c = &store.chunk[current];
		uint8_t *at = carve(c, n);
		if (at) {
			touch_ahead(c);
			uint64_t left =
				c->n_bytes - atomic_load_explicit(&c->next, memory_order_relaxed);
			if (!store.slab && current + 1 == n_chunks &&
			    left < between(0, c->n_bytes / 4, STORE_LOW_WATER))
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

struct msr_extent *store_extent(const struct store_request *request, enum msr_loss *cause)
{
	uint64_t n = ((uint64_t)request->n_bytes + MSR_EXTENT_ALIGN - 1) &
		     ~(uint64_t)(MSR_EXTENT_ALIGN - 1);
	uint64_t least = request->least_bytes ? request->least_bytes : n;
	uint64_t length = n;
	if (!store.header || atomic_load_explicit(&store.closed, memory_order_relaxed)) {
		*cause = MSR_LOSS_NO_SPACE;
		return NULL;
	}
	uint8_t *at = take_piece(least, n, &length);
	if (!at)
		at = take_space(n);
	if (!at && least < n) {
		length = (least + MSR_EXTENT_ALIGN - 1) & ~(uint64_t)(MSR_EXTENT_ALIGN - 1);
		at = take_space(length);
	}
	if (!at) { /* no space, or another thread is making some: then the cause is the last one, or
		      "busy" at first */
		*cause = (enum msr_loss)atomic_load_explicit(&store.last_failure,
							     memory_order_relaxed);
		return NULL;
	}
	extent_write((struct msr_extent *)at, request, length);
	return (struct msr_extent *)at;
}

void store_give_tail(struct msr_extent *e)
{
	uint64_t used = atomic_load_explicit(&e->used, memory_order_relaxed);
	uint64_t length = atomic_load_explicit(&e->length, memory_order_relaxed);
	uint64_t keep =
		(sizeof *e + used + MSR_EXTENT_ALIGN - 1) & ~(uint64_t)(MSR_EXTENT_ALIGN - 1);
	struct chunk *c = chunk_of(e);
	if (!c || length > c->n_bytes - (uint64_t)((uint8_t *)e - c->base) || used > length ||
	    length < keep + STORE_MIN_PIECE ||
	    atomic_load_explicit(&store.closed, memory_order_relaxed))
		return;
	/* The tail's header first, then the extent shrinks, then others may have the tail: the
	 * chain is whole at every moment. */
	extent_write_free((uint8_t *)e + keep, length - keep);
	atomic_store_explicit(&e->length, keep, memory_order_release);
	uint64_t start = (uint64_t)((uint8_t *)e - c->base), end = start + length;
	if (!atomic_compare_exchange_strong_explicit(&c->next, &end, start + keep,
						     memory_order_release, memory_order_relaxed))
		offer_piece(c->offset + start + keep,
			    length - keep); /* it was not the last extent */
}

void store_drop(struct msr_extent *e)
{
	uint64_t length = atomic_load_explicit(&e->length, memory_order_relaxed);
	const struct chunk *c = chunk_of(e);
	if (!c || length > c->n_bytes - (uint64_t)((uint8_t *)e -
						   c->base)) /* somebody else has written there */
		return;
	uintptr_t from = ((uintptr_t)e + 4095) & ~(uintptr_t)4095;
	uintptr_t to = ((uintptr_t)e + length) & ~(uintptr_t)4095;
	if (to > from)
		sys_madvise((void *)from, to - from, MADV_DONTNEED);
}

/* ---- life ---- */

static void fill_header(struct msr_header *h, const struct store_options *o)
{
	h->version_major = MSR_VERSION_MAJOR;
	h->version_minor = MSR_VERSION_MINOR;
	h->header_bytes = MSR_HEADER_BYTES;
	h->pid = o->pid;
	h->parent_pid = o->parent_pid;
	h->rank = o->rank;
	h->n_ranks = o->n_ranks;
	h->exec_seq = o->exec_seq;
	h->flags = o->flags;
	size_t n = strnlen(o->host, sizeof h->host - 1);
	memcpy(h->host, o->host, n);
	h->host_id = fnv64(FNV64_START, o->host, n);
	h->start_mono_ns = clock_mono_ns();
	h->start_real_ns = clock_ns(CLOCK_REALTIME);
	h->process_start_ns = o->process_start_ns ? o->process_start_ns : h->start_mono_ns;
	atomic_store_explicit(&h->allocated, MSR_HEADER_BYTES, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	memcpy(h->magic, MSR_MAGIC, sizeof h->magic);
}

bool store_open(const struct store_options *o, const char **cause)
{
	store_forget();
	nursery_give_up(&store.nursery, 0);
	if (!(o->name ? space_create_named(&store.space, o->directory, o->name, cause)
		      : space_create(&store.space, o->directory, o->rank, o->host, o->pid, cause)))
		return false;
	store.options = *o;
	enum space_result r = add_chunk(STORE_FIRST_TOUCH);
	if (r != SPACE_OK) {
		*cause = space_result_text(r);
		space_remove(&store.space);
		return false;
	}
	store.header = (struct msr_header *)store.chunk[0].base;
	atomic_store_explicit(&store.chunk[0].next, MSR_HEADER_BYTES, memory_order_relaxed);
	fill_header(store.header, o);
	return true;
}

/* The extent's header ends a page, and the content starts the next. */
static bool touch_slab(struct msr_extent *slab)
{
	return touch((uint8_t *)(slab + 1) - 4096, 4096 + STORE_SLAB_TOUCH);
}

bool store_open_forked(const struct store_options *o, const char **cause)
{
	store_forget();
	store.slab = slab_of_child;
	slab_of_child = NULL;
	is_forking = false;
	if (store.slab && !touch_slab(store.slab))
		store.slab = NULL;
	if (!store.slab)
		return store_open(o, cause);
	nursery_begin(store.slab);
	store.options = *o;
	struct chunk *c = &store.chunk[0];
	c->base = (uint8_t *)(store.slab + 1);
	c->offset = 0;
	c->n_bytes = MSR_PROCESS_BYTES;
	atomic_store_explicit(&c->next, MSR_HEADER_BYTES, memory_order_relaxed);
	/* The last page is the next slab's as well, and cannot be missing. */
	atomic_store_explicit(&c->touched, c->n_bytes, memory_order_relaxed);
	atomic_store_explicit(&store.n_chunks, 1, memory_order_release);
	store.header = (struct msr_header *)c->base;
	fill_header(store.header, o);
	return true;
}

void store_forget(void)
{
	space_forget(&store.space);
	for (uint32_t i = atomic_load_explicit(&store.n_chunks, memory_order_relaxed);
	     i-- > 0 && !store.slab;)
		room_give(store.chunk[i].n_bytes); /* the mappings did not come through the fork */
	room_give(store.n_around_bytes);
	store.n_around_bytes = 0;
	store.slab = NULL;
	store.stays = false;
	nursery_forked(&store.nursery, slab_of_child != NULL);
	store.nurseries_end = store.file_bytes = 0;
	store.n_slabs_next = NURSERY_LEAST_SLABS;
	store.header = NULL;
	atomic_store_explicit(&store.n_chunks, 0, memory_order_relaxed);
	atomic_store_explicit(&store.current, 0, memory_order_relaxed);
	trylock_give(&store.growing);
	trylock_give(&store.touching);
	store.sealed = store.cut = false;
	atomic_store_explicit(&store.damaged, false, memory_order_relaxed);
	atomic_store_explicit(&store.closed, false, memory_order_relaxed);
	atomic_store_explicit(&store.was_full, false, memory_order_relaxed);
	atomic_store_explicit(&store.last_failure, MSR_LOSS_BUSY, memory_order_relaxed);
	atomic_store_explicit(&store.retry_ns, 0, memory_order_relaxed);
	for (unsigned i = 0; i < STORE_N_PIECES; i++)
		atomic_store_explicit(&store.piece[i], 0, memory_order_relaxed);
}

/* Releases the whole pages behind the content of each extent of a chunk. */
static void punch(const struct chunk *c, uint64_t from, uint64_t end)
{
	for (uint64_t at = from; at + sizeof(struct msr_extent) <= end;) {
		const struct msr_extent *e = (const void *)(c->base + at);
		uint64_t length = atomic_load_explicit(&e->length, memory_order_relaxed);
		uint64_t used = atomic_load_explicit(&e->used, memory_order_relaxed);
		if (e->magic != MSR_EXTENT_MAGIC || length < sizeof *e)
			return;
		uint64_t first = (c->offset + at + sizeof *e + used + 4095) & ~UINT64_C(4095);
		uint64_t last = (c->offset + at + length) & ~UINT64_C(4095);
		if (last > first)
			space_punch(&store.space, first, last - first);
		at += length;
	}
}

/* Takes what is left of a chunk away from everyone; returns where its extents end. */
static uint64_t seal(struct chunk *c)
{
	return atomic_exchange_explicit(&c->next, c->n_bytes, memory_order_relaxed);
}

/* True: no page is made present from now on. Another thread may be at it, and pages behind the end
 * of a file cannot be written. */
static bool stop_touching(void)
{
	for (unsigned i = 0; i < STORE_END_YIELDS; i++) {
		if (trylock_take(&store.touching))
			return true;
		sys_call3(SYS_sched_yield, 0, 0, 0);
	}
	return false;
}

void store_finish(bool quiet)
{
	if (!store.header || atomic_exchange_explicit(&store.closed, true, memory_order_seq_cst) ||
	    !trylock_take(&store.growing))
		return;
	uint32_t n = atomic_load_explicit(&store.n_chunks, memory_order_acquire);
	uint64_t end = MSR_HEADER_BYTES;
	/* Whoever is in the middle of taking an extent has taken its space before the seal, or gets
	 * none. */
	for (uint32_t i = 0; i < n; i++) {
		struct chunk *c = &store.chunk[i];
		uint64_t used = seal(c);
		if (quiet && !store.slab)
			punch(c, i == 0 ? MSR_HEADER_BYTES : 0, used);
		if (used > 0)
			end = c->offset + used;
	}
	if (!store.slab) {
		const uint64_t closed = nursery_close(&store.nursery, &store.space);
		store.nurseries_end =
			later(between(0, closed, store.file_bytes), store.nurseries_end);
		end = later(end, store.nurseries_end);
	}
	/* Not raise_allocated: tails that went back to their chunk have left it too high. */
	atomic_store_explicit(&store.header->allocated, end, memory_order_relaxed);
	/* The locks stay taken: nothing is added behind the cut. store_reopen gives them back. */
	store.sealed = true;
	store.cut = !store.slab && stop_touching();
	if (store.cut)
		space_cut(&store.space, end);
}

/* The last chunks may reach over the new end of the file: they end where it was cut. */
static void end_chunks_at_cut(void)
{
	uint64_t end = atomic_load_explicit(&store.header->allocated, memory_order_relaxed);
	uint32_t n = atomic_load_explicit(&store.n_chunks, memory_order_acquire);
	while (n > 1 && store.chunk[n - 1].offset >= end)
		n--;
	struct chunk *last = &store.chunk[n - 1];
	if (last->offset + last->n_bytes >
	    end) { /* all of it is sealed; the next chunk starts on a page */
		last->n_bytes = ((end + 4095) & ~UINT64_C(4095)) - last->offset;
		atomic_store_explicit(&last->next, last->n_bytes, memory_order_relaxed);
	}
	store.file_bytes = (end + 4095) & ~UINT64_C(4095);
	atomic_store_explicit(&store.n_chunks, n, memory_order_release);
	atomic_store_explicit(&store.current, n - 1, memory_order_relaxed);
}

void store_reopen(void)
{
	if (!store.header || !atomic_load_explicit(&store.closed, memory_order_relaxed) ||
	    store_is_damaged())
		return;
	if (store.cut)
		end_chunks_at_cut();
	atomic_store_explicit(&store.closed, false, memory_order_relaxed);
	if (store.cut)
		trylock_give(&store.touching);
	if (store.sealed)
		trylock_give(&store.growing);
	store.sealed = store.cut = false;
}

bool store_mend(const void *address)
{
	const uintptr_t page = (uintptr_t)address & ~(uintptr_t)4095;
	if (!store.header || (!chunk_of(address) && !nursery_has(&store.nursery, address)))
		return false;
	/* Zeros, which all that reads the file again can live with. Not the whole chunk: other
	 * pages may still hold what threads work with. */
	if (sys_is_error(sys_mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)))
		return false;
	sys_madvise((void *)page, 4096, MADV_DONTFORK);
	atomic_store_explicit(&store.damaged, true, memory_order_relaxed);
	atomic_store_explicit(&store.closed, true, memory_order_seq_cst);
	return true;
}

bool store_is_damaged(void)
{
	return atomic_load_explicit(&store.damaged, memory_order_relaxed);
}

/* ---- questions ---- */

const char *store_path(void)
{
	return store.space.path;
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
