/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Efficiencies of parallel programs as the POP centre of excellence defines them
 * (https://co-design.pop-coe.eu/metrics, standard and hybrid metrics), and for GPUs as TALP of the
 * DLB library (https://github.com/bsc-pm/dlb) does:
 *
 *     parallel efficiency = mean useful time of the threads / elapsed time
 *                         = load balance x communication efficiency
 *     load balance = mean / most useful time of a thread
 *     communication efficiency = most useful time of a thread / elapsed time
 *                              = serialisation x transfer efficiency
 *     transfer efficiency = elapsed time on an ideal network / elapsed time
 *     elapsed time on an ideal network = most of (elapsed time - transfer time) of a process
 *
 * Useful time is the time in which a thread worked (MODEL_WORK). Unlike in POP, other blocked time,
 * such as I/O, therefore counts as lost in communication and in the part of OpenMP. If only
 * REALTIME was measured, and threads may have been blocked in samples of work (view_bound_work() in
 * view_processors.h), there are no efficiencies. The elapsed time on an ideal network is that of
 * Cube's Advisor (CubeGUI user guide, "Transfer Efficiency"): transfer time is the time in MPI
 * without wait states. view_pop_transfer.c says when that is known.
 *
 * For MPI x OpenMP the hybrid form splits the parallel efficiency into that of MPI, where all time
 * outside of MPI is useful, and that of OpenMP, which is the rest. For GPUs, K is the time in which
 * a device ran kernels, and M the time in which it only moved memory:
 *
 *     device offload efficiency = useful / (useful + waiting for a GPU)
 *     device parallel efficiency = mean K / elapsed time
 *         = load balance (mean K / most K) x communication (most K / most K + M)
 *           x orchestration (most K + M / elapsed time)
 *
 * The time in MPI comes from the calls if they were measured (-e MPI), else from samples. Time in
 * MPI_Init and MPI_Finalize belongs to no phase, because it is not communication.
 *
 * A phase is the whole run; a phase of the model (model_phase.h); or, if there is none, an
 * outermost loop of main. Tests: tests/unit/prof/test_view_pop.c, tests/unit/prof_parallel/.
 */
#ifndef HPCPROF_VIEW_VIEW_POP_H
#define HPCPROF_VIEW_VIEW_POP_H

#include "hpcprof-lite/model/model.h"

struct view_pop {
	uint32_t phase;       /* of the model; MODEL_NONE: none */
	uint32_t context;     /* the loop; 0: the whole run, or a phase of the model */
	double elapsed;       /* the longest of the processes, without MPI_Init and MPI_Finalize */
	bool has_setup;       /* `elapsed` lacks time in MPI_Init or MPI_Finalize */
	uint32_t n_processes; /* ranks (view_pop_ranks.c), or the process that worked most */
	uint32_t n_threads;   /* of all of them: sizes of teams, or threads that were used */
	double parallel, load_balance, communication;
	bool has_transfer; /* serialisation and transfer are known */
	double serialisation, transfer;
	bool is_hybrid;       /* several ranks with time in MPI, and more threads */
	double mpi, mpi_load_balance, mpi_communication, omp;
	bool has_gpu;
	double offload;
};

/* The devices over the whole run. */
struct view_pop_devices {
	uint32_t n; /* devices with operations; 0: the rest is not set */
	double parallel, load_balance, communication, orchestration;
};

enum { VIEW_POP_MOST = 6 }; /* the whole run and the five longest phases or loops */

struct view_pops {
	/* the whole run, then phases by their first range, or loops in the order of the source */
	struct view_pop at[VIEW_POP_MOST];
	size_t n; /* 0: there is one thread, or no useful time */
	uint32_t n_more; /* other phases, or other loops of at least 5 % of the time */
	uint64_t n_lost; /* phases that could not be recorded; their time is in no row */
	bool lacks_lines; /* phases have no rows, because there are no time lines */
	struct view_pop_devices devices;
};

/* Reads each time line at most once. False if memory is short. */
bool view_pop_make(const struct model *m, struct view_pops *p);
/*
 * "everything", "loop at FILE:20", "phase 1: FILE:120". `place` is what the caller calls the
 * place of the loop. Returns `name`.
 */
const char *view_pop_name(const struct model *m, const struct view_pop *x, const char *place,
	char *name, size_t n_bytes);

#endif
