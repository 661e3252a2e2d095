/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes rows of files that have no GPU in common. Finding the idle time of a GPU needs everything
 * that ran on it, and what the processes that used it did meanwhile. Test:
 * tests/unit/prof_parts/test_parts_gpu.c.
 */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_DEVICES_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_DEVICES_H

#include "hpcprof-lite/load/job/load_job.h"

/* True if some file has a GPU. All parts get the same result, as from the next function. */
bool load_devices_any(const struct load_job *job);
/*
 * Moves the beginning of each row to the nearest file at which no GPU is in two rows. *fits: the
 * rows are still even. False: memory is short.
 */
bool load_devices_keep(const struct load_job *job, uint64_t *first, bool *fits);

#endif
