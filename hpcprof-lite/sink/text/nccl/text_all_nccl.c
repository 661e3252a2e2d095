/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of NCCL in the complete form of the text. Test: tests/cli/nccl/nccl_ranks.sh. */
#include "hpcprof-lite/sink/text/text_all.h"
#include "hpcprof-lite/view/view_nccl.h"

#include <inttypes.h>

static void put_devices(const struct model *m, FILE *out)
{
	fputs("# nccl-device rank process device elapsed-ns nccl-ns compute-ns overlap-ns copy-ns "
	      "idle-ns kernels calls waited-ns last\n",
	      out);
	for (uint32_t i = 0; i < m->nccl->n_devices; i++) {
		const struct model_nccl_device *d = &m->nccl->devices[i];
		const uint64_t fields[] = {d->elapsed_ns, d->nccl_ns, d->compute_ns, d->overlap_ns,
					   d->copy_ns,    d->idle_ns, d->n_kernels,  d->n_calls,
					   d->waited_ns,  d->n_last};
		fprintf(out, "nccl-device\t%" PRId32 "\t%" PRIu32 "\t%" PRIu32,
			m->processes[d->process].rank, d->process, d->device);
		for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
			text_all_u64(out, fields[k]);
		putc('\n', out);
	}
}

static void put_comms(const struct model_nccl *x, FILE *out)
{
	fputs("# nccl-comm id calls judged queue...\n", out);
	for (uint32_t i = 0; i < x->n_comms; i++) {
		const struct model_nccl_comm *c = &x->comms[i];
		fprintf(out, "nccl-comm\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64, i, c->n_calls,
			c->n_judged);
		for (uint32_t k = 0; k < c->n_members; k++)
			text_all_id(out, x->members[c->first_member + k]);
		putc('\n', out);
	}
}

static void put_late(const struct model *m, uint32_t site, const struct model_mpi_late *l,
		     FILE *out)
{
	const struct model_context *at = &m->contexts[l->context];
	fprintf(out,
		"nccl-late\t%" PRIu32 "\t%" PRId32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64
		"\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
		site, m->processes[m->profiles[l->profile].process].rank, l->profile, l->context,
		l->n_calls, l->waited_ns, l->behind_ns, l->most_behind_ns);
	text_all_place(m, at->file, at->line, at->link_addr, out);
	putc('\n', out);
}

static void put_sites(const struct model *m, FILE *out)
{
	const struct model_nccl *x = m->nccl;
	fputs("# nccl-site id context operation calls waited-ns place\n"
	      "# nccl-late site rank profile context calls waited-ns behind-ns most-behind-ns "
	      "place\n",
	      out);
	for (uint32_t i = 0; i < x->n_sites; i++) {
		const struct model_mpi_site *s = &x->sites[i];
		const struct model_context *at = &m->contexts[s->context];
		fprintf(out, "nccl-site\t%" PRIu32 "\t%" PRIu32 "\t%s\t%" PRIu64 "\t%" PRIu64, i,
			s->context, view_nccl_operation(s->call), s->n_calls, s->waited_ns);
		text_all_place(m, at->file, at->line, at->link_addr, out);
		putc('\n', out);
		for (uint32_t k = 0; k < s->n_late; k++)
			put_late(m, i, &x->late[s->first_late + k], out);
	}
}

void text_all_nccl(const struct model *m, FILE *out)
{
	if (!m->nccl)
		return;
	put_devices(m, out);
	put_comms(m->nccl, out);
	put_sites(m, out);
	fprintf(out, "# nccl-ledger alone clock-error-ns\nnccl-ledger\t%" PRIu64 "\t%" PRIu64 "\n",
		m->nccl->n_alone, m->nccl->clock_error_ns);
}
