/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_mpi_open.h. Test: tests/unit/prof_mpi/test_mpi_model.c. */
#include "hpcprof-lite/view/view_mpi_open.h"

#include "common/format/measurement_mpi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int compare_places(const void *pa, const void *pb)
{
	const struct view_mpi_open *a = pa, *b = pb;
	if (a->longest->context != b->longest->context)
		return a->longest->context < b->longest->context ? -1 : 1;
	return a->longest->call - b->longest->call;
}

static int compare_times(const void *pa, const void *pb)
{
	const struct view_mpi_open *a = pa, *b = pb;
	if (a->longest->ns != b->longest->ns)
		return a->longest->ns < b->longest->ns ? 1 : -1;
	return (a->longest->profile > b->longest->profile) -
	       (a->longest->profile < b->longest->profile);
}

bool view_mpi_open_make(const struct model *m, struct view_mpi_open **open, size_t *n)
{
	size_t all = 0, last = 0;
	*open = NULL;
	*n = 0;
	for (size_t i = 0; m->mpi && i < m->mpi->n_calls; i++)
		all += m->mpi->calls[i].is_open;
	if (!all)
		return true;
	struct view_mpi_open *at = malloc(all * sizeof *at);
	if (!at)
		return false;
	for (size_t i = 0; i < m->mpi->n_calls; i++)
		if (m->mpi->calls[i].is_open)
			at[(*n)++] = (struct view_mpi_open){&m->mpi->calls[i], 1};
	qsort(at, all, sizeof *at, compare_places);
	for (size_t i = 1; i < all; i++) {
		if (compare_places(&at[last], &at[i]) != 0) {
			at[++last] = at[i];
			continue;
		}
		at[last].n_threads++;
		if (at[i].longest->ns > at[last].longest->ns)
			at[last].longest = at[i].longest;
	}
	*n = last + 1;
	qsort(at, *n, sizeof *at, compare_times);
	*open = at;
	return true;
}

static const char *way_of(const struct model_mpi_call *c)
{
	static const char *const ways[] = {[MSR_MPI_WAY_FROM] = "for a message from",
					   [MSR_MPI_WAY_TO] = "for a message to",
					   [MSR_MPI_WAY_BOTH] = "for a message from or to"};
	if (c->way)
		return ways[c->way];
	return mpi_call_forms[c->call].send ? "to" : "from";
}

const char *view_mpi_open_name(const struct view_mpi_open *o, char name[VIEW_MPI_CALL])
{
	const struct model_mpi_call *c = o->longest;
	const char *call = mpi_call_name(c->call), *way = way_of(c);
	if (o->n_threads > 1 || mpi_call_forms[c->call].group != MPI_GROUP_P2P ||
	    c->peer == MSR_MPI_NO_PEER)
		snprintf(name, VIEW_MPI_CALL, "%s", call);
	else if (c->peer < 0)
		snprintf(name, VIEW_MPI_CALL, "%s %s any rank", call, way);
	else
		snprintf(name, VIEW_MPI_CALL, "%s %s rank %" PRId32 "%s", call, way,
			 c->peer_world >= 0 ? c->peer_world : c->peer,
			 c->peer_world >= 0 ? "" : " of its communicator");
	return name;
}
