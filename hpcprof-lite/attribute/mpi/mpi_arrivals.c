/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_arrivals.h. Tests: tests/unit/prof_mpi/test_mpi_waits.c,
 * tests/unit/prof_parts/test_parts.c. */
#include "hpcprof-lite/attribute/mpi/mpi_arrivals.h"

#include "common/base/map.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/model/model.h"
#include "hpcprof-lite/parts/comm.h"
#include "hpcprof-lite/parts/share_records.h"

#include <stdlib.h>

bool mpi_arrivals_are_shared(const struct load_job *job)
{
	return job->comm && job->is_split;
}

static uint64_t count_all(const struct load_job *job)
{
	const bool are_shared = mpi_arrivals_are_shared(job);
	uint64_t n = 0;
	for (size_t i = 0; i < job->files.n; i++)
		for (size_t k = 0; k < job->files.at[i].mpi.collectives.n; k++)
			if (!are_shared || load_is_own(job, i))
				n += job->files.at[i].mpi.collectives.at[k].n;
	if (are_shared)
		comm_add(job->comm, &n, 1);
	return n;
}

static uint32_t host_of(struct mpi_arrivals *a, uint64_t id)
{
	for (uint32_t i = 0; i < a->hosts.n; i++)
		if (a->hosts.at[i] == id)
			return i;
	uint64_t *at = vec_push(&a->hosts);
	if (at)
		*at = id;
	return at ? (uint32_t)a->hosts.n - 1 : UINT32_MAX;
}

static bool add_part(struct mpi_arrivals *a, const struct load_job *job, uint32_t file,
		     const struct load_mpi_part *p, uint32_t host,
		     const struct topic_where *where)
{
	const struct load_file *f = &job->files.at[file];
	for (uint64_t i = 0; i < p->n; i++) {
		struct msr_mpi_collective c;
		if (!load_mpi_collective(f, p, i, &c) || (c.number & a->thinned))
			continue;
		const struct msr_mpi_comm *comm = load_mpi_comm(&f->mpi, c.comm);
		if (!comm || !comm->identity)
			continue;
		struct mpi_arrival *at = vec_push(&a->list);
		if (!at)
			return false;
		*at = (struct mpi_arrival){.comm = comm->identity,
					   .number = c.number,
					   .enter_ns = (int64_t)c.enter_ns,
					   .leave_ns = (int64_t)c.leave_ns,
					   .file = file,
					   .thread = p->thread,
					   .node = c.node,
					   .comm_id = c.comm,
					   .size = comm->size,
					   .rank = comm->rank,
					   .root = c.root,
					   .host = host,
					   .context = where ? where->context(where->arg, file,
									     p->thread, c.node)
							    : MODEL_NONE,
					   .call = c.call};
	}
	return true;
}

static int compare(const void *pa, const void *pb)
{
	const struct mpi_arrival *a = pa, *b = pb;
	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->file > b->file) - (a->file < b->file);
}

static bool list_all(struct mpi_arrivals *a, const struct load_job *job,
		     const struct topic_where *where)
{
	for (uint32_t i = 0; i < job->files.n; i++) {
		struct load_file *f = &job->files.at[i];
		uint32_t host = f->mpi.is_present ? host_of(a, f->header.host_id) : 0;
		if (host == UINT32_MAX)
			return false;
		for (size_t k = 0; load_is_found(job, i) && k < f->mpi.collectives.n; k++) {
			const struct load_mpi_part *p = &f->mpi.collectives.at[k];
			if (!add_part(a, job, i, p, host, where))
				return false;
			load_release(f, p->n * p->stride);
		}
	}
	return true;
}

/* ---- calls without data ---- */

static uint64_t place_of(uint32_t file, uint32_t node)
{
	return (uint64_t)file << 32 | node;
}

static uint64_t call_of(uint32_t thread, uint32_t comm, uint16_t call)
{
	return hash_u64((uint64_t)thread << 32 | comm) ^ call;
}

