/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums over the parallel regions that a thread forks: one record (OMP_REGION) for each place
 * of a fork, function and size of the team. The sums are in anonymous memory. We copy them to the
 * measurement file after samples and at the end, because a write to the file needs precautions that
 * cost too much in a region (file_fault.h). Test: tests/unit/openmp/test_region_sums.c.
 */
#ifndef HPCRUN_LITE_REGIONS_REGION_SUMS_H
#define HPCRUN_LITE_REGIONS_REGION_SUMS_H

#include "common/format/measurement.h"
#include "hpcrun-lite/regions/region.h"

enum { REGION_MAX_SUMS = 512 }; /* records of a thread; further regions share one more */

/*
 * Call once per process. `packed` returns the packed address (format/measurement.h) of a run-time
 * address, or 0 if the address means nothing to users. It may write to the file.
 */
void region_sums_start(uint64_t (*packed)(uintptr_t runtime_pc));

/* Adds an instance that has ended. Not signal-safe. */
void region_sums_add(struct region_thread *t, const struct region *r, uint64_t elapsed_ns);

/*
 * Copies to the file what has changed since the last call. Call it inside the tool: in our handler,
 * or at the end of the thread or the process, perhaps from another thread. Sets the thread record's
 * count of instances that no sum in the file contains (MSR_LOSS_OMP_SUMS). Signal-safe.
 */
void region_sums_write(struct region_thread *t, struct msr_thread *record);

/* The same at the end of the thread; gives unused space back to the store. */
void region_sums_finish(struct region_thread *t, struct msr_thread *record);

/*
 * At the end of the process, after the last write: counts the regions of the thread that have not
 * ended as missing in the sums.
 */
void region_sums_count_open(const struct region_thread *t, struct msr_thread *record);

/* At the start of a record, also in a forked child: there are no sums, and none in the file. */
void region_sums_reset(struct region_thread *t);

#endif
