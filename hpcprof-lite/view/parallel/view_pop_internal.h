/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of view_pop.h. Arrays have an element for each process or profile. */
#ifndef HPCPROF_VIEW_VIEW_POP_INTERNAL_H
#define HPCPROF_VIEW_VIEW_POP_INTERNAL_H

#include "hpcprof-lite/view/parallel/view_pop.h"

struct pop {
	const struct model *m;
	bool *is_chosen;       /* by process */
	/* by process: the one that its times are added to, or itself; MODEL_NONE: not chosen */
	uint32_t *whole;
	uint32_t *first_profile; /* by process; not set for one without profiles */
	uint32_t *n_threads;   /* by process: sizes of teams, or used threads */
	uint32_t *main_thread; /* by process: its profile, or MODEL_NONE */
	/*
	 * By profile: threads of a process that lived one after the other are one lane, named by
	 * the profile of the first; MODEL_NONE: a thread that does not count.
	 */
	uint32_t *lane;
	bool *is_setup;        /* by context: MPI_Init or MPI_Finalize, or below */
	uint32_t mpi_time;     /* metric of the time in MPI calls; MODEL_NONE: not measured */
	bool has_activities;
};

/* The times of one phase in seconds. */
struct pop_times {
	double *elapsed;       /* by process, without set-up */
	double *setup;         /* by process */
	double *mpi;           /* by process: its main thread in MPI, without set-up */
	double *useful, *gpu_wait; /* by profile */
};

bool pop_times_make(const struct pop *p, struct pop_times *t);
void pop_times_free(struct pop_times *t);

static inline bool pop_is_mpi(unsigned activity)
{
	return activity >= MODEL_MPI_P2P && activity <= MODEL_MPI_OTHER;
}

/* ---- view_pop_ranks.c: processes that ran one after the other ---- */

/*
 * Sets `whole` of the chosen processes. If processes of a rank ran one after the other, all have
 * one of them as their whole, which gets the largest n_threads. False if memory is short.
 */
bool pop_join_processes(struct pop *p);
/* Adds the times of processes and of their threads to their wholes, and makes them 0. */
void pop_join_times(const struct pop *p, struct pop_times *t);

static inline bool pop_is_whole(const struct pop *p, uint32_t process)
{
	return p->whole[process] == process;
}

/* ---- view_pop_lines.c: from time lines ---- */

/*
 * The time that each main thread spent in the loops, which are ascending: elapsed[loop *
 * n_processes + process].
 */
void pop_time_loops(const struct pop *p, const uint32_t *loops, size_t n, double *elapsed);
/* The length of the ranges of a phase in a process, in seconds; ranges that overlap count once. */
double pop_length(const struct model *m, uint32_t phase, uint32_t process);
/* All times in up to VIEW_POP_MOST phases of the model. False if memory is short. */
bool pop_time_phases(const struct pop *p, const uint32_t *phases, size_t n,
	struct pop_times *times);

/* ---- view_pop_transfer.c: from the calls of MPI ---- */

/*
 * Sets has_transfer, serialisation and transfer of `out`. Needs its other members. False if memory
 * is short.
 */
bool pop_split_communication(const struct pop *p, const struct pop_times *t, struct view_pop *out);

#endif
