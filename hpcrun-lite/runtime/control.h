/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting and stopping the measurement (hpctoolkit.h), for the process as a whole: process.off says how it stands, and each thread follows by itself. Tests: tests/cli/control.sh, tests/cli/control_gpu.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CONTROL_H
#define HPCRUN_LITE_RUNTIME_CONTROL_H

#include <stdbool.h>

/* At the start of a measured process, before it has threads of ours; in the child of fork, which stays as its parent was, after store_open. */
void control_start_process(bool off);
void control_forked(void);

/* Measurement goes off for good: the file is damaged. Signal-safe. */
void control_give_up(void);

/* The process that was about to end goes on: what it was asked for meanwhile is done. Signal-safe. */
void control_go_on(void);

/*
 * On or off from now on. What arrives later is not recorded, whatever thread it arrives in; sources of other threads stop as soon as those have taken a signal. Nothing happens where it is so already, and in processes that are not
 * measured. From several threads at once the last call counts. Signal-safe; keeps errno.
 */
void control_set(bool off);

#endif
