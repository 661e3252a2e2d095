/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits communication into serialisation and transfer. Test:
 * tests/unit/prof_parallel/test_view_transfer.c.
 *
 * The transfer time of a process is known between two bounds. Collective calls whose arrivals are
 * known transfer while they do not wait. Other calls of a known size transfer for as long as the
 * shortest of them took, if a slow network explains that. Otherwise the other side may always have
 * been late, and they may have transferred nothing. Calls that complete requests transfer for at
 * most the time that a slow network takes for the messages that were started. If the bounds lead to
 * efficiencies that differ by more than TOLERANCE, the result is unknown.
 */
#include "hpcprof-lite/view/parallel/view_pop_internal.h"

#include <stdlib.h>

static const double TOLERANCE = 0.02;

struct transfer {
	double least, most; /* seconds, without completing calls */
	double completing;  /* time of calls that complete requests */
	double started;     /* upper bound for the messages that were started */
	bool is_unbounded;  /* messages of unknown size were started */
};

static double of_slow_network(const struct model_mpi_call *c)
{
	return model_mpi_slow_ns(c->n_calls, c->sent + c->received) / 1e9;
}

static void add_blocking(const struct model_mpi_call *c, struct transfer *t)
{
	const double least = (double)c->least_ns * (double)c->n_calls / 1e9, ns = (double)c->ns,
		     seconds = least < ns / 1e9 ? least : ns / 1e9;
	t->most += seconds;
	t->least += least <= of_slow_network(c) ? seconds : 0;
}

static void add_call(const struct model_mpi_call *c, struct transfer *t)
{
	const struct mpi_call_form *f = &mpi_call_forms[c->call];
	const double seconds = (double)c->ns / 1e9;
	const bool has_size = f->send || f->receive;
	if (f->group == MPI_GROUP_IO || c->call <= MPI_CALL_Session_finalize)
		return;
	if (c->wait_is_known || (f->is_nonblocking && !f->found)) {
		t->least += seconds - (double)c->wait_ns / 1e9;
		t->most += seconds - (double)c->wait_ns / 1e9;
		t->started += has_size ? of_slow_network(c) : 0;
		t->is_unbounded |= f->group == MPI_GROUP_P2P && f->is_nonblocking && !has_size;
	} else if (f->group == MPI_GROUP_P2P && has_size) {
		add_blocking(c, t);
	} else if (f->group == MPI_GROUP_P2P) {
		t->completing += seconds;
	} else {
		t->most += seconds;
	}
}

static double most_of(const struct transfer *t)
{
	return t->most +
	       (t->is_unbounded || t->completing < t->started ? t->completing : t->started);
}

static struct transfer *sum_calls(const struct pop *p, uint32_t context)
{
	const struct model *m = p->m;
	const uint32_t end = context + m->contexts[context].subtree_n;
	struct transfer *all = calloc((size_t)m->n_processes + 1, sizeof *all);
	for (size_t i = 0; all && i < m->mpi->n_calls; i++) {
		const struct model_mpi_call *c = &m->mpi->calls[i];
		const uint32_t process = m->profiles[c->profile].process;
		if (p->main_thread[process] == c->profile && c->context >= context &&
		    c->context < end && p->whole[process] != MODEL_NONE)
			add_call(c, &all[p->whole[process]]);
	}
	return all;
}

bool pop_split_communication(const struct pop *p, const struct pop_times *t, struct view_pop *out)
{
	const struct model *m = p->m;
	double ideal_least = 0, ideal_most = 0;
	bool any = false;
	if (!m->mpi || m->mpi->n_lost || out->phase != MODEL_NONE || out->n_processes < 2)
		return true;
	struct transfer *all = sum_calls(p, out->context);
	if (!all)
		return false;
	for (uint32_t i = 0; i < m->n_processes; i++) {
		if (!pop_is_whole(p, i))
			continue;
		const double least = t->elapsed[i] - most_of(&all[i]),
			     most = t->elapsed[i] - all[i].least;
		any |= most_of(&all[i]) > 0;
		ideal_least = least > ideal_least ? least : ideal_least;
		ideal_most = most > ideal_most ? most : ideal_most;
	}
	free(all);
	const double useful = out->communication * out->elapsed;
	ideal_least = ideal_least > useful ? ideal_least : useful;
	ideal_most = ideal_most > useful ? ideal_most : useful;
	out->has_transfer = any && ideal_most - ideal_least <= TOLERANCE * out->elapsed;
	if (out->has_transfer) {
		out->transfer = (ideal_least + ideal_most) / 2 / out->elapsed;
		out->serialisation = out->communication / out->transfer;
	}
	return true;
}
