/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts the process that copies from this node while programs run (follow.h). Test:
 * tests/cli/storage/storage_follow.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_COPY_FOLLOW_START_H
#define HPCRUN_LITE_LAUNCH_COPY_FOLLOW_START_H

#include "hpcrun-lite/config/config.h"

/*
 * Call this last before the launcher becomes the program. Does nothing if the files are not on the
 * node, if a process copies from that directory already, or if the program would inherit it as a
 * child. Reports no errors: without it, the files are copied when their processes end.
 */
void follow_start(const struct config *c);

#endif
