/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All measurement files of some directories. They are opened in parallel and then sorted by rank,
 * host, pid, exec number, start and path. This order is final. Test: tests/unit/prof/test_load.c,
 * tests/cli/prof/prof_cli.sh.
 */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_JOB_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_JOB_H

#include "common/base/map.h"
#include "hpcprof-lite/load/load_file.h"

struct comm;

struct load_job {
	VEC(struct load_file) files;
	/* Set before opening. Files to leave out, by (device, inode); NULL: none. Borrowed. */
	const struct map *skipped;
	bool leaves_lines; /* set before opening: time lines are not read */
	unsigned n_short; /* files too short to hold anything: their processes died at once */
	/*
	 * Set before opening, if several processes share the job. NULL: this process works alone.
	 */
	struct comm *comm;
	/*
	 * The first file of each part, with an end entry. Each part reads the cells and time lines
	 * of its files; this process is `part`. NULL: it reads those of all files. Owned.
	 */
	uint64_t *first_file;
	int part;
	bool is_split; /* some files' trees are in one part only: see struct load_file */
};

/* True if this process reads cells and time lines of the file for all others. */
static inline bool load_is_own(const struct load_job *job, size_t file)
{
	return !job->first_file ||
	       (file >= job->first_file[job->part] && file < job->first_file[job->part + 1]);
}

/*
 * True if only this process works on the contents of the file. What all processes need is exchanged
 * later.
 */
static inline bool load_is_found(const struct load_job *job, size_t file)
{
	return !job->is_split || load_is_own(job, file);
}

/*
 * Opens every *.hpcrun file in the directories. A directory or file that is named twice counts
 * once. Failures are logged: STATUS_NOT_FOUND: there is no such file; STATUS_UNSUPPORTED or
 * STATUS_BAD_INPUT: one is not a measurement file of ours. n_workers: as in pool_run(). In all
 * cases free with load_job_close().
 *
 * With `comm`, all parts call it, each reads its share, and all get the same status: STATUS_DIFFERS
 * if they find that they did not read the same files.
 */
enum status load_job_open(char *const *directories, size_t n_directories, unsigned n_workers,
	struct load_job *job);
void load_job_close(struct load_job *job);

#endif
