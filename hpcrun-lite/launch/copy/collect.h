/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies measurement files from this node to the measurement directory, where a file of the same
 * name waits for the data (local_data.h). The end of a process copies the files of that process.
 * hpcrun-lite --collect copies what is left. Tests: tests/cli/storage/storage_local.sh,
 * tests/cli/storage/storage_proof.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_COPY_COLLECT_H
#define HPCRUN_LITE_LAUNCH_COPY_COLLECT_H

#include "common/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Copies all files of this node to a measurement directory. Says what was copied and what is on
 * other hosts. Returns STATUS_OK if nothing is left but data of processes that still run. `place`
 * is NULL, or the absolute path that the user gave to --local.
 */
enum status collect_directory(const char *directory, const char *place);

/*
 * For the run time (CONFIG_COLLECT): waits until standard input ends, then copies the file of one
 * process, and the files that this pid wrote before an exec. `local` has the data of `target`.
 * `left` is NULL, or the file of an ancestor that the process used before it had its own.
 */
enum status collect_process(const char *target, const char *local, const char *left);

enum collect_result {
	COLLECT_DONE,      /* copied, or nothing was left to copy */
	COLLECT_RUNS,      /* the process runs */
	COLLECT_GONE,      /* the data do not exist */
	COLLECT_NO_TARGET, /* the measurement directory has no file for these data; they stay */
	COLLECT_FAILED     /* logged; the data stay */
};

enum collect_for {
	COLLECT_FOR_USER,
	COLLECT_FOR_OWNER,   /* a process that ends asks for its own file */
	COLLECT_FOR_FOLLOWER /* does not wait for another copy of the file: COLLECT_RUNS */
};

/*
 * Copies one file, adds the bytes written to *n_bytes, and removes `local` if no process writes to
 * it any more.
 */
enum collect_result collect_file(const char *local, const char *target, enum collect_for who,
				 uint64_t *n_bytes);

#endif
