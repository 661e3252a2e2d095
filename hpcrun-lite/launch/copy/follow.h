/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process that copies measurement files from a directory of this node while their processes
 * run. If the node fails, only what was recorded since the last copy is lost. Each directory has
 * one copying process, whatever the number of ranks; it holds a lock on the directory. It ends soon
 * after the last of the measured processes. Test: tests/cli/storage/storage_follow.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_COPY_FOLLOW_H
#define HPCRUN_LITE_LAUNCH_COPY_FOLLOW_H

#include "common/base/status.h"

/* hpcrun-lite FOLLOW_ARGUMENT DIRECTORY LOCAL PID START [MILLISECONDS]: not for users. */
#define FOLLOW_ARGUMENT "--follow"
#define FOLLOW_LOCK 3 /* descriptor of LOCAL, with the lock */

#define FOLLOW_PERIOD_VARIABLE "HPCTOOLKIT_LITE_COPY_MS" /* for tests; 0: no copies */

struct follow_request {
	const char *directory, *local; /* copies from `local` to `directory` */
	/*
	 * The process that starts the copies; see job_process_start(). Its program may create its
	 * file much later.
	 */
	const char *pid, *start_ticks;
	const char *period_ms; /* NULL: FOLLOW_PERIOD_MS */
};

/* Copies each period, but takes 2% of the time at most. */
#define FOLLOW_PERIOD_MS 30000
enum status follow(const struct follow_request *r);

#endif
