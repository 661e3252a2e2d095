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
 *
 * Useful is the time in which a thread worked (MODEL_WORK). Unlike in POP, other blocked time,
 * such as I/O, is therefore lost in communication and in the part of OpenMP. For MPI x OpenMP the
 * hybrid form splits the parallel efficiency into that of MPI, where all time outside of MPI is
 * useful, and that of OpenMP, which is the rest. With K the time in which a device ran kernels
 * and M that in which it only moved memory:
 *
 *     device offload efficiency = useful / (useful + waiting for a GPU)
 *     device parallel efficiency = mean K / elapsed time
 *         = load balance (mean K / most K) x communication (most K / most K + M)
 *           x orchestration (most K + M / elapsed time)
 *
 * Samples in MPI_Init and MPI_Finalize belong to no phase: their time is no communication.
 *
 * A phase is the whole run, or an outermost loop of main. Test: tests/unit/prof/test_view_pop.c.
 */
#ifndef HPCPROF_VIEW_VIEW_POP_H
#define HPCPROF_VIEW_VIEW_POP_H

#include "hpcprof-lite/model/model.h"

struct view_pop {
	uint32_t context;     /* the loop; 0: the whole run */
	double elapsed;       /* the longest of the processes, without MPI_Init and MPI_Finalize */
	bool has_setup;       /* `elapsed` lacks time in MPI_Init or MPI_Finalize */
	uint32_t n_processes; /* ranks; without ranks, the process that worked most */
	uint32_t n_threads;   /* of all of them: sizes of teams, or threads that were used */
	double parallel, load_balance, communication;
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

enum { VIEW_POP_MOST = 6 }; /* the whole run and five loops */

struct view_pops {
	/* the whole run, then loops in the order of the source */
	struct view_pop at[VIEW_POP_MOST];
	size_t n; /* 0: there is one thread, or no useful time */
	struct view_pop_devices devices;
};

/* Reads the time lines of main threads for the loops. False if memory is short. */
bool view_pop_make(const struct model *m, struct view_pops *p);

#endif
