/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the sums of parallel regions (OMP_REGION) from a measurement file. Tests:
 * tests/unit/prof/test_load.c, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_REGIONS_H
#define HPCPROF_LITE_LOAD_LOAD_REGIONS_H

#include "hpcprof-lite/load/load_file.h"

/* Adds the records of an extent to f->regions; counts damage. */
enum status load_regions(struct load_file *f, const struct msr_view *v);

/*
 * Drops records that name a module that the file does not have. Call it when all extents are read.
 */
void load_check_regions(struct load_file *f);

#endif
