/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether the launcher started this process, or a rank did, such as a script that the
 * launcher started. The process then has inherited the variables of that rank, but other ranks need
 * not start hpcprof-lite as well. Test: tests/cli/parts/parts_alone.sh.
 */
#ifndef HPCPROF_PARTS_PARENT_H
#define HPCPROF_PARTS_PARENT_H

#include "common/safe/launcher.h"

#include <stdbool.h>

/* True if the parent process began with the same variables of `l`. False if that is not known. */
bool parent_is_rank(const struct launcher *l);

#endif
