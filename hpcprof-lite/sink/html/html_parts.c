/* SPDX-License-Identifier: BSD-3-Clause */
/* See html_parts.h. Memory: the parts of a batch, which a page bounds. */
#include "hpcprof-lite/sink/html/html_parts.h"

#include "common/base/pool.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 512 };

struct batch {
	const struct html_parts *parts;
	struct html_part part[BATCH];
	uint32_t first; /* profile */
};

static void make_one(void *arg, size_t i, unsigned worker)
{
	struct batch *b = arg;
	struct html_part part = b->part[i]; /* its neighbors belong to other threads */
	b->parts->make(b->parts->arg, b->first + (uint32_t)i, worker, &part);
	b->part[i] = part;
}

static void put_all(struct html *h, struct batch *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		h->failed |= b->part[i].failed;
		if (!h->failed)
			b->parts->put(b->parts->arg, b->first + i, &b->part[i]);
		vec_clear(&b->part[i]);
		b->part[i].n_items = 0;
	}
}

void html_parts_write(struct html *h, const struct html_parts *parts)
{
	const uint32_t end = h->m->n_profiles;
	struct batch *b = calloc(1, sizeof *b);
	if (!b) {
		h->failed = true;
		return;
	}
	b->parts = parts;
	for (uint32_t n; b->first < end && !h->failed; b->first += n) {
		n = end - b->first < BATCH ? end - b->first : BATCH;
		pool_run(n, h->packer.n_workers, make_one, b);
		put_all(h, b, n);
	}
	for (uint32_t i = 0; i < BATCH; i++)
		vec_free(&b->part[i]);
	free(b);
}

void html_part_number(struct html_part *p, uint64_t n)
{
	if (vec_reserve(p, p->n + HTML_NUMBER_BYTES))
		p->n += html_number(p->at + p->n, n);
	else
		p->failed = true;
}

void html_part_bytes(struct html_part *p, const void *bytes, size_t n_bytes)
{
	if (!n_bytes)
		return;
	if (!vec_reserve(p, p->n + n_bytes)) {
		p->failed = true;
		return;
	}
	memcpy(p->at + p->n, bytes, n_bytes);
	p->n += n_bytes;
}
