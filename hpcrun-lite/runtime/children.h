/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of the children of the process: how they ended, what CPU time they took, and which
 * programs could not be measured. Written into the file of the process that knows it; hpcprof-lite
 * puts it together. What hooks call is in runtime.h. All functions keep errno and do nothing in a process that is not measured.
 * Signal-safe. Test: tests/cli/run_children.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CHILDREN_H
#define HPCRUN_LITE_RUNTIME_CHILDREN_H

#include "common/format/measurement.h"

#include <sys/resource.h>

/* The process starts, or has just been forked: `forked` children have no children of their own. */
void children_start(bool forked);

/* The process ends or becomes another program. */
void children_finish(void);

#endif
