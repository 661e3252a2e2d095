/* SPDX-License-Identifier: BSD-3-Clause */
/* The member "mpi" of the section "meta": the tables of view_mpi.h. Test:
 * tests/cli/mpi/mpi_late.sh. */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/view/view_mpi.h"
#include "hpcprof-lite/view/view_mpi_open.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_PLACES = 300, MOST_SITES = 200, MOST_LATE = 16, MOST_PAIRS = 20000 };

static void put_sums(struct html *h, const struct view_mpi_sums *s)
{
	html_put_text(&h->section,
		      "\"n\":%" PRIu64 ",\"us\":%.0f,\"waited\":%.0f,\"known\":%d,\"sent\":%" PRIu64
		      ",\"received\":%" PRIu64,
		      s->n_calls, s->seconds * 1e6, s->waited * 1e6, s->wait_is_known, s->sent,
		      s->received);
}

static const char *comma(size_t i)
{
	return i ? "," : "";
}

static void put_processes(struct html *h, const struct view_mpi *v)
{
	html_put_text(&h->section, ",\"processes\":[");
	for (size_t i = 0; i < v->n_processes; i++) {
		html_put_text(&h->section, "%s{\"process\":%" PRIu32 ",\"elapsed\":%.0f,", comma(i),
			      v->processes[i].process, v->processes[i].elapsed * 1e6);
		put_sums(h, &v->processes[i].sums);
		html_put_text(&h->section, "}");
	}
	html_put_text(&h->section, "]");
}

/* Contexts are those of callers, as numbers in the page. */
static void put_places(struct html *h, const struct view_mpi *v)
{
	html_put_text(&h->section, ",\"places\":[");
	for (size_t i = 0; i < v->n_places && i < MOST_PLACES; i++) {
		const struct view_mpi_place *p = &v->places[i];
		html_put_text(&h->section, "%s{\"call\":%" PRIu32 ",\"context\":%" PRIu32 ",",
			      comma(i), html_string(h, mpi_call_name(p->call)),
			      h->tree.kept[p->context]);
		put_sums(h, &p->sums);
		html_put_text(&h->section, "}");
	}
	html_put_text(&h->section, "]");
}

/* The calls that threads were in at their end. */
static void put_open(struct html *h)
{
	struct view_mpi_open *open;
	char name[VIEW_MPI_CALL];
	size_t n;
	if (!view_mpi_open_make(h->m, &open, &n)) {
		h->failed = true;
		return;
	}
	html_put_text(&h->section, ",\"open\":[");
	for (size_t i = 0; i < n && i < MOST_PLACES; i++) {
		const struct model_mpi_call *c = open[i].longest;
		html_put_text(&h->section,
			      "%s{\"us\":%" PRIu64 ",\"n\":%" PRIu32 ",\"process\":%" PRIu32
			      ",\"call\":%" PRIu32 ",\"context\":%" PRIu32 "}",
			      comma(i), c->ns / 1000, open[i].n_threads,
			      h->m->profiles[c->profile].process,
			      html_string(h, view_mpi_open_name(&open[i], name)),
			      h->tree.kept[view_mpi_caller(h->m, c->context)]);
	}
	html_put_text(&h->section, "]");
	free(open);
}

static void put_late(struct html *h, const struct model_mpi_late *l)
{
	html_put_text(&h->section,
		      "{\"profile\":%" PRIu32 ",\"context\":%" PRIu32 ",\"n\":%" PRIu64
		      ",\"waited\":%" PRIu64 ",\"behind\":%" PRIu64 ",\"most\":%" PRIu64 "}",
		      l->profile, h->tree.kept[view_mpi_caller(h->m, l->context)], l->n_calls,
		      l->waited_ns / 1000, l->behind_ns / 1000, l->most_behind_ns / 1000);
}

