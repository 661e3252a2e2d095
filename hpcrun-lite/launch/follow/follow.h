/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process that copies measurement files from a directory of this node while their processes
 * run: what is lost with the node is what was recorded since the last time. There is one for each
 * such directory, whatever the number of ranks; it has the directory locked. It ends soon after the
 * last of the processes. Test: tests/cli/storage/storage_follow.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_FOLLOW_FOLLOW_H
#define HPCRUN_LITE_LAUNCH_FOLLOW_FOLLOW_H

#include "common/base/status.h"

/* hpcrun-lite FOLLOW_ARGUMENT DIRECTORY LOCAL [MILLISECONDS]: not for users. */
#define FOLLOW_ARGUMENT "--follow"
#define FOLLOW_LOCK 3 /* descriptor of LOCAL, with the lock */

#define FOLLOW_PERIOD_VARIABLE "HPCTOOLKIT_LITE_COPY_MS" /* for tests */

/*
 * Copies from `local` to `directory` each `period_ms`, or FOLLOW_PERIOD_MS if that is NULL, but
 * takes 2% of the time at most.
 */
#define FOLLOW_PERIOD_MS 30000
enum status follow(const char *directory, const char *local, const char *period_ms);

#endif
