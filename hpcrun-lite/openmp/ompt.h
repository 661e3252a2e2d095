/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter for OpenMP run times that report regions to a tool (OMPT): LLVM's libomp and Intel's.
 * They find ompt_start.c, and report regions to ompt_region.c. See doc/openmp.md.
 */
#ifndef HPCRUN_LITE_OPENMP_OMPT_H
#define HPCRUN_LITE_OPENMP_OMPT_H

#include "hpcrun-lite/openmp/ompt_api.h"

#include <stdbool.h>

/*
 * At the start of a process: tells the user if the program has a tool of its own, which run times
 * find before us. Not signal-safe.
 */
void ompt_start(void);

/*
 * Asks the run time to report regions. Returns false if it cannot report everything that we need;
 * the run time must then report nothing. Not signal-safe.
 */
bool ompt_region_start(ompt_function_lookup_t *lookup);

#endif
