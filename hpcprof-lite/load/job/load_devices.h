/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of files that have no GPU in common: idle time is found from all that ran on a GPU, and what
 * the processes that used it did meanwhile. Test: tests/unit/prof_parts/test_parts_gpu.c.
 */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_DEVICES_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_DEVICES_H

#include "hpcprof-lite/load/job/load_job.h"

/* True if some file has a GPU. All parts find the same, as in the next function. */
bool load_devices_any(const struct load_job *job);
/*
 * Moves the first files of rows to the nearest ones where no GPU is in two rows. *fits: the rows
 * are still even. False: memory is short.
 */
bool load_devices_keep(const struct load_job *job, uint64_t *first, bool *fits);

#endif
