/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_mpi.h. Tests: tests/unit/prof_mpi/test_mpi_model.c, tests/fuzz/fuzz_measurement.c. */
#include "hpcprof-lite/load/load_mpi.h"

#include "common/base/sorted.h"
#include "common/safe/fnv.h"
#include "hpcprof-lite/load/load_records.h"

#include <string.h>

#define MOST_BYTES (UINT64_C(1) << 60)
/*
 * No machine runs for longer than this (36 years). With this bound, differences of times fit into
 * 64 bits.
 */
#define LATEST_NS (UINT64_C(1) << 60)

bool load_mpi_is_kind(unsigned kind)
{
	return kind == MSR_MPI_COMM || kind == MSR_MPI_CALL || kind == MSR_MPI_COLLECTIVE ||
	       kind == MSR_MPI_OPEN;
}

/*
 * Makes identities unique across jobs: MPI_COMM_WORLD of two jobs is not one communicator, nor are
 * communicators made from it.
 */
static uint64_t identity_of(const struct msr_header *h, uint64_t identity)
{
	const uint64_t of[] = {h->job_host_id, h->job_id, h->job_pid, identity};
	return !identity || !h->job_id ? identity : fnv64(FNV64_START, of, sizeof of) | 2;
}

/* Ids are consecutive, so a file cannot have more of them than it has room for. */
static enum status read_comms(struct load_file *f, const struct msr_view *v, uint32_t stride)
{
	for (uint64_t at = 0; v->n_bytes - at >= stride; at += stride) {
		struct msr_mpi_comm c;
		memcpy(&c, v->content + at, sizeof c);
		if (!c.id || c.id > f->map.n_bytes / sizeof c || !c.size || c.rank >= c.size ||
		    c.size > INT32_MAX || load_mpi_comm(&f->mpi, c.id)) {
			f->bytes_damaged += stride;
			continue;
		}
		if (f->mpi.comms.n <= c.id &&
		    !vec_extend(&f->mpi.comms, c.id + 1 - f->mpi.comms.n))
			return STATUS_NO_MEMORY;
		c.identity = identity_of(&f->header, c.identity);
		f->mpi.comms.at[c.id] = c;
	}
	return STATUS_OK;
}

static uint32_t least_bytes(unsigned kind)
{
	return kind == MSR_MPI_COMM   ? sizeof(struct msr_mpi_comm)
	       : kind == MSR_MPI_CALL ? offsetof(struct msr_mpi_call, reserved2)
	       : kind == MSR_MPI_OPEN ? sizeof(struct msr_mpi_open)
				      : sizeof(struct msr_mpi_collective);
}

enum status load_mpi_extent(struct load_file *f, const struct msr_view *v)
{
	const unsigned kind = v->extent->kind;
	const uint32_t stride = v->extent->record_bytes;
	if (stride < least_bytes(kind) || stride % 8 || v->extent->thread == UINT32_MAX) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	f->bytes_damaged += v->n_bytes % stride;
	f->mpi.is_present = true;
	if (kind == MSR_MPI_COMM)
		return read_comms(f, v, stride);
	f->mpi.has_calls |= kind == MSR_MPI_CALL || kind == MSR_MPI_OPEN;
	if (!load_get_thread(f, v->extent->thread))
		return STATUS_NO_MEMORY;
	struct load_mpi_part *p = kind == MSR_MPI_CALL   ? vec_push(&f->mpi.calls)
				  : kind == MSR_MPI_OPEN ? vec_push(&f->mpi.opens)
							 : vec_push(&f->mpi.collectives);
	if (!p)
		return STATUS_NO_MEMORY;
	*p = (struct load_mpi_part){v->content, v->n_bytes / stride, stride, v->extent->thread};
	return STATUS_OK;
}

static bool node_is_sound(const struct load_file *f, uint32_t thread, uint32_t node)
{
	const struct load_thread *t = &f->threads.at[thread];
	return node < t->n_nodes && (!node || !t->node_to || t->node_to[node] != LOAD_DAMAGED);
}

/* The bound on times holds because a thread cannot be in calls for longer than a run can last. */
bool load_mpi_call(const struct load_file *f, const struct load_mpi_part *p, uint64_t i,
		   struct msr_mpi_call *c)
{
	*c = (struct msr_mpi_call){0};
	memcpy(c, p->content + i * p->stride, offsetof(struct msr_mpi_call, reserved2));
	return node_is_sound(f, p->thread, c->node) && c->call < MPI_N_CALLS && c->n_calls &&
	       c->n_calls <= LOAD_LONGEST_NS && c->ns <= LOAD_LONGEST_NS && c->least_ns <= c->ns &&
	       c->sent <= MOST_BYTES && c->received <= MOST_BYTES && c->size_class <= 64;
}

bool load_mpi_collective(const struct load_file *f, const struct load_mpi_part *p, uint64_t i,
			 struct msr_mpi_collective *c)
{
	memcpy(c, p->content + i * p->stride, sizeof *c);
	return node_is_sound(f, p->thread, c->node) && c->call < MPI_N_CALLS &&
	       c->enter_ns <= c->leave_ns && c->leave_ns <= LATEST_NS &&
	       load_mpi_comm(&f->mpi, c->comm);
}

bool load_mpi_open(const struct load_file *f, const struct load_mpi_part *p, uint64_t i,
		   struct msr_mpi_open *o)
{
	const struct msr_mpi_open *at = (const void *)(p->content + i * p->stride);
	/* the process may still run: acquire, so that the rest is of this time, or was changed */
	const uint64_t enter_ns = atomic_load_explicit(&at->enter_ns, memory_order_acquire);
	memcpy(o, at, sizeof *o);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&at->enter_ns, memory_order_relaxed) != enter_ns)
		return false;
	return o->enter_ns && o->enter_ns <= LATEST_NS && node_is_sound(f, p->thread, o->node) &&
	       o->call < MPI_N_CALLS && o->way <= MSR_MPI_WAY_BOTH;
}

static void count_damage(struct load_file *f, const struct load_mpi_part *p, bool is_call)
{
	struct msr_mpi_call call;
	struct msr_mpi_collective collective;
	for (uint64_t i = 0; i < p->n; i++)
		if (is_call ? !load_mpi_call(f, p, i, &call)
			    : !load_mpi_collective(f, p, i, &collective))
			f->bytes_damaged += p->stride;
	load_release(f, p->n * p->stride);
}

/* Threads no longer move in memory, so their numbers become indices. */
void load_mpi_finish(struct load_file *f)
{
	struct load_mpi *m = &f->mpi;
	for (size_t i = 0; i < m->calls.n + m->collectives.n; i++) {
		const bool is_call = i < m->calls.n;
		struct load_mpi_part *p = is_call ? &m->calls.at[i]
						  : &m->collectives.at[i - m->calls.n];
		p->thread = (uint32_t)sorted_below(f->threads.at, f->threads.n, number,
						   p->thread);
		count_damage(f, p, is_call);
	}
	for (size_t i = 0; i < m->opens.n; i++)
		m->opens.at[i].thread = (uint32_t)sorted_below(f->threads.at, f->threads.n, number,
							       m->opens.at[i].thread);
}

void load_mpi_free(struct load_mpi *m)
{
	vec_free(&m->opens);
	vec_free(&m->calls);
	vec_free(&m->collectives);
	vec_free(&m->comms);
}
