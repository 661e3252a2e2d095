/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables about MPI: by process, function, place, size and pair of ranks. Who comes late to
 * collective calls is in model_mpi.sites. Test: tests/unit/prof_mpi/test_mpi_model.c.
 */
#ifndef HPCPROF_VIEW_VIEW_MPI_H
#define HPCPROF_VIEW_VIEW_MPI_H

#include "hpcprof-lite/model/model.h"

struct view_mpi_sums {
	uint64_t n_calls, sent, received;
	double seconds, waited;
	bool wait_is_known; /* of all calls; otherwise a part of `waited` is an estimate */
};

/* A process that called MPI. By rank, then process. */
struct view_mpi_process {
	uint32_t process;
	uint32_t n_threads;        /* that called MPI */
	double elapsed;            /* of these threads, in seconds */
	struct view_mpi_sums sums;
};

/* All calls of one function. By falling time. */
struct view_mpi_function {
	uint16_t call;
	struct view_mpi_sums sums;
};

/*
 * The calls of one function at one place, which is a line, or an instruction if the line is not
 * known. If call paths differ, the place has a row for each caller at the first level where they
 * differ. By falling waiting time, then time.
 */
struct view_mpi_place {
	uint16_t call;
	/* functions outside of the place's own that distinguish the row from others */
	uint32_t n_callers;
	uint32_t context;   /* the first caller there; see view_mpi_caller() */
	struct view_mpi_sums sums;
};

/* Calls whose bytes are in [2^(n-1), 2^n); n = 0: without bytes. By size. */
struct view_mpi_size {
	uint8_t size_class;
	bool is_collective;
	struct view_mpi_sums sums;
};

/* What one rank sent to another in point-to-point and one-sided calls. By falling bytes. */
struct view_mpi_pair {
	int32_t from, to;          /* ranks in MPI_COMM_WORLD */
	uint64_t n_calls, bytes;
};

struct view_mpi {
	struct view_mpi_process *processes;
	size_t n_processes;
	struct view_mpi_function *functions;
	size_t n_functions;
	struct view_mpi_place *places;
	size_t n_places;
	struct view_mpi_size *sizes;
	size_t n_sizes;
	struct view_mpi_pair *pairs;
	size_t n_pairs;
	struct view_mpi_sums whole;
	double elapsed;            /* of all threads that called MPI */
};

/* m->mpi is not NULL. False if memory is short; then there is nothing to free. */
bool view_mpi_make(const struct model *m, struct view_mpi *v);
void view_mpi_free(struct view_mpi *v);

/*
 * The place that called MPI: the parent of the outermost function of MPI at or above `context`.
 * Between functions of MPI there may only be code of one library, as below a call that MPI makes
 * itself. If the place has no line, the Python line above it; if there is no caller, the function
 * itself.
 */
uint32_t view_mpi_caller(const struct model *m, uint32_t context);
/* The context of the function that holds `context`; MODEL_NONE: it is below no function. */
uint32_t view_mpi_holder(const struct model *m, uint32_t context);

#endif
