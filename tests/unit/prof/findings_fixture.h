/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs with one known cause, for the tests of findings: made measurements whose functions have
 * names. Times are seconds of the run. Failures end the test by cmocka's assertions.
 */
#ifndef TESTS_UNIT_PROF_FINDINGS_FIXTURE_H
#define TESTS_UNIT_PROF_FINDINGS_FIXTURE_H

#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/view/findings/findings.h"

#define SECOND UINT64_C(1000000000)

struct run {
	char *directory;
	struct gen *g; /* the process that is being made */
	char *path;    /* of the file that was written last */
	double elapsed;
	int32_t rank;
	bool is_killed; /* processes end as by SIGKILL: no account of the kernel, no CPU clocks */
	struct model *m;
	struct findings f;
};

/* Begins a run of 10 s on these processors ("0-1"), with its first process. */
void run_begin(struct run *r, const char *processors);
/*
 * The same for a job of two ranks. run_next() begins the process of the next rank; the file of the
 * one before is written then, or earlier by run_write().
 */
void run_begin_ranks(struct run *r, const char *processors);
void run_next(struct run *r, const char *processors);
void run_write(struct run *r);

/* A thread that lives from `start` to `end`. */
uint32_t run_thread(struct run *r, double start, double end);
/*
 * The thread works for some seconds in a call path: names of functions as "main/solve". The
 * fixture's table has them, with their modules.
 */
void run_work(struct run *r, uint32_t thread, const char *path, double seconds);
/* ... from one moment to another, with samples in its time line. Moments of a thread rise. */
void run_work_at(struct run *r, uint32_t thread, const char *path, double from, double to);
/* The thread is blocked below the path, or waits for a processor. */
void run_wait(struct run *r, uint32_t thread, const char *path, enum msr_wait kind, double seconds);
/* The node of the path, for records that name one. */
uint32_t run_node(struct run *r, uint32_t thread, const char *path);
/* An OpenMP worker is outside of any region. */
void run_idle(struct run *r, uint32_t thread, double seconds);
void run_idle_at(struct run *r, uint32_t thread, double from, double to);
/* The address of a function as call paths have it. */
msr_addr run_address(const char *function);

/* Writes the last process and makes the model; run_find() then makes and checks the findings. */
void run_model(struct run *r);
void run_find(struct run *r);
/* Both. */
void run_finish(struct run *r);
/* The same of a part of the run. */
void run_finish_part(struct run *r, const struct filter *part);
void run_end(struct run *r);

/* NULL: no finding has this key. */
const struct finding *run_finding(const struct run *r, const char *key);
/* The finding exists, and its likely gain is as expected, to 0.02 s. Returns it. */
const struct finding *run_has(const struct run *r, const char *key, double likely);
/* The same for the first one. */
void run_has_first(const struct run *r, const char *key, double likely);
void run_has_not(const struct run *r, const char *key);

#endif
