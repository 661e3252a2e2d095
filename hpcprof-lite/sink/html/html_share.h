/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections `values`, `samples` and `ops`, which the parts of a job make together: each of its
 * own profiles. Sections are cut into pieces (html_pack.h) by bytes, not by parts, so that the page
 * is that of one process: bytes before the first cut of a part go to a part before it. All parts
 * call html_share_make(). Then each packs, and sends the pieces to the first one, which writes
 * them. Memory: the sections, which a page bounds, are in the parts; the first one gets single
 * pieces. Test: tests/cli/parts/parts_ranks.sh.
 */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_SHARE_H
#define HPCPROF_LITE_SINK_HTML_HTML_SHARE_H

#include "hpcprof-lite/sink/html/html.h"

struct comm;

struct html_bytes {
	VEC(uint8_t);
};
/* False: memory is short. */
bool html_bytes_add(struct html_bytes *b, const uint8_t *bytes, size_t n);

/* Of a profile: what html_write_values() writes, and how many values these are. */
struct html_own_profile {
	uint32_t n_bytes, n_items;
};

struct html_own_values {
	struct html_bytes bytes;
	VEC(struct html_own_profile) profiles; /* from the first own one on */
};

/*
 * The part of a section for profiles first .. end - 1 (html_values.c, html_times.c). Values may be
 * more than the page carries, since those of other parts are not known. h->failed: memory is short.
 */
void html_keep_values(struct html *h, uint32_t first, uint32_t end, struct html_own_values *own);
/* own NULL: into the open section. */
void html_keep_samples(struct html *h, uint32_t first, uint32_t end, struct html_bytes *own);
void html_keep_ops(struct html *h, uint32_t first, uint32_t end, struct html_bytes *own);

/*
 * Makes the bytes of this part. In others than the first also h->tree and the strides. The caller
 * owns the result. NULL: some part has no memory.
 */
struct html_share *html_share_make(struct html *h, const struct comm *c);
/* NULL is allowed. */
void html_share_free(struct html_share *s);
/* Packs the own pieces. */
void html_share_pack(struct html_share *s, unsigned n_workers);
/* The first part writes all pieces, while the others call html_share_send(). */
void html_share_collect(const struct html_share *s, struct html_packer *k);
void html_share_send(const struct html_share *s);

#endif
