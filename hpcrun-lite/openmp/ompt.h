/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter for run times of OpenMP that report regions to a tool (OMPT): LLVM's libomp and
 * Intel's. ompt_start.c is found by them, ompt_region.c is told of regions. See doc/openmp.md.
 */
#ifndef HPCRUN_LITE_OPENMP_OMPT_H
#define HPCRUN_LITE_OPENMP_OMPT_H

#include "hpcrun-lite/openmp/ompt_api.h"

#include <stdbool.h>

/*
 * At the start of a process: says so if the program has a tool of its own, which run times find
 * before us. Not signal-safe.
 */
void ompt_start(void);

/*
 * Asks the run time to report regions. Returns false if it cannot report all that we need; then it
 * must not report anything. Not signal-safe.
 */
bool ompt_region_start(ompt_function_lookup_t *lookup);

#endif
