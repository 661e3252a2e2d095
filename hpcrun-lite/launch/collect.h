/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcrun-lite --collect: copies measurement files from this node to the measurement directory,
 * where a file of the same name waits for the data (local_data.h). The run time starts it when a
 * process ends; a user starts it for what is left. Test: tests/cli/storage/storage_local.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_COLLECT_H
#define HPCRUN_LITE_LAUNCH_COLLECT_H

#include "common/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * `what` is a measurement directory: says what was copied and what is on other hosts, and returns
 * STATUS_OK if nothing is left or only data of processes that run. Or `what` is a file in it, and
 * `local` its data: copies it, prints a newline, and then copies what processes have left that
 * ended without a chance to have it copied.
 */
enum status collect(const char *what, const char *local);

enum collect_result {
	COLLECT_DONE,     /* copied, or nothing was left to copy */
	COLLECT_RUNS,     /* the process runs */
	COLLECT_GONE,     /* there are no such data, or the user has removed their place */
	COLLECT_FAILED    /* logged; the data stay */
};

/*
 * *n_bytes.
 */
enum collect_result collect_file(const char *local, const char *target, uint64_t *n_bytes);

#endif
