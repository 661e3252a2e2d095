/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the phases that a program marked (PHASE) from a measurement file. Tests:
 * tests/unit/prof_parallel/test_view_phases.c, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_PHASES_H
#define HPCPROF_LITE_LOAD_LOAD_PHASES_H

#include "hpcprof-lite/load/load_file.h"

/* Adds the records of an extent to f->phases; counts damage. */
enum status load_phases(struct load_file *f, const struct msr_view *v);
/*
 * Finds the threads of phases and clears damaged places. Call it when the nodes of all threads are
 * checked.
 */
void load_check_phases(struct load_file *f);

#endif
