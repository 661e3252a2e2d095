/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of the store: opens it, also in a forked child, and ends it. See store.h. Must not raise
 * SIGBUS, so it touches no page after a cut. Tests: tests/unit/run/test_store.c,
 * tests/unit/run/test_nursery.c.
 */
#include "hpcrun-lite/store/store.h"

#include "common/safe/clock.h"
#include "common/safe/fnv.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/store/store_grow.h"
#include "hpcrun-lite/store/store_local.h"
#include "hpcrun-lite/store/store_slab.h"

#include <string.h>
#include <sys/mman.h>

/* Bytes made present at the start: enough for a process that ends soon. */
#define STORE_FIRST_TOUCH (32u << 10)
/* How often the end yields to a thread that makes pages present. */
#define STORE_END_YIELDS 1000u

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
	h->job_host_id = o->job_host_id;
	h->job_id = o->job_id;
	h->job_pid = o->job_pid;
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
	nursery_give_up(&store.briefs, 0);
	if (!store_make_file(&store.space, o, cause))
		return false;
	store.options = *o;
	enum space_result r = store_add_chunk(STORE_FIRST_TOUCH);
	if (r != SPACE_OK && store_leave_node(&store.space))
		r = store_add_chunk(STORE_FIRST_TOUCH);
	if (r != SPACE_OK) {
		*cause = space_result_text(r);
		store_unmake_file(&store.space);
		return false;
	}
	store.header = (struct msr_header *)store.chunk[0].base;
	atomic_store_explicit(&store.chunk[0].next, MSR_HEADER_BYTES, memory_order_relaxed);
	fill_header(store.header, o);
	return true;
}

bool store_open_forked(const struct store_options *o, const char **cause)
{
	store_forget();
	store.slab = store_slab_of_fork();
	if (!store.slab)
		return store_open(o, cause);
	store.is_brief = true;
	store.options = *o;
	struct chunk *c = &store.chunk[0];
	c->base = store.image;
	c->offset = 0;
	c->n_bytes = MSR_PROCESS_BYTES;
	atomic_store_explicit(&c->next, MSR_HEADER_BYTES, memory_order_relaxed);
	/* store_touch_ahead never touches them: a slab's last page belongs to the next one, too. */
	atomic_store_explicit(&c->touched, c->n_bytes, memory_order_relaxed);
	atomic_store_explicit(&store.n_chunks, 1, memory_order_release);
	store.header = (struct msr_header *)c->base;
	fill_header(store.header, o);
	return true;
}

void store_forget(void)
{
	space_forget(&store.space);
	if (store.spill_from)
		space_forget(&store.spill);
	store.spill_from = 0;
	for (uint32_t i = atomic_load_explicit(&store.n_chunks, memory_order_relaxed);
	     i-- > 0 && !store.slab;)
		room_give(store.chunk[i].n_bytes); /* the mappings did not come through the fork */
	store_forget_image();
	store.slab = NULL;
	store.is_brief = store.has_promise = store.stays = false;
	if (store.left[0])
		store.left[0] = '\0';
	nursery_forked(&store.nursery, false);
	nursery_forked(&store.briefs, store_is_forked());
	store.nurseries_end = store.file_bytes = 0;
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
		if (atomic_load_explicit(&store.piece[i], memory_order_relaxed))
			atomic_store_explicit(&store.piece[i], 0, memory_order_relaxed);
}

void store_close(void)
{
	const uint32_t n = atomic_load_explicit(&store.n_chunks, memory_order_relaxed);
	if (!store.slab)
		for (uint32_t i = 0; i < n; i++)
			sys_munmap(store.chunk[i].base, store.chunk[i].n_bytes);
	store_forget();
}

/* Releases the whole pages after the content of each extent of a chunk. */
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
			space_punch(store_space_at(c->offset), first, last - first);
		at += length;
	}
}

