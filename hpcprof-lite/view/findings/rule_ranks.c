/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that others wait for: the late rank, and what it does more than others; and ranks that wait
 * in turn. Doc: doc/findings.md#ranks. Test: tests/unit/prof/test_findings_jobs.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_mpi(unsigned use)
{
	return use >= MODEL_MPI_P2P && use <= MODEL_MPI_OTHER;
}

/* The time of each rank outside of MPI, as far as its threads worked or waited for something. */
struct outside {
	double most, mean;
	uint32_t latest; /* process */
	unsigned n;
};

static double outside_of(const struct view_process_use *u)
{
	double seconds = 0;
	for (unsigned k = 0; k < VIEW_USE_OFF; k++)
		seconds += is_mpi(k) || k == MODEL_OMP_IDLE ? 0 : u->seconds[k];
	return u->n_threads ? seconds / u->n_threads : 0;
}

static struct outside find_outside(const struct finding_run *r)
{
	struct outside o = {.latest = MODEL_NONE};
	double sum = 0;
	for (uint32_t i = 0; i < r->account.n_processes; i++) {
		const struct view_process_use *u = &r->account.processes[i];
		if (r->m->processes[u->process].rank < 0 || !u->n_threads)
			continue;
		const double seconds = outside_of(u);
		sum += seconds;
		o.n++;
		if (o.latest == MODEL_NONE || seconds > o.most) {
			o.most = seconds;
			o.latest = u->process;
		}
	}
	o.mean = o.n ? sum / o.n : 0;
	return o;
}

/* Weighs contexts outside of MPI by what the rank spends there more than the mean of the others. */
static bool put_excess(const struct finding_run *r, const struct outside *o, struct finding *f)
{
	const struct model *m = r->m;
	double *weights = finding_weights(m);
	if (!weights)
		return false;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		const struct model_profile *t = &m->profiles[p];
		const bool is_latest = t->process == o->latest;
		if (m->processes[t->process].rank < 0)
			continue;
		for (size_t i = 0; i < t->n_values; i++) {
			const struct model_value *v = &t->values[i];
			const unsigned activity = m->contexts[v->context].activity;
			if (m->metrics[v->metric].is_time && !is_mpi(activity))
				weights[v->context] +=
					is_latest ? v->at[MODEL_POINT]
						  : -v->at[MODEL_POINT] / (o->n - 1);
		}
	}
	finding_places(r, f, weights);
	free(weights);
	return true;
}

static double mpi_waited(const struct finding_run *r)
{
	return r->m->mpi ? r->mpi.whole.waited / r->lanes : 0;
}

static bool late(struct finding_run *r, const struct outside *o, double gain, struct findings *to)
{
	struct finding f = finding_begin("late-rank", "a rank that the others wait for",
					 "give it less of the work, or divide its work evenly over "
					 "the ranks");
	f.process = o->latest;
	snprintf(f.subject, sizeof f.subject, "rank %" PRId32, r->m->processes[o->latest].rank);
	finding_fact(&f, "outside of MPI, this rank", MODEL_SECONDS, o->most);
	finding_fact(&f, "mean of the ranks", MODEL_SECONDS, o->mean);
	if (r->m->mpi)
		finding_fact(&f, "waiting in MPI, each rank", MODEL_SECONDS, mpi_waited(r));
	return put_excess(r, o, &f) && finding_add(r, to, &f, gain, gain / 2, gain, gain);
}

/* Where ranks wait, by waiting time. */
static bool put_waits(const struct finding_run *r, struct finding *f)
{
	double *weights = finding_weights(r->m);
	if (!weights)
		return false;
	for (size_t i = 0; i < r->m->mpi->n_calls; i++)
		weights[r->m->mpi->calls[i].context] += (double)r->m->mpi->calls[i].wait_ns / 1e9;
	finding_places(r, f, weights);
	free(weights);
	return true;
}

static bool in_turn(struct finding_run *r, double lost, struct findings *to)
{
	struct finding f = finding_begin("rank-waits", "ranks that wait for each other in turn",
					 "start messages earlier and receive later (MPI_Isend, "
					 "MPI_Irecv), with other work between; fewer collectives");
	if (!finding_is_large(r, lost))
		return true;
	finding_fact(&f, "waiting in MPI, each rank", MODEL_SECONDS, mpi_waited(r));
	finding_fact(&f, "calls", MODEL_COUNT, (double)r->mpi.whole.n_calls);
	return put_waits(r, &f) && finding_add(r, to, &f, lost, 0, lost / 2, lost);
}

bool rule_ranks(struct finding_run *r, struct findings *to)
{
	if (r->account.capacity <= 0 || r->account.n_ranks < 2)
		return true;
	const struct outside o = find_outside(r);
	double gain = o.most - o.mean, in_mpi = 0;
	/* ranks that wait, wait in MPI, and workers of OpenMP are idle meanwhile */
	for (unsigned k = 0; k < VIEW_N_USES; k++)
		in_mpi += is_mpi(k) || k == MODEL_OMP_IDLE ? finding_lost(r, k) : 0;
	if (o.n < 2)
		return true;
	gain = gain < in_mpi ? gain : in_mpi;
	if (finding_is_large(r, gain) && !late(r, &o, gain, to))
		return false;
	return !r->m->mpi || in_turn(r, mpi_waited(r) - (gain > 0 ? gain : 0), to);
}
