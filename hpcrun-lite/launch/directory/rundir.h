/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement directory: created, or found if another rank of the same run created it. A file
 * "job" in it identifies the run. Ranks of one run that start at the same moment on many nodes
 * agree without waiting for each other. Two runs that a launcher identifies never get the same
 * directory. Not for the measured process. Test: tests/cli/launch/launch_dir.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_DIRECTORY_RUNDIR_H
#define HPCRUN_LITE_LAUNCH_DIRECTORY_RUNDIR_H

#include "common/base/status.h"
#include "hpcrun-lite/launch/directory/job.h"

#include <stddef.h>

#define RUNDIR_JOB_FILE "job"

/*
 * `wanted` is the directory that the user named, or NULL for
 * hpctoolkit-lite-<program>-measurements[-<job>] in the current directory. If another run has that
 * name, "-2", "-3" ... is appended, with a warning if the user gave the name. On success `path` is
 * the absolute path. STATUS_IO (logged): cannot write there.
 *
 * Processes without a launcher share a directory named by the user if they run at the same time
 * (together.h). If a launcher gives its ranks nothing that is known on all nodes (MPICH's without a
 * batch system), the default is one directory per node.
 */
enum status rundir_open(const char *wanted, const char *program, const struct job *job, char *path,
			size_t path_bytes);

#endif