/*
 * Finds the places of calls without data. Records of collective calls do not say how much data they
 * move.
 */
static bool find_empty(struct map *empty, const struct load_job *job)
{
	for (uint32_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		for (size_t k = 0; load_is_found(job, i) && k < f->mpi.calls.n; k++) {
			const struct load_mpi_part *p = &f->mpi.calls.at[k];
			for (uint64_t r = 0; r < p->n; r++) {
				struct msr_mpi_call c;
				if (load_mpi_call(f, p, r, &c) && !c.size_class &&
				    mpi_call_forms[c.call].kind == MPI_KIND_ALL &&
				    map_put(empty, place_of(i, c.node),
					    call_of(p->thread, c.comm, c.call), 1) == MAP_NONE)
					return false;
			}
		}
	}
	return true;
}

bool mpi_arrivals_mark(struct mpi_arrivals *a, const struct load_job *job)
{
	struct map empty = {0};
	const bool ok = find_empty(&empty, job);
	for (size_t i = 0; ok && i < a->list.n; i++) {
		struct mpi_arrival *at = &a->list.at[i];
		at->is_empty = map_get(&empty, place_of(at->file, at->node),
				       call_of(at->thread, at->comm_id, at->call)) != MAP_NONE;
	}
	map_free(&empty);
	return ok;
}

/* ---- the whole ---- */

/* The part that gets a call. */
static int part_of(const void *arg, const void *record)
{
	const struct load_job *job = arg;
	const struct mpi_arrival *at = record;
	return (int)(hash_u64(at->comm ^ hash_u64(at->number)) % (uint64_t)job->comm->n_parts);
}

/* Ends a step of all parts. */
static bool share(struct mpi_arrivals *a, const struct load_job *job, bool ok)
{
	struct share_records r = {.at = a->list.at,
				  .n = a->list.n,
				  .bytes = sizeof *a->list.at,
				  .part_of = part_of,
				  .arg = job};
	ok = share_records(job->comm, ok, &r);
	a->list.at = r.at;
	a->n_all = a->list.n = a->list.capacity = r.n;
	if (ok)
		comm_add(job->comm, &a->n_all, 1);
	return ok;
}

bool mpi_arrivals_collect(struct mpi_arrivals *a, const struct load_job *job,
			  const struct topic_where *where)
{
	const bool are_shared = mpi_arrivals_are_shared(job);
	if (are_shared && comm_agree(job->comm, STATUS_OK) != STATUS_OK)
		return false;
	for (uint64_t n = count_all(job); n > MPI_MOST_ARRIVALS; n /= 2)
		a->thinned = a->thinned << 1 | 1;
	bool ok = list_all(a, job, where);
	if (ok && a->hosts.n > 1)
		ok = mpi_arrivals_mark(a, job);
	if (are_shared)
		ok = share(a, job, ok);
	if (ok && a->list.n)
		qsort(a->list.at, a->list.n, sizeof *a->list.at, compare);
	return ok;
}

/* The run time and `thinned` each keep multiples of a power of two, so the larger power counts. */
uint64_t mpi_arrivals_weight(const struct mpi_arrivals *a, uint64_t number)
{
	const uint64_t recorded = UINT64_C(1) << msr_mpi_stride_log2(number);
	return recorded > a->thinned ? recorded : a->thinned + 1;
}

size_t mpi_arrivals_end(const struct mpi_arrivals *a, size_t first, bool *is_whole)
{
	const struct mpi_arrival *at = &a->list.at[first];
	size_t n = 0;
	bool is_sound = true;
	for (; first + n < a->list.n && at[n].comm == at->comm && at[n].number == at->number; n++)
		is_sound = is_sound && at[n].rank == n && at[n].size == at->size &&
			   at[n].call == at->call && at[n].root == at->root;
	*is_whole = is_sound && n == at->size;
	return first + n;
}

void mpi_arrivals_free(struct mpi_arrivals *a)
{
	vec_free(&a->list);
	vec_free(&a->hosts);
}