/* Takes the rest of a chunk, so that no other thread can. Returns where its extents end. */
static uint64_t seal(struct chunk *c)
{
	return atomic_exchange_explicit(&c->next, c->n_bytes, memory_order_relaxed);
}

/*
 * Keeps threads from making pages present, because a page past the end of the file cannot be
 * touched. Waits a moment for a thread that is doing so. Returns true if no thread does any more.
 */
static bool stop_touching(void)
{
	for (unsigned i = 0; i < STORE_END_YIELDS; i++) {
		if (trylock_take(&store.touching))
			return true;
		sys_call3(SYS_sched_yield, 0, 0, 0);
	}
	return false;
}

static void close_nursery(struct nursery *n)
{
	const uint64_t end = nursery_close(n, store_space_at(n->offset));
	store.nurseries_end = store_later(store_between(0, end, store.file_bytes),
					  store.nurseries_end);
}

void store_finish(bool quiet)
{
	if (!store.header || atomic_exchange_explicit(&store.closed, true, memory_order_seq_cst) ||
	    !trylock_take(&store.growing))
		return;
	uint32_t n = atomic_load_explicit(&store.n_chunks, memory_order_acquire);
	uint64_t end = MSR_HEADER_BYTES;
	/* A thread that takes an extent either took its space before the seal or gets none. */
	for (uint32_t i = 0; i < n; i++) {
		struct chunk *c = &store.chunk[i];
		uint64_t used = seal(c);
		if (quiet && !store.slab)
			punch(c, i == 0 ? MSR_HEADER_BYTES : 0, used);
		if (used > 0)
			end = c->offset + used;
	}
	if (!store.slab) {
		close_nursery(&store.nursery);
		close_nursery(&store.briefs);
		end = store_later(end, store.nurseries_end);
	}
	/* It may be too high by now, because tails went back to their chunks. */
	atomic_store_explicit(&store.header->allocated, end, memory_order_relaxed);
	store_end_brief();
	/* The locks stay taken until store_reopen, so nothing is added after the cut. */
	store.sealed = true;
	store.cut = !store.slab && stop_touching();
	if (store.cut)
		space_cut(store_space_at(end), end);
	space_rest(&store.spill);
}

/* Ends the chunks where the file was cut. */
static void end_chunks_at_cut(void)
{
	uint64_t end = atomic_load_explicit(&store.header->allocated, memory_order_relaxed);
	uint32_t n = atomic_load_explicit(&store.n_chunks, memory_order_acquire);
	while (n > 1 && store.chunk[n - 1].offset >= end)
		n--;
	struct chunk *last = &store.chunk[n - 1];
	/* All of it is sealed; the next chunk starts on a page. */
	if (last->offset + last->n_bytes > end) {
		last->n_bytes = machine_page_ceiling(end) - last->offset;
		atomic_store_explicit(&last->next, last->n_bytes, memory_order_relaxed);
	}
	store.file_bytes = machine_page_ceiling(end);
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
	store_reopen_brief();
	if (store.cut)
		trylock_give(&store.touching);
	if (store.sealed)
		trylock_give(&store.growing);
	store.sealed = store.cut = false;
}

bool store_mend(const void *address)
{
	const size_t page_bytes = machine_page_bytes();
	const uintptr_t page = machine_page_floor((uintptr_t)address);
	if (!store.header || (!store_chunk_of(address) && !nursery_has(&store.nursery, address) &&
			      !nursery_has(&store.briefs, address)))
		return false;
	/*
	 * Zeros, which all code that reads the file again accepts. Not the whole chunk, because
	 * other pages may still hold data that threads use.
	 */
	if (sys_is_error(sys_mmap((void *)page, page_bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)))
		return false;
	sys_madvise((void *)page, page_bytes, MADV_DONTFORK);
	atomic_store_explicit(&store.damaged, true, memory_order_relaxed);
	atomic_store_explicit(&store.closed, true, memory_order_seq_cst);
	return true;
}
