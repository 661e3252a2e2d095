/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI part of a measurement file. Records stay in the mapped file; load_mpi_call() and
 * load_mpi_collective() return the sound ones. Damage is skipped and counted. Tests:
 * tests/unit/prof_mpi/test_mpi_model.c, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_MPI_H
#define HPCPROF_LITE_LOAD_LOAD_MPI_H

#include "common/base/status.h"
#include "common/base/vec.h"
#include "common/format/measurement_mpi.h"

struct load_file;
struct load_thread;
struct msr_view;

/* Records of one extent: n records, `stride` bytes apart, 8-byte aligned. */
struct load_mpi_part {
	const uint8_t *content;
	uint64_t n;
	uint32_t stride;
	uint32_t thread;          /* number; after loading: index in the file */
};

struct load_mpi {
	bool is_present;          /* a thread called MPI */
	bool has_calls;           /* there are sums of calls, perhaps only in other parts */
	VEC(struct load_mpi_part) calls, collectives, opens;
	VEC(struct msr_mpi_comm) comms;  /* by id; id 0: none */
};

/* True if the kind is a kind of MPI extent. */
bool load_mpi_is_kind(unsigned extent_kind);
/* Reads one extent. Fails only with STATUS_NO_MEMORY. */
enum status load_mpi_extent(struct load_file *f, const struct msr_view *v);
/* Call it when the nodes of all threads are checked: counts damaged records. */
void load_mpi_finish(struct load_file *f);
void load_mpi_free(struct load_mpi *m);

/*
 * Copies record i < p->n of `calls`. False: the record is not sound; it was counted as damage. If a
 * new owner has taken over node_to of the thread, the call does not check the node; the new owner
 * must.
 */
bool load_mpi_call(const struct load_file *f, const struct load_mpi_part *p, uint64_t i,
	struct msr_mpi_call *c);
/* The same for `collectives`. */
bool load_mpi_collective(const struct load_file *f, const struct load_mpi_part *p, uint64_t i,
	struct msr_mpi_collective *c);
/* The same for `opens`. Also false if the thread was in no call. */
bool load_mpi_open(const struct load_file *f, const struct load_mpi_part *p, uint64_t i,
	struct msr_mpi_open *o);
/* NULL: there is no such communicator. */
static inline const struct msr_mpi_comm *load_mpi_comm(const struct load_mpi *m, uint32_t id)
{
	return id && id < m->comms.n && m->comms.at[id].id ? &m->comms.at[id] : NULL;
}

#endif
