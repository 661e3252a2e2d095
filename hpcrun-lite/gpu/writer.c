/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared extents of the GPU core; see writer.h. Every wait is bounded. Test:
 * tests/unit/gpu/test_gpu_core.c.
 */
#include "hpcrun-lite/gpu/writer.h"

#include "hpcrun-lite/gpu/core_internal.h"
#include "hpcrun-lite/gpu/lock.h"

#define WRITER_FIRST_BYTES 4096u
#define WRITER_LAST_BYTES (256u << 10)

struct msr_extent *stream_extent(const struct store_request *request, struct gpu_backend *owner,
				 enum msr_gpu_loss *cause)
{
	struct msr_extent *e = extent_take(request, cause);
	if (e && owner)
		gpu_count_record_bytes(owner,
				       atomic_load_explicit(&e->length, memory_order_relaxed));
	return e;
}

uint32_t stream_sequence(enum msr_kind kind)
{
	return atomic_fetch_add_explicit(&gpu_core.sequence[kind - MSR_GPU_DEFINITION], 1,
					 memory_order_relaxed);
}

static bool new_extent(struct stream *s, struct writer *w, uint64_t first, size_t n,
		       enum msr_gpu_loss *cause)
{
	uint32_t whole = (uint32_t)(sizeof(struct msr_extent) + n);
	uint32_t wanted = w->next_bytes ? w->next_bytes : WRITER_FIRST_BYTES;
	const struct store_request request = {
		.kind = s->kind,
		.record_bytes = s->record_bytes,
		.thread = UINT32_MAX,
		.sequence = stream_sequence(s->kind),
		.first = first,
		.n_bytes = wanted > whole ? wanted : whole,
		.least_bytes = wanted / 4 > whole ? wanted / 4 : whole,
	};
	struct msr_extent *e = stream_extent(&request, s->owner, cause);
	if (!e)
		return false;
	if (w->extent)
		store_give_tail(w->extent);
	w->extent = e;
	w->next_bytes = wanted < WRITER_LAST_BYTES ? wanted * 2 : wanted;
	return true;
}

static bool is_dead(const struct writer *w)
{
	return atomic_load_explicit(&w->is_dead, memory_order_relaxed);
}

/* Locks some writer; NULL if none is available. */
static struct writer *lock_writer(struct stream *s)
{
	uint32_t n = s->n_writers ? s->n_writers : STREAM_WRITERS;
	for (uint32_t i = 0; i < n; i++)
		if (!is_dead(&s->writer[i]) && gpu_lock_try(&s->writer[i].lock))
			return &s->writer[i];
	for (uint32_t i = 0; i < n && !gpu_lock_is_nested(); i++) {
		struct writer *w = &s->writer[i];
		if (is_dead(w))
			continue;
		if (gpu_lock_wait(&w->lock))
			return w;
		atomic_store_explicit(&w->is_dead, true, memory_order_relaxed);
	}
	return NULL;
}

void *stream_begin(struct stream *s, uint64_t first, size_t n_bytes, struct writer **w,
		   enum msr_gpu_loss *cause)
{
	*cause = MSR_GPU_LOSS_BUSY;
	*w = lock_writer(s);
	if (!*w)
		return NULL;
	/* Checked under the lock: gpu_finish first closes and then takes the locks. */
	if (gpu_is_closed()) {
		*cause = MSR_GPU_LOSS_STOPPED;
	} else {
		struct msr_extent *e = (*w)->extent;
		if ((e && e->first == first && extent_room(e) >= n_bytes) ||
		    new_extent(s, *w, first, n_bytes, cause))
			return extent_next((*w)->extent);
	}
	gpu_lock_give(&(*w)->lock);
	return NULL;
}

void stream_end(struct writer *w, size_t n_bytes)
{
	extent_publish(w->extent, n_bytes);
	gpu_lock_give(&w->lock);
}

bool stream_finish(struct stream *s)
{
	bool all = true;
	for (unsigned i = 0; i < STREAM_WRITERS; i++) {
		struct writer *w = &s->writer[i];
		if (is_dead(w) || !gpu_lock_take(&w->lock)) {
			all = false;
			continue;
		}
		if (w->extent)
			store_give_tail(w->extent);
		w->extent = NULL;
		gpu_lock_give(&w->lock);
	}
	return all;
}

void stream_forget(struct stream *s)
{
	for (unsigned i = 0; i < STREAM_WRITERS; i++) {
		trylock_give(&s->writer[i].lock);
		s->writer[i].extent = NULL;
		s->writer[i].next_bytes = 0;
		atomic_store_explicit(&s->writer[i].is_dead, false, memory_order_relaxed);
	}
}
