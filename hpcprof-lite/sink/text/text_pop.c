/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of parallel efficiencies. Test: tests/cli/openmp/omp_report.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/parallel/view_pop.h"

#include <inttypes.h>

/* Columns that any of the phases has. */
struct columns {
	bool transfer, hybrid, gpu;
	bool ranks; /* else nothing is transferred, and what waits is called serialisation */
};

static bool has_ranks(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_processes; i++)
		if (m->processes[i].rank >= 0)
			return true;
	return false;
}

static void put_head(const struct view_pops *p, const struct columns *c, const struct text_style *s)
{
	fprintf(s->out, "  parallel = load balance x %s%s\n",
		c->ranks ? "communication" : "serialisation", c->hybrid ? " = MPI x OpenMP" : "");
	if (c->transfer)
		fputs("  communication = serialisation x transfer\n", s->out);
	if (p->at[0].has_setup)
		fputs("  left out: time in MPI_Init and MPI_Finalize\n", s->out);
	fprintf(s->out, "%10s %8s %8s %8s", "elapsed", "parallel", "balance",
		c->ranks ? "commun." : "serial.");
	fputs(c->transfer ? " serial. transf." : "", s->out);
	fputs(c->hybrid ? c->transfer ? "    MPI OpenMP" : "     MPI  OpenMP" : "", s->out);
	fputs(c->gpu ? "  offload" : "", s->out);
	putc('\n', s->out);
}

static void put_share(const struct text_style *s, int width, bool is_known, double share)
{
	char cell[TEXT_CELL];
	fprintf(s->out, " %*s", width, is_known ? text_share(cell, share, 1) : "");
}

static void put_phase(const struct model *m, const struct view_pop *x, const struct columns *c,
		      const struct text_style *s)
{
	char cell[TEXT_CELL], place[256] = "", name[TEXT_NAME];
	const int width = c->transfer ? 6 : 7;
	size_t taken = 39;
	fprintf(s->out, "%10s", text_seconds(cell, x->elapsed));
	put_share(s, 8, true, x->parallel);
	put_share(s, 8, true, x->load_balance);
	put_share(s, 8, true, x->communication);
	if (c->transfer) {
		put_share(s, 7, x->has_transfer, x->serialisation);
		put_share(s, 7, x->has_transfer, x->transfer);
		taken += 16;
	}
	if (c->hybrid) {
		put_share(s, width, true, x->mpi);
		put_share(s, width, true, x->omp);
		taken += 2 * (size_t)width + 2;
	}
	if (c->gpu) {
		put_share(s, 8, true, x->offload);
		taken += 9;
	}
	if (x->context)
		text_place(place, sizeof place, m, &m->contexts[x->context]);
	view_pop_name(m, x, place, name, sizeof name);
	text_shorten(name, s->width > taken + 20 ? s->width - taken : 20);
	fputs("  ", s->out);
	text_cell(s->out, name, 0);
	putc('\n', s->out);
}

static void put_more(const struct model *m, const struct view_pops *p, const struct text_style *s)
{
	char a[TEXT_CELL];
	if (p->n_more)
		fprintf(s->out, "  %s more %s%s not shown\n", text_count(a, p->n_more),
			m->n_phases ? "phase" : "loop", p->n_more == 1 ? " is" : "s are");
	if (p->lacks_lines)
		fputs("  phases need time lines: measure without --no-trace\n", s->out);
	if (p->n_lost)
		fprintf(s->out, "  %s %s not recorded: the times of phases are too small\n",
			text_count(a, p->n_lost), p->n_lost == 1 ? "phase was" : "phases were");
}

static void put_devices(const struct view_pop_devices *d, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], e[TEXT_CELL], f[TEXT_CELL];
	if (!d->n)
		return;
	fprintf(s->out, "  %s %s: %s in kernels = balance %s x communic. %s x orchestr. %s\n",
		text_count(a, d->n), d->n == 1 ? "GPU" : "GPUs", text_share(b, d->parallel, 1),
		text_share(c, d->load_balance, 1), text_share(e, d->communication, 1),
		text_share(f, d->orchestration, 1));
}

bool text_report_pop(const struct model *m, const struct text_style *s)
{
	struct view_pops p;
	char a[TEXT_CELL], b[TEXT_CELL];
	if (!view_pop_make(m, &p))
		return false;
	if (!p.n)
		return true;
	struct columns c = {
		.hybrid = p.at[0].is_hybrid, .gpu = p.at[0].has_gpu, .ranks = has_ranks(m)};
	for (size_t i = 0; i < p.n; i++)
		c.transfer |= p.at[i].has_transfer;
	text_heading(s, "Parallel efficiency (POP) of %s %s with %s %s",
		     text_count(a, p.at[0].n_processes),
		     p.at[0].n_processes == 1 ? "process" : "processes",
		     text_count(b, p.at[0].n_threads),
		     p.at[0].n_threads == 1 ? "thread" : "threads");
	put_head(&p, &c, s);
	for (size_t i = 0; i < p.n; i++)
		put_phase(m, &p.at[i], &c, s);
	put_more(m, &p, s);
	put_devices(&p.devices, s);
	putc('\n', s->out);
	return true;
}
