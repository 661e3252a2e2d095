/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Appends records of the GPU core to extents that several threads share. A stream is one kind of record; it has a few writers, each with its extent and its
 * lock, so that threads meet seldom; while they do not, only the first is used. Extents grow from 4 KiB. Tests: tests/unit/test_gpu_core.c.
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
	_Atomic bool is_dead;       /* its lock was held for a second: whoever held it will not come back */
};

/* All zero but `kind`, `record_bytes` and `first` at its start. */
struct stream {
	enum msr_kind kind;
	uint16_t record_bytes;      /* 0: records carry their length */
	uint64_t first;             /* of its extents */
	uint32_t n_writers;         /* 0: STREAM_WRITERS; 1: records come in one order */
	struct gpu_backend *owner;  /* lengths of its extents count as this one's record bytes; NULL: they do not */
	struct writer writer[STREAM_WRITERS];
};

/*
 * Room for a record, zeroed, under the lock of *w; stream_end publishes it (n_bytes 0: leaves it) and gives the lock. NULL with the cause: nothing is held.
 * `first` must be the stream's, or (launches of any thread) what the extent shall say; another one takes a new extent.
 */
void *stream_begin(struct stream *s, uint64_t first, size_t n_bytes, struct writer **w, enum msr_gpu_loss *cause);
void stream_end(struct writer *w, size_t n_bytes);

/* Gives the unused space of all its extents back, for good. False: some lock could not be had, so some thread may still be writing. */
bool stream_finish(struct stream *s);

/* In the child of fork: no extent, no lock. */
void stream_forget(struct stream *s);

/* The next number of an extent of this kind that belongs to no thread. A number may be left out when there was no space. */
uint32_t stream_sequence(enum msr_kind kind);

/* An extent, if need be after a short wait for another thread that is growing the file. `owner`: as in struct stream. */
struct msr_extent *stream_extent(const struct store_request *request, struct gpu_backend *owner, enum msr_gpu_loss *cause);

/* Bytes that fit behind `used`. */
static inline uint64_t extent_room(const struct msr_extent *e)
{
	return e ? atomic_load_explicit(&e->length, memory_order_relaxed) - sizeof *e - atomic_load_explicit(&e->used, memory_order_relaxed) : 0;
}
static inline void *extent_next(struct msr_extent *e)
{
	return (uint8_t *)(e + 1) + atomic_load_explicit(&e->used, memory_order_relaxed);
}
/* One writer; release: whoever sees the length sees the record. */
static inline void extent_publish(struct msr_extent *e, size_t n_bytes)
{
	atomic_store_explicit(&e->used, atomic_load_explicit(&e->used, memory_order_relaxed) + n_bytes, memory_order_release);
}

#endif
