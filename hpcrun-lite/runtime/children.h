/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of the children of the process: how they ended, what CPU time they took, and which
 * programs could not be measured. Written into the file of the process that knows it; hpcprof-lite
 * puts it together. All functions keep errno and do nothing in a process that is not measured.
 * Signal-safe. Test: tests/cli/run_children.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CHILDREN_H
#define HPCRUN_LITE_RUNTIME_CHILDREN_H

#include "common/format/measurement.h"

#include <sys/resource.h>

/* The process starts, or has just been forked: `forked` children have no children of their own. */
void children_start(bool forked);

/* A child ended and was waited for; `status` as wait(2) gives it, `use` as wait4(2) does. */
void children_ended(int pid, int status, const struct rusage *use);

/*
 * Process `pid` runs a program that cannot be measured, or is about to. `replaces`: it is the
 * calling process, whose CPU time so far is not the program's. NULL: not recorded.
 */
struct msr_unmeasured *children_unmeasured(int pid, enum msr_unmeasured_reason reason,
                                           const char *path, bool replaces);
/* The program was not started after all. NULL is allowed. */
void children_not_started(struct msr_unmeasured *record);

/* The process ends or becomes another program. */
void children_finish(void);

#endif
