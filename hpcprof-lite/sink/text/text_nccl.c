/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section about NCCL: times by rank and GPU, and which rank comes last to collective
 * operations. Test: tests/cli/nccl/nccl_ranks.sh.
 */
#include "common/base/foreign.h"
#include "hpcprof-lite/sink/text/text_lines.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/view_nccl.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_ROWS = 16, MOST_LATE = 4, MANY_RANKS = 24, NAME = 64 };

static const char *time_of(char cell[TEXT_CELL], uint64_t ns)
{
	return ns ? text_ns(cell, ns) : "";
}

/* ---- times ---- */

static void put_device(const struct model *m, const struct model_nccl_device *d,
		       const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], e[TEXT_CELL], f[TEXT_CELL], g[TEXT_CELL],
		h[TEXT_CELL], name[NAME];
	view_nccl_name(m, d->process, d->device, name, sizeof name);
	fprintf(s->out, "%9s %6s %9s %9s %9s %9s %9s  ", time_of(a, d->nccl_ns),
		text_share(b, (double)d->nccl_ns, (double)d->elapsed_ns),
		time_of(c, d->nccl_ns - d->overlap_ns), time_of(e, d->compute_ns),
		time_of(f, d->idle_ns), time_of(g, d->waited_ns),
		d->n_last ? text_count(h, d->n_last) : "");
	foreign_printf(s->out, "%s\n", name);
}

static void put_devices(const struct model *m, const struct text_style *s)
{
	const struct model_nccl *x = m->nccl;
	const bool all = x->n_devices <= MANY_RANKS || s->threshold == 0;
	const uint32_t slowest = view_nccl_slowest(x), n_last = 4, n_first = MANY_RANKS - n_last;
	const bool is_between = slowest != MODEL_NONE && slowest >= n_first &&
				slowest < x->n_devices - n_last;
	fprintf(s->out, "%9s %6s %9s %9s %9s %9s %9s  %s\n", "NCCL", "share", "exposed", "compute",
		"idle", "waited", "was last", "");
	for (uint32_t i = 0; i < x->n_devices; i++) {
		if (!all && i == n_first) {
			if (is_between)
				put_device(m, &x->devices[slowest], s);
			fprintf(s->out, "%9s  ... %" PRIu32 " more ...\n", "",
				x->n_devices - MANY_RANKS - is_between);
			i = x->n_devices - n_last;
		}
		put_device(m, &x->devices[i], s);
	}
}

static void put_head(const struct model *m, const struct text_style *s)
{
	const struct model_nccl *x = m->nccl;
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	uint64_t n = 0, nccl_ns = 0, overlap_ns = 0, elapsed_ns = 0;
	for (uint32_t i = 0; i < x->n_devices; i++) {
		n += x->devices[i].n_kernels;
		nccl_ns += x->devices[i].nccl_ns;
		overlap_ns += x->devices[i].overlap_ns;
		elapsed_ns += x->devices[i].elapsed_ns;
	}
	text_heading(s,
		     "NCCL: %s in %s kernels, %s of the time of the GPUs, %s of it hidden by other "
		     "kernels",
		     text_ns(a, nccl_ns), text_count(b, n),
		     text_share(c, (double)nccl_ns, (double)elapsed_ns),
		     overlap_ns ? text_share(d, (double)overlap_ns, (double)nccl_ns) : "nothing");
}

/* ---- who came last ---- */

/* "train.py:12 in step", or the name of the function if there is no line. */
static void name_place(const struct model *m, uint32_t context, char *to, size_t n_bytes)
{
	const struct model_context *c = &m->contexts[context];
	to[0] = 0;
	if (c->kind != MODEL_CONTEXT_FUNCTION)
		text_place(to, n_bytes, m, c);
	if (!*to)
		text_name(to, n_bytes, m, c);
	else if (c->function < m->n_functions)
		snprintf(to + strlen(to), n_bytes - strlen(to), " in %s",
			 m->functions[c->function].name);
}

