/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All measurement files of some directories, opened side by side and put in their lasting order: rank, host, pid, exec number, start, path.
 * Test: tests/unit/test_load.c, tests/cli/prof_cli.sh.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_JOB_H
#define HPCPROF_LITE_LOAD_LOAD_JOB_H

#include "hpcprof-lite/load/load_file.h"

struct load_job {
	VEC(struct load_file) files;
	unsigned n_short; /* files too short to hold anything: processes that died at once */
};

/*
 * Opens every *.hpcrun in the directories; a directory or file that is named twice counts once. STATUS_NOT_FOUND when there is none, STATUS_UNSUPPORTED or
 * STATUS_BAD_INPUT when one is not ours; logged. n_workers as in pool_run(). Free with load_job_close() whatever came back.
 */
enum status load_job_open(char *const *directories, size_t n_directories, unsigned n_workers, struct load_job *job);
void load_job_close(struct load_job *job);

#endif
