/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Appends records of the GPU core to extents that several threads share. A stream holds one kind of
 * record and has a few writers, each with its own extent and lock, so that threads rarely wait for
 * each other. Only the first writer is used as long as its lock is free. Extents grow from 4 KiB.
 * Test: tests/unit/gpu/test_gpu_core.c.
 */
#ifndef HPCRUN_LITE_GPU_WRITER_H
#define HPCRUN_LITE_GPU_WRITER_H

#include "common/format/measurement_gpu.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_WRITERS 4u

struct gpu_backend;

struct writer {
	trylock lock;
	struct msr_extent *extent;
	uint32_t next_bytes;
	_Atomic bool is_dead; /* its lock was held for a second, so the holder will never return */
};

/* All zero at the start, except `kind`, `record_bytes` and `first`. */
struct stream {
	enum msr_kind kind;
	uint16_t record_bytes;      /* 0: each record has its own length */
	uint64_t first;             /* `first` of its extents */
	uint32_t n_writers;         /* 0: STREAM_WRITERS; 1: records stay in one order */
	/* The back end whose record bytes include the extents of this stream; NULL: none. */
	struct gpu_backend *owner;
	struct writer writer[STREAM_WRITERS];
};

/*
 * Returns zeroed room for a record and holds the lock of *w until stream_end, which publishes the
 * record (n_bytes 0: discards it). On failure returns NULL, sets *cause and holds nothing.
 *
 * `first` must be the stream's. Only a stream of launches may use another value, which starts a new
 * extent.
 */
void *stream_begin(struct stream *s, uint64_t first, size_t n_bytes, struct writer **w,
		   enum msr_gpu_loss *cause);
void stream_end(struct writer *w, size_t n_bytes);

/*
 * Returns the unused space of all extents to the store, for good. Returns false if a lock could not
 * be taken: a thread may still be writing.
 */
bool stream_finish(struct stream *s);

/* In a forked child: drops extents and locks. */
void stream_forget(struct stream *s);

/*
 * The next sequence number for an extent of this kind that belongs to no thread. There may be gaps
 * if there was no space.
 */
uint32_t stream_sequence(enum msr_kind kind);

/* extent_take, counted for `owner` (as in struct stream). */
struct msr_extent *stream_extent(const struct store_request *request, struct gpu_backend *owner,
				 enum msr_gpu_loss *cause);

/* Number of free bytes in the extent. */
static inline uint64_t extent_room(const struct msr_extent *e)
{
	return e ? atomic_load_explicit(&e->length, memory_order_relaxed) - sizeof *e -
			       atomic_load_explicit(&e->used, memory_order_relaxed)
		 : 0;
}
static inline void *extent_next(struct msr_extent *e)
{
	return (uint8_t *)(e + 1) + atomic_load_explicit(&e->used, memory_order_relaxed);
}
/* For one writer at a time. Release: a reader that sees the new length also sees the record. */
static inline void extent_publish(struct msr_extent *e, size_t n_bytes)
{
	atomic_store_explicit(&e->used,
			      atomic_load_explicit(&e->used, memory_order_relaxed) + n_bytes,
			      memory_order_release);
}

#endif