static void put_sites(struct html *h)
{
	const struct model_mpi *mpi = h->m->mpi;
	html_put_text(&h->section, ",\"sites\":[");
	for (uint32_t i = 0; i < mpi->n_sites && i < MOST_SITES; i++) {
		const struct model_mpi_site *s = &mpi->sites[i];
		html_put_text(&h->section,
			      "%s{\"call\":%" PRIu32 ",\"context\":%" PRIu32 ",\"n\":%" PRIu64
			      ",\"waited\":%" PRIu64 ",\"late\":[",
			      comma(i), html_string(h, mpi_call_name(s->call)),
			      h->tree.kept[view_mpi_caller(h->m, s->context)], s->n_calls,
			      s->waited_ns / 1000);
		for (uint32_t k = 0; k < s->n_late && k < MOST_LATE; k++) {
			html_put_text(&h->section, "%s", comma(k));
			put_late(h, &mpi->late[s->first_late + k]);
		}
		html_put_text(&h->section, "]}");
	}
	html_put_text(&h->section, "]");
}

static void put_sizes(struct html *h, const struct view_mpi *v)
{
	html_put_text(&h->section, ",\"sizes\":[");
	for (size_t i = 0; i < v->n_sizes; i++) {
		html_put_text(&h->section, "%s{\"class\":%u,\"collective\":%d,", comma(i),
			      v->sizes[i].size_class, v->sizes[i].is_collective);
		put_sums(h, &v->sizes[i].sums);
		html_put_text(&h->section, "}");
	}
	html_put_text(&h->section, "]");
}

static void put_pairs(struct html *h, const struct view_mpi *v)
{
	html_put_text(&h->section, ",\"allPairs\":%zu,\"pairs\":[", v->n_pairs);
	for (size_t i = 0; i < v->n_pairs && i < MOST_PAIRS; i++)
		html_put_text(&h->section, "%s[%" PRId32 ",%" PRId32 ",%" PRIu64 ",%" PRIu64 "]",
			      comma(i), v->pairs[i].from, v->pairs[i].to, v->pairs[i].n_calls,
			      v->pairs[i].bytes);
	html_put_text(&h->section, "]");
}

static void put_comms(struct html *h)
{
	const struct model_mpi *mpi = h->m->mpi;
	const char *separator = "";
	html_put_text(&h->section, ",\"comms\":[");
	for (uint32_t i = 0; i < mpi->n_comms; i++) {
		const struct model_mpi_comm *c = &mpi->comms[i];
		if (!c->n_calls)
			continue;
		html_put_text(&h->section,
			      "%s{\"us\":%.0f,\"n\":%" PRIu64 ",\"ranks\":%" PRIu32
			      ",\"measured\":%" PRIu32 ",\"world\":%d,\"matched\":%d}",
			      separator, c->seconds * 1e6, c->n_calls, c->size, c->n_members,
			      c->is_world, c->is_matched);
		separator = ",";
	}
	html_put_text(&h->section, "]");
}

void html_put_mpi(struct html *h)
{
	const struct model_mpi *mpi = h->m->mpi;
	struct view_mpi v;
	if (!view_mpi_make(h->m, &v)) {
		h->failed = true;
		return;
	}
	html_put_text(&h->section,
		      ",\"mpi\":{\"elapsed\":%.0f,\"lost\":%" PRIu64 ",\"summed\":%" PRIu64
		      ",\"clockError\":%" PRId64 ",\"whole\":{",
		      v.elapsed * 1e6, mpi->n_lost, mpi->n_all_peers,
		      mpi->clock_error_ns == UINT64_MAX ? -1 : (int64_t)mpi->clock_error_ns);
	put_sums(h, &v.whole);
	html_put_text(&h->section, "}");
	put_open(h);
	put_processes(h, &v);
	put_places(h, &v);
	put_sites(h);
	put_sizes(h, &v);
	put_pairs(h, &v);
	put_comms(h);
	html_put_text(&h->section, "}");
	view_mpi_free(&v);
}