static void put_place(const struct model *m, uint32_t context, const struct text_style *s,
		      size_t used)
{
	char place[TEXT_NAME];
	const size_t room = s->width > used + 16 ? s->width - used : 16;
	name_place(m, context, place, sizeof place);
	text_shorten(place, room);
	text_cell(s->out, place, text_columns(place) < room ? 0 : room);
	putc('\n', s->out);
}

static void put_late(const struct model *m, const struct model_mpi_site *site,
		     const struct model_mpi_late *l, const struct text_style *s)
{
	const struct model_profile *p = &m->profiles[l->profile];
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], name[NAME];
	view_nccl_name(m, p->process, m->gpu_queues[p->queue].device, name, sizeof name);
	const int used = fprintf(s->out, "%10s    last in %s of them, %s behind, %s at most: ",
				 time_of(a, l->waited_ns),
				 text_share(b, (double)l->n_calls, (double)site->n_calls),
				 text_seconds(c, (double)l->behind_ns / 1e9 / (double)l->n_calls),
				 text_ns(d, l->most_behind_ns));
	foreign_put(s->out, name);
	if (l->context == site->context) {
		putc('\n', s->out);
		return;
	}
	fputs(", at ", s->out);
	put_place(m, l->context, s, (size_t)used + text_columns(name) + 5);
}

static void put_site(const struct model *m, const struct model_mpi_site *site,
		     const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	int used = fprintf(s->out, "%10s  in %s %s at ", time_of(a, site->waited_ns),
			   text_count(b, site->n_calls), view_nccl_operation(site->call));
	put_place(m, site->context, s, (size_t)used);
	for (uint32_t k = 0; k < site->n_late && k < MOST_LATE; k++)
		put_late(m, site, &m->nccl->late[site->first_late + k], s);
	if (site->n_late > MOST_LATE)
		fprintf(s->out, "%10s    and %" PRIu32 " more\n", "", site->n_late - MOST_LATE);
}

static void put_sites(const struct model *m, const struct text_style *s)
{
	const struct model_nccl *x = m->nccl;
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], name[NAME];
	uint32_t slowest = view_nccl_slowest(x), n_hidden = 0;
	uint64_t waited_ns = 0, n_judged = 0;
	for (uint32_t i = 0; i < x->n_sites; i++)
		waited_ns += x->sites[i].waited_ns;
	for (uint32_t i = 0; i < x->n_comms; i++)
		n_judged += x->comms[i].n_judged;
	if (slowest == MODEL_NONE)
		return;
	const struct model_nccl_device *d = &x->devices[slowest];
	view_nccl_name(m, d->process, d->device, name, sizeof name);
	fprintf(s->out,
		"\n  In %s operations kernels waited %s for the last rank, most often for %s: in "
		"%s\n",
		text_count(a, n_judged), time_of(b, waited_ns), name, text_count(c, d->n_last));
	for (uint32_t i = 0; i < x->n_sites && x->sites[i].waited_ns; i++) {
		const bool is_small =
			(double)x->sites[i].waited_ns < s->threshold * (double)waited_ns;
		if (i < MOST_ROWS && !is_small)
			put_site(m, &x->sites[i], s);
		else
			n_hidden++;
	}
	if (n_hidden)
		fprintf(s->out, "%10s  %" PRIu32 " more\n", "", n_hidden);
}

static void put_notes(const struct model *m, const struct text_style *s)
{
	const struct model_nccl *x = m->nccl;
	char a[TEXT_CELL];
	if (x->n_alone)
		fprintf(s->out,
			"  %s kernels have no counterpart that is known on another GPU: "
			"doc/nccl.md\n",
			text_count(a, x->n_alone));
	if (x->clock_error_ns)
		fprintf(s->out, "  the clocks of the hosts are known to +-%s\n",
			text_ns(a, x->clock_error_ns));
}

bool text_report_nccl(const struct model *m, const struct text_style *s)
{
	struct text_lines lines;
	if (!text_lines_begin(&lines, s))
		return false;
	put_head(m, &lines.style);
	put_devices(m, &lines.style);
	put_sites(m, &lines.style);
	put_notes(m, &lines.style);
	putc('\n', lines.style.out);
	return text_lines_end(&lines);
}
