/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All measurement files of some directories. They are opened in parallel and then sorted for good
 * by rank, host, pid, exec number, start and path. Test: tests/unit/prof/test_load.c,
 * tests/cli/prof/prof_cli.sh.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_JOB_H
#define HPCPROF_LITE_LOAD_LOAD_JOB_H

#include "hpcprof-lite/load/load_file.h"

struct comm;

struct load_job {
	VEC(struct load_file) files;
	unsigned n_short; /* files too short to hold anything: their processes died at once */
	bool leaves_values; /* set before opening: load_job_share() follows */
	/*
	 * By part, and the end: its first file. Each part reads the cells and time lines of its
	 * files, and this process is `part`. NULL: it reads those of all files. Owned.
	 */
	uint64_t *first_file;
	int part;
};

/* True if this process reads cells and time lines of the file for all others. */
static inline bool load_is_own(const struct load_job *job, size_t file)
{
	return !job->first_file ||
	       (file >= job->first_file[job->part] && file < job->first_file[job->part + 1]);
}

/*
 * Opens every *.hpcrun file in the directories. A directory or file that is named twice counts
 * once. Failures are logged: STATUS_NOT_FOUND: there is no such file; STATUS_UNSUPPORTED or
 * STATUS_BAD_INPUT: one is not a measurement file of ours. n_workers: as in pool_run(). In all
 * cases free with load_job_close().
 */
enum status load_job_open(char *const *directories, size_t n_directories, unsigned n_workers,
	struct load_job *job);
/*
 * For parts that have opened the same files with leaves_values: each checks cells and time lines of
 * its share, a row of files, and gets the results of the others. If they have not opened the same,
 * each checks all. Part 0 gets no share if it `gathers` values, unless it is alone. All parts call
 * it. STATUS_NO_MEMORY: of any part.
 */
enum status load_job_share(struct load_job *job, struct comm *c, bool gathers, unsigned n_workers);
/* The process goes on alone: from now on it reads the values of all files. */
void load_job_read_all(struct load_job *job);
void load_job_close(struct load_job *job);

#endif
