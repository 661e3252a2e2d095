/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a launcher started this process, or a rank did: a script, say, which the launcher started
 * and whose variables this process has inherited. Then other ranks need not start hpcprof-lite as
 * well. Test: tests/cli/parts/parts_alone.sh.
 */
#ifndef HPCPROF_PARTS_PARENT_H
#define HPCPROF_PARTS_PARENT_H

#include "common/safe/launcher.h"

#include <stdbool.h>

/* True if the parent process began with the same variables of `l`. False if nobody can tell. */
bool parent_is_rank(const struct launcher *l);

#endif
