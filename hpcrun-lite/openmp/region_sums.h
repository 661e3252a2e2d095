/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums over the parallel regions that a thread forks: one record (OMP_REGION) for each place
 * of a fork, function and size of the team. They are summed up in anonymous memory and copied to
 * the measurement file after samples and at the end, because only these places are safe from a
 * file that another process truncates. Test: tests/unit/openmp/test_region_sums.c.
 */
#ifndef HPCRUN_LITE_OPENMP_REGION_SUMS_H
#define HPCRUN_LITE_OPENMP_REGION_SUMS_H

#include "hpcrun-lite/openmp/region.h"

/* Adds an instance that has ended. */
void region_sums_add(struct region_thread *t, const struct region *r, uint64_t elapsed_ns);

/*
 * Copies what has changed since the last call to the file. Call it inside the tool: in our handler,
 * or when the thread or the process ends. `thread` is the thread's number in the file. Signal-safe.
 */
void region_sums_write(struct region_thread *t, uint32_t thread);

/* In a forked child: the sums so far belong to the parent. */
void region_sums_forget(struct region_thread *t);

#endif
