/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement directory: made, or found when another rank of the same run made it. A file "job"
 * in it says whose it is. Ranks of one run that start at the same moment on many nodes agree
 * without waiting for each other; two runs that a launcher names never get the same directory. Not
 * for the measured process. Test: tests/cli/launch_dir.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_RUNDIR_H
#define HPCRUN_LITE_LAUNCH_RUNDIR_H

#include "common/base/status.h"
#include "hpcrun-lite/launch/job.h"

#include <stddef.h>

#define RUNDIR_JOB_FILE "job"

/*
 * `wanted` is the directory that the user named, or NULL for
 * hpctoolkit-lite-<program>-measurements[-<job>] in the current directory. Where that name is
 * another run's, "-2", "-3" ... are added; of a name that the user gave this is said. Processes
 * that no launcher names share a directory of the user's if they run at the same time (together.h).
 * Where a launcher tells its ranks nothing that is known on all nodes (MPICH's without a batch
 * system), the default is one directory a node. On success `path` is its absolute path. STATUS_IO:
 * nothing can be written there (logged).
 */
enum status rundir_open(const char *wanted, const char *program, const struct job *job, char *path, size_t path_bytes);

#endif
