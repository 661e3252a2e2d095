/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of MPI in the complete form of the text; see text_all.h. Test:
 * tests/cli/mpi/mpi_truth.sh, tests/cli/mpi/mpi_late.sh.
 */
#include "hpcprof-lite/sink/text/text_all.h"
#include "hpcprof-lite/view/view_mpi.h"

#include <inttypes.h>

static void put_comms(const struct model_mpi *mpi, FILE *out)
{
	fputs("# mpi-comm id ranks measured world matched calls\n", out);
	for (uint32_t i = 0; i < mpi->n_comms; i++) {
		const struct model_mpi_comm *c = &mpi->comms[i];
		fprintf(out, "mpi-comm\t%u\t%u\t%u\t%d\t%d\t%" PRIu64 "\n", i, c->size,
			c->n_members, c->is_world, c->is_matched, c->n_calls);
	}
}

static void put_calls(const struct model *m, FILE *out)
{
	fputs("# mpi-call rank profile context function comm peer world-peer size-class calls sent "
	      "received ns waited-ns wait-is-known place\n",
	      out);
	for (size_t i = 0; i < m->mpi->n_calls; i++) {
		const struct model_mpi_call *c = &m->mpi->calls[i];
		const uint32_t caller = view_mpi_caller(m, c->context);
		fprintf(out, "mpi-call\t%d\t%u\t%u\t%s",
			m->processes[m->profiles[c->profile].process].rank, c->profile, c->context,
			mpi_call_name(c->call));
		text_all_id(out, c->comm);
		fprintf(out,
			"\t%d\t%d\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
			"\t%d",
			c->peer, c->peer_world, c->size_class, c->n_calls, c->sent, c->received,
			c->ns, c->wait_ns, c->wait_is_known);
		text_all_place(m, m->contexts[caller].file, m->contexts[caller].line,
			       m->contexts[caller].link_addr, out);
		putc('\n', out);
	}
}

static void put_sites(const struct model *m, FILE *out)
{
	fputs("# mpi-site id context function calls waited-ns\n", out);
	fputs("# mpi-late site rank profile context calls waited-ns behind-ns most-behind-ns\n",
	      out);
	for (uint32_t i = 0; i < m->mpi->n_sites; i++) {
		const struct model_mpi_site *s = &m->mpi->sites[i];
		fprintf(out, "mpi-site\t%u\t%u\t%s\t%" PRIu64 "\t%" PRIu64 "\n", i, s->context,
			mpi_call_name(s->call), s->n_calls, s->waited_ns);
		for (uint32_t k = 0; k < s->n_late; k++) {
			const struct model_mpi_late *l = &m->mpi->late[s->first_late + k];
			fprintf(out,
				"mpi-late\t%u\t%d\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
				"\t%" PRIu64 "\n",
				i, m->processes[m->profiles[l->profile].process].rank, l->profile,
				l->context, l->n_calls, l->waited_ns, l->behind_ns,
				l->most_behind_ns);
		}
	}
}

void text_all_mpi(const struct model *m, FILE *out)
{
	const struct model_mpi *mpi = m->mpi;
	if (!mpi)
		return;
	put_comms(mpi, out);
	put_calls(m, out);
	put_sites(m, out);
	fputs("# mpi-ledger matched unmatched lost without-peers hosts clock-error-ns\n", out);
	fprintf(out,
		"mpi-ledger\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRIu64 "\n",
		mpi->n_matched, mpi->n_unmatched, mpi->n_lost, mpi->n_all_peers, mpi->n_hosts,
		mpi->clock_error_ns);
}
