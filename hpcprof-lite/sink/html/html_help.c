/* SPDX-License-Identifier: BSD-3-Clause */
/* See html_help.h. Pieces go round the parts. Memory of a helper: its pieces of a batch, and what
 * html_share.c says. */
#include "hpcprof-lite/sink/html/html_help.h"

#include "common/base/pool.h"
#include "hpcprof-lite/parts/comm.h"
#include "hpcprof-lite/sink/html/html_share.h"
#include "hpcprof-lite/sink/sink_help.h"

#include <stdlib.h>

/* Of a piece, before its plain bytes and before its packed ones. */
struct head {
	uint64_t n, is_last, crc;
};

static int owner_of(const struct comm *c, size_t piece)
{
	return (int)(piece % (size_t)c->n_parts);
}

static void pack_one(void *arg, size_t i, unsigned worker)
{
	struct html_piece *const *pieces = arg;
	(void)worker;
	html_piece_pack(pieces[i]);
}

/* ---- the first part ---- */

static void send_plain(const struct comm *c, int to, const struct html_piece *p)
{
	const struct head head = {.n = p->n_plain, .is_last = p->is_last};
	comm_pass(c, 0, to, &head, NULL, sizeof head);
	comm_pass(c, 0, to, p->plain, NULL, p->n_plain);
}

static void get_packed(const struct comm *c, int from, struct html_piece *p)
{
	struct head head;
	comm_pass(c, from, 0, NULL, &head, sizeof head);
	comm_pass(c, from, 0, NULL, p->packed, head.n);
	p->n_packed = head.n;
	p->crc = (uint32_t)head.crc;
}

void html_help_pack(const struct comm *c, struct html_piece *pieces, size_t n, unsigned n_workers)
{
	struct html_piece *own[HTML_MOST_WAITING];
	uint64_t n_all = n;
	size_t n_own = 0;
	comm_broadcast(c, &n_all, sizeof n_all);
	for (size_t i = 0; i < n; i++)
		if (owner_of(c, i) == 0)
			own[n_own++] = &pieces[i];
		else
			send_plain(c, owner_of(c, i), &pieces[i]);
	pool_run(n_own, n_workers, pack_one, own);
	for (size_t i = 0; i < n; i++)
		if (owner_of(c, i) != 0)
			get_packed(c, owner_of(c, i), &pieces[i]);
}

static bool begin(const struct comm *c)
{
	return !comm_max(c, !c->any_thread);
}

/* What the first part wants of the others; all other numbers are pieces to pack. */
enum { END, SHARE = HTML_MOST_WAITING + 1, COLLECT };

static void end(const struct comm *c)
{
	uint64_t none = END;
	comm_broadcast(c, &none, sizeof none);
}

struct html_share *html_help_share(const struct comm *c, struct html *h)
{
	uint64_t what = SHARE;
	comm_broadcast(c, &what, sizeof what);
	return html_share_make(h, c);
}

void html_help_collect(const struct comm *c, struct html *h)
{
	uint64_t what = COLLECT;
	comm_broadcast(c, &what, sizeof what);
	html_share_pack(h->share, h->packer.n_workers);
	html_share_collect(h->share, &h->packer);
}

/* ---- the others ---- */

/* Room for the pieces of a batch. */
struct helper {
	const struct comm *c;
	struct html_piece pieces[HTML_MOST_WAITING];
	struct html_piece *own[HTML_MOST_WAITING]; /* by number in the batch */
	size_t n_own;
	struct html page; /* what the sections of this part need */
};

static bool make_room(struct helper *h)
{
	bool ok = true;
	for (size_t i = 0; ok && i < HTML_MOST_WAITING; i++) {
		struct html_piece *p = &h->pieces[i];
		if (owner_of(h->c, i) != h->c->part)
			continue;
		p->plain = malloc(HTML_PIECE_BYTES);
		p->packed = malloc(html_piece_room(HTML_PIECE_BYTES));
		ok = p->plain && p->packed;
	}
	return ok;
}

static void get_plain(struct helper *h, struct html_piece *p)
{
	struct head head;
	comm_pass(h->c, 0, h->c->part, NULL, &head, sizeof head);
	comm_pass(h->c, 0, h->c->part, NULL, p->plain, head.n);
	p->n_plain = head.n;
	p->is_last = head.is_last;
	h->own[h->n_own++] = p;
}

static void send_packed(const struct helper *h, const struct html_piece *p)
{
	const struct head head = {.n = p->n_packed, .crc = p->crc};
	comm_pass(h->c, h->c->part, 0, &head, NULL, sizeof head);
	comm_pass(h->c, h->c->part, 0, p->packed, NULL, p->n_packed);
}

static void pack(struct helper *h, uint64_t n, unsigned n_workers)
{
	h->n_own = 0;
	for (size_t i = 0; i < n; i++)
		if (owner_of(h->c, i) == h->c->part)
			get_plain(h, &h->pieces[i]);
	pool_run(h->n_own, n_workers, pack_one, h->own);
	for (size_t i = 0; i < h->n_own; i++)
		send_packed(h, h->own[i]);
}

static void work(struct helper *h, const struct model *m, const struct sink_options *o)
{
	struct html *page = &h->page;
	*page = (struct html){.m = m, .o = o};
	page->packer.n_workers = o->n_workers ? o->n_workers : pool_n_cpus();
	for (uint64_t what; comm_broadcast(h->c, &what, sizeof what), what != END;)
		if (what == SHARE) {
			page->share = html_share_make(page, h->c);
			if (page->share)
				html_share_pack(page->share, page->packer.n_workers);
		} else if (what == COLLECT) {
			html_share_send(page->share);
		} else {
			pack(h, what, page->packer.n_workers);
		}
	html_share_free(page->share);
	html_tree_free(&page->tree);
}

static void serve(const struct model *m, const struct sink_options *o)
{
	const struct comm *c = o->help->comm;
	struct helper *h = calloc(1, sizeof *h);
	if (h)
		h->c = c;
	const bool ok = h && make_room(h);
	if (!comm_max(c, !ok))
		work(h, m, o);
	for (size_t i = 0; h && i < HTML_MOST_WAITING; i++) {
		free(h->pieces[i].plain);
		free(h->pieces[i].packed);
	}
	free(h);
}

const struct sink_help_ops html_help = {.begin = begin, .end = end, .serve = serve};
