/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of MPI: many small ones, and large ones. Without -e MPI only the time in MPI is known.
 * Doc: doc/findings.md#messages. Test: tests/unit/prof/test_findings_jobs.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <stdlib.h>

/* Size classes: n has sizes in [2^(n-1), 2^n). */
enum { SMALL = 11, LARGE = 17 }; /* below 2 KiB; from 64 KiB on */
/* A call on a node takes about this long, without waiting. */
static const double CALL_SECONDS = 0.3e-6;

/* Calls by size, without their waiting time. */
struct calls {
	double n, bytes, seconds;
};

static bool is_in(const struct view_mpi_size *s, bool is_large)
{
	return is_large ? s->size_class >= LARGE
			: s->size_class > 0 && s->size_class <= SMALL;
}

static struct calls add_up(const struct finding_run *r, bool is_large)
{
	struct calls c = {0};
	for (size_t i = 0; i < r->mpi.n_sizes; i++) {
		const struct view_mpi_size *s = &r->mpi.sizes[i];
		if (!is_in(s, is_large))
			continue;
		const double busy = s->sums.seconds - s->sums.waited,
			     least = CALL_SECONDS * (double)s->sums.n_calls;
		c.n += (double)s->sums.n_calls;
		c.bytes += (double)(s->sums.sent + s->sums.received);
		c.seconds += busy > least ? busy : least;
	}
	return c;
}

/* The calls that complete messages are not of a size. */
static double completion(const struct finding_run *r, double share)
{
	double seconds = 0;
	for (size_t i = 0; i < r->mpi.n_sizes; i++) {
		const struct view_mpi_size *s = &r->mpi.sizes[i];
		if (!s->size_class && !s->is_collective && s->sums.seconds > s->sums.waited)
			seconds += s->sums.seconds - s->sums.waited;
	}
	return seconds * share;
}

static bool put_places(const struct finding_run *r, bool is_large, struct finding *f)
{
	double *weights = finding_weights(r->m);
	if (!weights)
		return false;
	for (size_t i = 0; i < r->m->mpi->n_calls; i++) {
		const struct model_mpi_call *c = &r->m->mpi->calls[i];
		if (is_large ? c->size_class >= LARGE
			     : c->size_class > 0 && c->size_class <= SMALL)
			weights[c->context] += (double)(c->ns - c->wait_ns) / 1e9;
	}
	finding_places(r, f, weights);
	free(weights);
	return true;
}

static bool add(struct finding_run *r, bool is_large, double all, struct findings *to)
{
	struct finding f =
		is_large ? finding_begin("large-messages", "large messages",
					 "send fewer bytes: only what changed, a smaller type; or "
					 "compute while they travel (MPI_Isend, MPI_Irecv)")
			 : finding_begin("small-messages", "many small messages",
					 "join messages to the same rank; one collective call for "
					 "several values");
	const struct calls c = add_up(r, is_large);
	/* calls without a size are also those that begin and end MPI */
	const double in_messages = finding_lost(r, MODEL_MPI_P2P) +
				   finding_lost(r, MODEL_MPI_COLLECTIVE) +
				   finding_lost(r, MODEL_MPI_ONE_SIDED),
		     of_calls = (c.seconds + completion(r, all > 0 ? c.n / all : 0)) / r->lanes,
		     lost = r->account.capacity > 0 && of_calls > in_messages ? in_messages
									      : of_calls;
	if (c.n <= 0 || !finding_is_large(r, lost))
		return true;
	finding_fact(&f, "calls", MODEL_COUNT, c.n);
	finding_fact(&f, "bytes of a call", MODEL_BYTES, c.bytes / c.n);
	finding_fact(&f, "time of a call, without waiting", MODEL_SECONDS, c.seconds / c.n);
	finding_fact(&f, "of the ranks' time", MODEL_SHARE, lost / r->elapsed);
	return put_places(r, is_large, &f) &&
	       finding_add(r, to, &f, lost, lost * 0.3, lost * (is_large ? 0.6 : 0.9), lost);
}

static bool unmeasured(struct finding_run *r, struct findings *to)
{
	struct finding f = finding_begin("mpi-unknown", "time in MPI whose cause is not known",
					 "measure with -e MPI, too: it shows who waits for whom, "
					 "and the sizes of messages");
	double lost = 0;
	for (unsigned k = MODEL_MPI_P2P; k <= MODEL_MPI_OTHER; k++)
		lost += r->account.capacity > 0 ? finding_lost(r, k) : 0;
	if (!finding_is_large(r, lost / 2))
		return true;
	finding_fact(&f, "time in MPI", MODEL_SHARE, lost / r->elapsed);
	return finding_add(r, to, &f, 0, 0, 0, 0);
}

bool rule_messages(struct finding_run *r, struct findings *to)
{
	if (!r->m->mpi)
		return unmeasured(r, to);
	const double all = add_up(r, false).n + add_up(r, true).n;
	return add(r, false, all, to) && add(r, true, all, to);
}
