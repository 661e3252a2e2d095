/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All measurement files of some directories. They are opened in parallel and then sorted for good
 * by rank, host, pid, exec number, start and path. Test: tests/unit/prof/test_load.c,
 * tests/cli/prof/prof_cli.sh.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_JOB_H
#define HPCPROF_LITE_LOAD_LOAD_JOB_H

#include "hpcprof-lite/load/load_file.h"

struct load_job {
	VEC(struct load_file) files;
	unsigned n_short; /* files too short to hold anything: their processes died at once */
};

/*
 * Opens every *.hpcrun file in the directories. A directory or file that is named twice counts
 * once. Failures are logged: STATUS_NOT_FOUND: there is no such file; STATUS_UNSUPPORTED or
 * STATUS_BAD_INPUT: one is not a measurement file of ours. n_workers: as in pool_run(). In all
 * cases free with load_job_close().
 */
enum status load_job_open(char *const *directories, size_t n_directories, unsigned n_workers,
	struct load_job *job);
void load_job_close(struct load_job *job);

#endif
