/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_arrivals.h. Test: tests/unit/prof_mpi/test_mpi_waits.c. */
#include "hpcprof-lite/attribute/mpi/mpi_arrivals.h"

#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>

static uint64_t count_all(const struct load_job *job)
{
	uint64_t n = 0;
	for (size_t i = 0; i < job->files.n; i++)
		for (size_t k = 0; k < job->files.at[i].mpi.collectives.n; k++)
			n += job->files.at[i].mpi.collectives.at[k].n;
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
		     const struct load_mpi_part *p, uint32_t host)
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

bool mpi_arrivals_collect(struct mpi_arrivals *a, const struct load_job *job)
{
	for (uint64_t n = count_all(job); n > MPI_MOST_ARRIVALS; n /= 2)
		a->thinned = a->thinned << 1 | 1;
	for (uint32_t i = 0; i < job->files.n; i++) {
		struct load_file *f = &job->files.at[i];
		uint32_t host = f->mpi.is_present ? host_of(a, f->header.host_id) : 0;
		if (host == UINT32_MAX)
			return false;
		for (size_t k = 0; k < f->mpi.collectives.n; k++) {
			const struct load_mpi_part *p = &f->mpi.collectives.at[k];
			if (!add_part(a, job, i, p, host))
				return false;
			load_release(f, p->n * p->stride);
		}
	}
	if (a->list.n)
		qsort(a->list.at, a->list.n, sizeof *a->list.at, compare);
	return true;
}

/* Both keep the multiples of a power of two, so the larger power counts. */
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
