/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_records.h. Tests: tests/unit/prof/test_load.c. */
#include "hpcprof-lite/load/load_records.h"

#include "common/base/sorted.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Threads stay sorted by number. */
struct load_thread *load_get_thread(struct load_file *f, uint32_t number)
{
	size_t low = sorted_below(f->threads.at, f->threads.n, number, number);
	if (low < f->threads.n && f->threads.at[low].number == number)
		return &f->threads.at[low];
	struct load_thread *t = vec_push(&f->threads);
	if (!t)
		return NULL;
	memmove(f->threads.at + low + 1, f->threads.at + low, (f->threads.n - 1 - low) * sizeof *t);
	t = &f->threads.at[low];
	memset(t, 0, sizeof *t);
	load_begin_thread(t, number);
	return t;
}

static const struct msr_thread no_record;

void load_begin_thread(struct load_thread *t, uint32_t number)
{
	t->number = number;
	t->record = &no_record;
}

bool load_make_record(struct load_thread *t)
{
	t->copy = calloc(1, sizeof *t->copy);
	if (t->copy)
		t->record = t->copy;
	return t->copy;
}

const struct msr_node *load_node(const struct load_thread *t, uint32_t id)
{
	size_t from = 0, to = t->nodes.n; /* parts are in order and do not overlap */
	while (to - from > 1) {
		const size_t middle = from + (to - from) / 2;
		if (t->nodes.at[middle].first <= id)
			from = middle;
		else
			to = middle;
	}
	const struct load_part *p = to ? &t->nodes.at[from] : NULL;
	if (!p || id < p->first || id - p->first >= p->n_bytes / sizeof(struct msr_node))
		return NULL;
	return (const struct msr_node *)(const void *)p->content + (id - p->first);
}

enum status load_lengthed(struct load_file *f, const struct msr_view *v,
			  enum status (*read)(struct load_file *, const uint8_t *, uint32_t))
{
	uint64_t at = 0;
	while (v->n_bytes - at >= 8) {
		uint32_t bytes;
		memcpy(&bytes, v->content + at, sizeof bytes);
		if (bytes < 8 || bytes % 8 || bytes > v->n_bytes - at)
			break;
		enum status s = read(f, v->content + at, bytes);
		if (s == STATUS_BAD_INPUT)
			f->bytes_damaged += bytes;
		else if (s)
			return s;
		at += bytes;
	}
	f->bytes_damaged += v->n_bytes - at;
	return STATUS_OK;
}

void load_release(struct load_file *f, uint64_t n_bytes)
{
	enum { WINDOW = 4 << 20 };
	/* relaxed: only a hint; no read depends on it */
	if (!f->path || f->is_inside || f->map.is_copy || (f->stays && n_bytes == LOAD_ALL) ||
	    atomic_fetch_add_explicit(&f->n_unreleased, n_bytes, memory_order_relaxed) + n_bytes <
		    WINDOW)
		return;
	atomic_store_explicit(&f->n_unreleased, 0, memory_order_relaxed);
	madvise((void *)(uintptr_t)f->map.bytes, f->map.n_bytes, MADV_DONTNEED);
}
