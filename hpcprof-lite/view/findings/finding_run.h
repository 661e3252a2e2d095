/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the rules of findings.h look at, and how they add findings. Times are elapsed seconds of the
 * run unless stated otherwise. Only for this folder.
 */
#ifndef HPCPROF_VIEW_FINDINGS_FINDING_RUN_H
#define HPCPROF_VIEW_FINDINGS_FINDING_RUN_H

#include "hpcprof-lite/view/findings/findings.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "hpcprof-lite/view/parallel/view_regions.h"
#include "hpcprof-lite/view/view_mpi.h"

/* A cause that costs less than this share of the elapsed time is no finding. */
#define FINDING_LEAST 0.05

/* The key of calls of MPI that did not end. */
#define FINDING_OPEN_CALL "open-call"

struct finding_run {
	const struct model *m;
	double elapsed;
	struct view_processors account;
	double lanes; /* threads that shared the elapsed time, as the account has it; >= 1 */
	struct view_regions regions; /* n == 0: there is none */
	struct view_mpi mpi;  /* if m->mpi */
	uint64_t n_samples;   /* of the first metric of time */
	uint32_t time_metric; /* the first metric of time; MODEL_NONE: none */
	struct msr_usage usage; /* of all processes that ended in order */
	/* Elapsed time that rules before this one explain by too few processors, or unequal work */
	double by_processors, by_balance, by_regions;
	bool has_new_threads; /* they explain times in which threads do not live */
	double handling; /* CPU time in calls of libc that wait for threads and wake them */
	/* by context: time in it alone that the account counts, summed over threads */
	double *self;
	bool *own;       /* by module: code of the program itself */
	bool *in_region; /* by context: it is below a parallel region of OpenMP */
};

/* False if memory is short. In all cases call finding_run_close(). */
bool finding_run_open(const struct model *m, struct finding_run *r);
void finding_run_close(struct finding_run *r);

/* The time of all threads in a use, as elapsed time. */
double finding_lost(const struct finding_run *r, unsigned use);
/* True if this is enough for a finding. */
bool finding_is_large(const struct finding_run *r, double seconds);
/*
 * The same for what threads lose while they wait for each other, which more threads than processors
 * make worse: false if that explains it.
 */
bool finding_is_own(const struct finding_run *r, double seconds);

struct finding finding_begin(const char *key, const char *title, const char *cure);
void finding_fact(struct finding *f, const char *what, enum model_unit unit, double value);
/* Bounds the times and adds the finding. False if memory is short. */
bool finding_add(const struct finding_run *r, struct findings *to, struct finding *f, double cost,
		 double low, double likely, double high);

/*
 * The line of the program that is responsible for what happens in a context: the innermost line in
 * the program's own code, else in other code that is not a run-time library, else the function.
 */
uint32_t finding_site(const struct finding_run *r, uint32_t context);
/* By module: it is code of the program itself. The caller frees it. NULL if memory is short. */
bool *finding_find_own(const struct model *m);
/*
 * Sets the places of the finding to the sites with the most weight. Negative weights make a site
 * count for less. `weights`, by context, is changed.
 */
void finding_places(const struct finding_run *r, struct finding *f, double *weights);
/* The same for the time of an activity, of a process or (MODEL_NONE) all. False: no memory. */
bool finding_places_of(const struct finding_run *r, struct finding *f, unsigned activity);
/* Zeroed weights, by context. The caller frees them. NULL if memory is short. */
double *finding_weights(const struct model *m);

/*
 * CPU time in and below functions of libc whose names begin with one of these words (the list ends
 * with NULL), as elapsed time. What a contended lock costs beside the waits.
 */
double finding_libc_time(const struct finding_run *r, const char *const *words);

/* The innermost function of the context that is no placeholder; "": none. */
const char *finding_function(const struct model *m, uint32_t context);

/* The rules. Each adds what it finds. False if memory is short. */
typedef bool finding_rule(struct finding_run *r, struct findings *to);
finding_rule rule_open_calls, rule_processors, rule_threads, rule_balance, rule_regions,
	rule_serial, rule_locks, rule_waits, rule_files, rule_memory, rule_ranks, rule_stragglers,
	rule_messages, rule_gpu, rule_startup, rule_names, rule_measurement;

#endif
