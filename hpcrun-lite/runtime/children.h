/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records what happens to the children of the process: how they ended, their CPU time, and which
 * programs could not be measured. Each process writes what it knows into its own file; hpcprof-lite
 * combines the files. Hooks call runtime.h instead. All functions keep errno, are signal-safe and
 * do nothing in a process that is not measured. Test: tests/cli/run/run_children.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CHILDREN_H
#define HPCRUN_LITE_RUNTIME_CHILDREN_H

#include "common/format/measurement.h"

#include <sys/resource.h>

/* At the start of a process, and in a forked child, which has no children yet. */
void children_start(void);
void children_forked(void);

/* The process ends or runs another program. */
void children_finish(void);

#endif
