/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of a job by several parts, with threads as parts: the files that they write together
 * are compared with those of one process. Failures end the test by cmocka's assertions.
 */
#ifndef TESTS_UNIT_PROF_PARTS_PARTS_JOB_H
#define TESTS_UNIT_PROF_PARTS_PARTS_JOB_H

#include "hpcprof-lite/parts/comm_threads.h"
#include "tests/unit/prof/prof_fixture.h"

/* The directory of all databases, which main() makes with mkdtemp(). */
extern char parts_scratch[];

/* One part of the work, or all of it if c is NULL. */
struct parts_job {
	char measurement[512];
	char database[512];
	enum status status[64];
};

/* Reads and writes, as the part of c. It is called by any thread. */
enum status parts_work(struct comm *c, const struct parts_job *j);
/* The same for comm_threads_run(): sets j->status[c->part]. */
void parts_work_part(struct comm *c, void *job);
/* A measurement of tests/golden, with a database for `n` parts. */
struct parts_job parts_job_of(const char *name, int n);
/* Removes the database. */
void parts_remove(const struct parts_job *j);
/* The outputs of n parts are those of one process, which are there. */
void parts_check(const struct parts_job *alone, int n);
/* Parts write a measurement as one process does. numbers: ends with 0. */
void parts_check_measurement(const char *directory, const int *numbers);
/* Damages a file of the measurement. */
void parts_flip_bytes(const char *directory, int process, unsigned *seed);

#endif
