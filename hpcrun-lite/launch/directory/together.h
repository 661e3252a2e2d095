/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that run side by side, started by a tool that gives them no ranks: GNU parallel, xargs
 * -P, a loop of ssh. Not for the measured process. Test: tests/cli/launch/launch_together.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_DIRECTORY_TOGETHER_H
#define HPCRUN_LITE_LAUNCH_DIRECTORY_TOGETHER_H

#include <stdbool.h>

/*
 * Returns true if the directory contains a run of these processes that is in progress: one of them
 * runs on this host, or one was started or ended within the last TOGETHER_S seconds on any host.
 */
#define TOGETHER_S 3
bool together_is_going_on(const char *directory);

/*
 * True if the processes of a run in progress have all ended, as those of a command that was run
 * twice. False if that is not known: for processes of other hosts, or more than TOGETHER_FEW.
 */
#define TOGETHER_FEW 64
bool together_is_over(const char *directory);

struct msr_header;

/*
 * Returns true if the process of this header runs on this host: it has not written its end, and no
 * later process has its id.
 */
bool together_is_running(const struct msr_header *h);

#endif
