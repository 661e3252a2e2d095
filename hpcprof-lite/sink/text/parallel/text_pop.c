/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of parallel efficiencies. Test: tests/cli/openmp/omp_report.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/parallel/view_pop.h"

#include <inttypes.h>

static void put_phase(const struct model *m, const struct view_pop *x, bool hybrid, bool gpu,
		      const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], place[256];
	fprintf(s->out, "%10s %8s %8s %8s", text_value(a, "sec", x->elapsed),
		text_share(b, x->parallel, 1), text_share(c, x->load_balance, 1),
		text_share(d, x->communication, 1));
	if (hybrid)
		fprintf(s->out, " %7s %7s", text_share(a, x->mpi, 1), text_share(b, x->omp, 1));
	if (gpu)
		fprintf(s->out, " %8s", text_share(a, x->offload, 1));
	fputs("  ", s->out);
	if (x->context == 0) {
		fputs("everything", s->out);
		if (x->has_setup)
			fputs(" (without MPI_Init and MPI_Finalize)", s->out);
	} else {
		text_place(place, sizeof place, m, &m->contexts[x->context]);
		fputs("loop at ", s->out);
		text_cell(s->out, place, 0);
	}
	putc('\n', s->out);
}

static void put_devices(const struct view_pop_devices *d, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], e[TEXT_CELL], f[TEXT_CELL];
	if (!d->n)
		return;
	fprintf(s->out,
		"  %s %s: %s in kernels = balance %s x communic. %s x orchestr. %s\n",
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
	bool hybrid = p.at[0].is_hybrid, gpu = p.at[0].has_gpu;
	text_heading(s, "Parallel efficiency (POP) of %s %s with %s %s",
		     text_count(a, p.at[0].n_processes),
		     p.at[0].n_processes == 1 ? "process" : "processes",
		     text_count(b, p.at[0].n_threads),
		     p.at[0].n_threads == 1 ? "thread" : "threads");
	fprintf(s->out, "  parallel = load balance x communication%s\n",
		hybrid ? " = MPI x OpenMP" : "");
	fprintf(s->out, "%10s %8s %8s %8s", "elapsed", "parallel", "balance", "commun.");
	fputs(hybrid ? "     MPI  OpenMP" : "", s->out);
	fputs(gpu ? "  offload" : "", s->out);
	putc('\n', s->out);
	for (size_t i = 0; i < p.n; i++)
		put_phase(m, &p.at[i], hybrid, gpu, s);
	put_devices(&p.devices, s);
	putc('\n', s->out);
	return true;
}
