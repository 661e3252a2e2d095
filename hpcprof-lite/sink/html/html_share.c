/* SPDX-License-Identifier: BSD-3-Clause */
/* See html_share.h. Test: tests/cli/parts/parts_ranks.sh. */
#include "hpcprof-lite/sink/html/html_share.h"

#include "common/base/pool.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES, SAMPLES, OPS, N_SECTIONS };
static const char *const names[N_SECTIONS] = {"values", "samples", "ops"};

struct section {
	struct html_bytes bytes;
	uint64_t *first; /* by part, and the end: where its bytes are in the section */
	size_t n_given;  /* bytes at the start that are in a piece of a part before */
	VEC(struct html_piece) pieces; /* own; plain is in `bytes` */
};

struct html_share {
	const struct comm *c;
	struct section sections[N_SECTIONS];
	uint8_t *room; /* for a packed piece of another part */
};

bool html_bytes_add(struct html_bytes *b, const uint8_t *bytes, size_t n)
{
	if (!n)
		return true;
	if (!vec_reserve(b, b->n + n))
		return false;
	memcpy(b->at + b->n, bytes, n);
	b->n += n;
	return true;
}

/* ---- own bytes ---- */

/* What the first part has found. False: memory is short. */
static bool copy_tree(struct html *h, const struct comm *c)
{
	double least = h->tree.least;
	comm_broadcast(c, &least, sizeof least);
	if (c->part == 0)
		return true;
	html_find_strides(h);
	return html_tree_copy(h->m, least, &h->tree);
}

/* lines: by section; that of values stays empty. */
static bool make_own(struct html *h, const struct comm *c, struct html_own_values *values,
		     struct html_bytes *lines)
{
	const uint64_t *first = h->m->share->first_profile + c->part;
	if (!copy_tree(h, c))
		return false;
	html_keep_values(h, (uint32_t)first[0], (uint32_t)first[1], values);
	html_keep_samples(h, (uint32_t)first[0], (uint32_t)first[1], &lines[SAMPLES]);
	html_keep_ops(h, (uint32_t)first[0], (uint32_t)first[1], &lines[OPS]);
	/* room for the rest of the last piece, which other parts have */
	return !h->failed && vec_reserve(&values->bytes, values->bytes.n + HTML_PIECE_BYTES) &&
	       vec_reserve(&lines[SAMPLES], lines[SAMPLES].n + HTML_PIECE_BYTES) &&
	       vec_reserve(&lines[OPS], lines[OPS].n + HTML_PIECE_BYTES);
}

/*
 * Leaves out what the page does not carry. `n_before`: values of the parts before. Returns how many
 * profiles with values these are.
 */
static uint64_t settle(const struct html *h, uint32_t first, uint64_t n_before,
		       struct html_own_values *own)
{
	uint64_t n_left_out = 0;
	size_t n = own->profiles.n;
	own->bytes.n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct html_own_profile *p = &own->profiles.at[i];
		if (n_before >= HTML_MAX_VALUES) { /* what follows is not needed any more */
			own->bytes.at[own->bytes.n++] = 0;
			n_left_out += h->m->profiles[first + i].n_values != 0;
		} else {
			own->bytes.n += p->n_bytes;
		}
		n_before += p->n_items;
	}
	return n_left_out;
}

/* Where the bytes of each part are. sums: n_parts + 1 numbers for each section, and one more. */
static void find_places(struct html *h, struct html_share *s, struct html_own_values *values,
			uint64_t *sums)
{
	const struct comm *c = s->c;
	const size_t n_first = (size_t)c->n_parts + 1, part = (size_t)c->part;
	uint64_t n_before = 0;
	sums[part] = h->n_values;
	comm_add(c, sums, n_first);
	for (size_t i = 0; i < part; i++)
		n_before += sums[i];
	memset(sums, 0, n_first * sizeof *sums);
	sums[N_SECTIONS * n_first] =
		settle(h, (uint32_t)h->m->share->first_profile[part], n_before, values);
	s->sections[VALUES].bytes = values->bytes;
	for (size_t i = 0; i < N_SECTIONS; i++)
		sums[i * n_first + part + 1] = s->sections[i].bytes.n;
	comm_add(c, sums, N_SECTIONS * n_first + 1);
	h->threads_left_out = (uint32_t)sums[N_SECTIONS * n_first];
	for (size_t i = 0; i < N_SECTIONS; i++) {
		s->sections[i].first = sums + i * n_first;
		for (size_t k = 1; k < n_first; k++)
			s->sections[i].first[k] += s->sections[i].first[k - 1];
	}
}

/* ---- pieces ---- */

static uint64_t n_all(const struct html_share *s, const struct section *x)
{
	return x->first[s->c->n_parts];
}

/* An empty section has a piece, too. */
static uint64_t n_pieces(const struct html_share *s, const struct section *x)
{
	const uint64_t n = n_all(s, x);
	return n ? (n + HTML_PIECE_BYTES - 1) / HTML_PIECE_BYTES : 1;
}

static size_t n_plain(const struct html_share *s, const struct section *x, uint64_t piece)
{
	const uint64_t n = n_all(s, x) - piece * HTML_PIECE_BYTES;
	return n < HTML_PIECE_BYTES ? n : HTML_PIECE_BYTES;
}

/* The part that has the first byte of a piece. */
static int owner_of(const struct html_share *s, const struct section *x, uint64_t piece)
{
	int part = 0;
	while (n_all(s, x) && x->first[part + 1] <= piece * HTML_PIECE_BYTES)
		part++;
	return part;
}

