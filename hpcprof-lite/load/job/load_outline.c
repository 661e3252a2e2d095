/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_outline.h. Test: tests/unit/prof_parts/test_parts.c. */
#include "hpcprof-lite/load/job/load_outline.h"

#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>
#include <string.h>

#define KIND(k) (UINT64_C(1) << (k))
static const uint64_t omitted = KIND(MSR_FREE) | KIND(MSR_THREAD) | KIND(MSR_NODE) |
				KIND(MSR_CELL) | KIND(MSR_TRACE) | KIND(MSR_MPI_CALL) |
				KIND(MSR_MPI_COLLECTIVE) | KIND(MSR_MPI_OPEN) |
				KIND(MSR_PHASE) | KIND(MSR_MEMORY) |
				KIND(MSR_NVTX_RANGE) | KIND(MSR_NVTX_EVENT) |
				KIND(MSR_GPU_CLOCK) | KIND(MSR_GPU_LAUNCH) | KIND(MSR_GPU_OP) |
				KIND(MSR_GPU_AGGREGATE) | KIND(MSR_GPU_PC) |
				KIND(MSR_GPU_PC_RANGE) | KIND(MSR_GPU_VALUE) |
				KIND(MSR_GPU_TALLY) | KIND(MSR_GPU_GRAPH_NODE) |
				KIND(MSR_GPU_ENERGY),
		      kept = KIND(MSR_INFO) | KIND(MSR_METRIC) | KIND(MSR_MODULE) |
			     KIND(MSR_CHILD) | KIND(MSR_UNMEASURED) | KIND(MSR_SPAWN) |
			     KIND(MSR_PYTHON_CODE) |
			     KIND(MSR_TORCH_MODULE) | KIND(MSR_WAIT_OBJECT) | KIND(MSR_OMP_REGION) |
			     KIND(MSR_PROCESS) | KIND(MSR_MPI_COMM) | KIND(MSR_NVTX_NAME) |
			     KIND(MSR_GPU_DEFINITION) | KIND(MSR_GPU_SHAPE);

bool load_outline_suffices(const struct load_file *f)
{
	return !f->bytes_damaged && !f->truncated && !f->is_live && !f->copied_ns && !f->inside.n &&
	       !f->has_unknown_code && !f->has_forward && f->threads.n <= UINT32_MAX;
}

static bool has_gpu(uint64_t kinds)
{
	for (unsigned k = 0; k < 63; k++)
		if (kinds >> k & 1 && load_gpu_is_kind(k))
			return true;
	return false;
}

bool load_outline_needs_all(const struct load_file *f)
{
	return f->kinds & ~(kept | omitted);
}

static bool put(struct load_outlines *o, const void *bytes, size_t n)
{
	uint8_t *to = vec_extend(&o->bytes, n);
	if (to)
		memcpy(to, bytes, n);
	return to;
}

/* The size of n thread numbers, padded so that the next outline is aligned. */
static size_t n_bytes_of_numbers(uint32_t n)
{
	return ((size_t)n + n % 2) * sizeof(uint32_t);
}

static bool put_threads(struct load_outlines *o, const struct load_file *f)
{
	const size_t at = o->bytes.n;
	if (!vec_extend(&o->bytes, n_bytes_of_numbers((uint32_t)f->threads.n)))
		return false;
	for (size_t i = 0; i < f->threads.n; i++)
		memcpy(o->bytes.at + at + i * sizeof(uint32_t), &f->threads.at[i].number,
		       sizeof(uint32_t));
	return true;
}

/* Appends the file to the outline. Returns its bytes there, or 0 if memory is short. */
static uint64_t put_file(struct load_outlines *o, const struct load_file *f)
{
	const size_t start = o->bytes.n;
	uint64_t pos = MSR_HEADER_BYTES, skipped;
	struct msr_view v;
	if (!put(o, f->map.bytes, sizeof(struct msr_header)))
		return 0;
	while (msr_next_extent(f->map.bytes, f->extents_end, &pos, &v, &skipped) ==
	       MSR_SCAN_EXTENT) {
		if (!(kept & KIND(v.extent->kind)))
			continue;
		const uint64_t n = (sizeof *v.extent + v.n_bytes + MSR_EXTENT_ALIGN - 1) /
				   MSR_EXTENT_ALIGN * MSR_EXTENT_ALIGN;
		struct msr_extent e = *v.extent;
		const size_t at = o->bytes.n;
		e.length = n;
		e.used = v.n_bytes;
		if (!vec_extend(&o->bytes, n))
			return 0;
		memcpy(o->bytes.at + at, &e, sizeof e);
		memcpy(o->bytes.at + at + sizeof e, v.content, v.n_bytes);
	}
	return o->bytes.n - start;
}

bool load_outline_add(struct load_outlines *o, uint64_t path, const struct load_file *f)
{
	const size_t start = o->bytes.n;
	struct load_outline head = {.path = path,
				    .file_bytes = f->map.n_bytes,
				    .kinds = f->kinds,
				    .owner = f->map.owner,
				    .n_threads = (uint32_t)f->threads.n};
	uint64_t n = 0;
	if (put(o, &head, sizeof head) && put_threads(o, f))
		n = put_file(o, f);
	head.n_bytes = o->bytes.n - start;
	if (n)
		memcpy(o->bytes.at + start, &head, sizeof head);
	return n;
}

static bool make_threads(struct load_file *f, const uint8_t *numbers, uint32_t n)
{
	struct load_thread *threads = n ? vec_extend(&f->threads, n) : NULL;
	for (uint32_t i = 0, number; threads && i < n; i++) {
		memcpy(&number, numbers + i * sizeof number, sizeof number);
		load_begin_thread(&threads[i], number);
	}
	return threads || !n;
}

/* Restores the file. The header fills a page in a file, but the rest of that page is not sent. */
static void unpack(uint8_t *file, const uint8_t *packed, size_t n)
{
	const size_t n_header = sizeof(struct msr_header);
	memcpy(file, packed, n_header);
	memset(file + n_header, 0, MSR_HEADER_BYTES - n_header);
	memcpy(file + MSR_HEADER_BYTES, packed + n_header, n - n_header);
}

enum status load_outline_read(const struct load_outline *o, const char *path, struct load_file *f)
{
	const uint8_t *numbers = (const void *)(o + 1);
	const size_t n_numbers = n_bytes_of_numbers(o->n_threads),
		     n_packed = o->n_bytes - sizeof *o - n_numbers,
		     n = n_packed - sizeof(struct msr_header) + MSR_HEADER_BYTES;
	uint8_t *copy = aligned_alloc(MSR_EXTENT_ALIGN, n);
	f->path = strdup(path);
	f->is_outline = true;
	f->map.bytes = copy;
	f->map.is_copy = true;
	if (!copy || !f->path)
		return STATUS_NO_MEMORY;
	unpack(copy, numbers + n_numbers, n_packed);
	((struct msr_header *)(void *)copy)->allocated = n;
	enum status s = load_file_bytes(path, copy, n, f);
	f->map.n_bytes = o->file_bytes;
	f->map.owner = o->owner;
	f->kinds = o->kinds;
	f->mpi.has_calls = f->kinds & KIND(MSR_MPI_CALL);
	f->gpu.is_present = has_gpu(f->kinds);
	f->mpi.is_present |= f->mpi.has_calls || f->kinds & KIND(MSR_MPI_COLLECTIVE);
	if (s == STATUS_OK && !make_threads(f, numbers, o->n_threads))
		s = STATUS_NO_MEMORY;
	return s;
}
