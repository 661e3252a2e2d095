/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of MPI that threads were in when the job was killed: it may have hung. Doc:
 * doc/findings.md#open-calls. Test: tests/cli/mpi/mpi_hang.sh.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include "hpcprof-lite/view/view_mpi_open.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void name_call(const struct model *m, const struct view_mpi_open *o, struct finding *f)
{
	char call[VIEW_MPI_CALL], end[128];
	const struct model_process *p = &m->processes[m->profiles[o->longest->profile].process];
	f->process = (uint32_t)(p - m->processes);
	view_mpi_open_name(o, call);
	if (p->is_live)
		snprintf(f->subject, sizeof f->subject, "rank %" PRId32 " is in %s",
			 p->rank, call);
	else
		snprintf(f->subject, sizeof f->subject,
			 "rank %" PRId32 " was in %s; it ended with %s", p->rank, call,
			 ends_text(p->exit_kind, p->exit_code, end, sizeof end));
}

bool rule_open_calls(struct finding_run *r, struct findings *to)
{
	struct view_mpi_open *open;
	size_t n;
	if (!r->m->mpi)
		return true;
	if (!view_mpi_open_make(r->m, &open, &n))
		return false;
	bool ok = true;
	for (size_t i = 0; ok && i < n && i < 2; i++) {
		const struct model_mpi_call *c = open[i].longest;
		const double seconds = (double)c->ns / 1e9;
		struct finding f =
			finding_begin(FINDING_OPEN_CALL, "a call of MPI that did not end",
				      "look at what the other side does: it may have ended, wait "
				      "too, or not have come yet");
		if (!finding_is_large(r, seconds))
			break;
		name_call(r->m, &open[i], &f);
		finding_fact(&f, "in the call", MODEL_SECONDS, seconds);
		finding_fact(&f, "threads in it", MODEL_COUNT, open[i].n_threads);
		f.places[f.n_places++] = (struct view_place){finding_site(r, c->context), 1};
		ok = finding_add(r, to, &f, seconds, 0, seconds, seconds);
	}
	free(open);
	return ok;
}