/* Each part gives the bytes of a piece that begins before its own bytes to the piece's owner. */
static void join_pieces(const struct html_share *s, struct section *x)
{
	for (int from = 1; from < s->c->n_parts; from++) {
		const uint64_t at = x->first[from], n_own = x->first[from + 1] - at,
			       n_used = at % HTML_PIECE_BYTES;
		const int to = owner_of(s, x, at / HTML_PIECE_BYTES);
		size_t n = n_used ? HTML_PIECE_BYTES - n_used : 0;
		n = n < n_own ? n : n_own;
		if (!n)
			continue;
		comm_pass(s->c, from, to, x->bytes.at, x->bytes.at + x->bytes.n, n);
		if (s->c->part == to)
			x->bytes.n += n;
		if (s->c->part == from)
			x->n_given = n;
	}
}

/* False: memory is short. */
static bool list_pieces(const struct html_share *s, struct section *x, const char *name)
{
	size_t at = x->n_given;
	for (uint64_t i = 0; i < n_pieces(s, x); i++) {
		struct html_piece *p =
			owner_of(s, x, i) == s->c->part ? vec_push(&x->pieces) : NULL;
		if (!p && owner_of(s, x, i) == s->c->part)
			return false;
		if (!p)
			continue;
		*p = (struct html_piece){.section = i ? NULL : name,
					 .is_last = i + 1 == n_pieces(s, x),
					 .plain = x->bytes.at + at,
					 .n_plain = n_plain(s, x, i)};
		at += p->n_plain;
	}
	return true;
}

struct html_share *html_share_make(struct html *h, const struct comm *c)
{
	struct html_share *s = calloc(1, sizeof *s);
	struct html_own_values values = {0};
	struct html_bytes lines[N_SECTIONS] = {0};
	uint64_t *sums = calloc(N_SECTIONS * ((size_t)c->n_parts + 1) + 1, sizeof *sums);
	bool ok = make_own(h, c, &values, lines) && s && sums;
	if (ok && c->part == 0)
		ok = (s->room = malloc(html_piece_room(HTML_PIECE_BYTES)));
	ok = !comm_max(c, !ok);
	if (ok) {
		s->c = c;
		s->sections[SAMPLES].bytes = lines[SAMPLES];
		s->sections[OPS].bytes = lines[OPS];
		find_places(h, s, &values, sums);
		for (unsigned i = 0; i < N_SECTIONS; i++) {
			join_pieces(s, &s->sections[i]);
			ok &= list_pieces(s, &s->sections[i], names[i]);
		}
		ok = !comm_max(c, !ok);
	} else {
		vec_free(&values.bytes);
		vec_free(&lines[SAMPLES]);
		vec_free(&lines[OPS]);
		free(sums);
	}
	vec_free(&values.profiles);
	if (ok)
		return s;
	html_share_free(s);
	return NULL;
}

void html_share_free(struct html_share *s)
{
	if (!s)
		return;
	free(s->room);
	free(s->sections[0].first); /* those of all sections */
	for (unsigned i = 0; i < N_SECTIONS; i++) {
		struct section *x = &s->sections[i];
		for (size_t k = 0; k < x->pieces.n; k++)
			free(x->pieces.at[k].packed);
		vec_free(&x->pieces);
		vec_free(&x->bytes);
	}
	free(s);
}

/* ---- packing and writing ---- */

/* Leaves n_packed 0 if memory is short. */
static void pack_one(void *arg, size_t i, unsigned worker)
{
	struct section *x = arg;
	struct html_piece *p = &x->pieces.at[i];
	(void)worker;
	p->packed = malloc(html_piece_room(p->n_plain));
	if (p->packed)
		html_piece_pack(p);
}

void html_share_pack(struct html_share *s, unsigned n_workers)
{
	for (unsigned i = 0; i < N_SECTIONS; i++)
		pool_run(s->sections[i].pieces.n, n_workers, pack_one, &s->sections[i]);
}

/* Of a packed piece, before its bytes. */
struct head {
	uint64_t n, crc;
};

void html_share_send(const struct html_share *s)
{
	for (unsigned i = 0; i < N_SECTIONS; i++)
		for (size_t k = 0; k < s->sections[i].pieces.n; k++) {
			const struct html_piece *p = &s->sections[i].pieces.at[k];
			const struct head head = {.n = p->n_packed, .crc = p->crc};
			comm_pass(s->c, s->c->part, 0, &head, NULL, sizeof head);
			comm_pass(s->c, s->c->part, 0, p->packed, NULL, p->n_packed);
		}
}

static void get_piece(const struct html_share *s, int from, struct html_piece *p)
{
	struct head head;
	comm_pass(s->c, from, 0, NULL, &head, sizeof head);
	comm_pass(s->c, from, 0, NULL, s->room, head.n);
	p->packed = s->room;
	p->n_packed = head.n;
	p->crc = (uint32_t)head.crc;
}

static void collect(const struct html_share *s, const struct section *x, const char *name,
		    struct html_packer *k)
{
	size_t own = 0;
	for (uint64_t i = 0; i < n_pieces(s, x); i++) {
		const int owner = owner_of(s, x, i);
		struct html_piece p = {.section = i ? NULL : name,
				       .is_last = i + 1 == n_pieces(s, x),
				       .n_plain = n_plain(s, x, i)};
		if (owner == 0)
			p = x->pieces.at[own++];
		else
			get_piece(s, owner, &p);
		html_pack_insert(k, &p);
	}
}

void html_share_collect(const struct html_share *s, struct html_packer *k)
{
	for (unsigned i = 0; i < N_SECTIONS; i++)
		collect(s, &s->sections[i], names[i], k);
}
