/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel regions of OpenMP in this process. This is a row of runtime/life/parts.h, which says
 * when each function is called. Tests: tests/cli/openmp/omp_paths.sh,
 * tests/cli/openmp/omp_report.sh.
 */
#ifndef HPCRUN_LITE_OPENMP_OPENMP_GLUE_H
#define HPCRUN_LITE_OPENMP_OPENMP_GLUE_H

struct thread;
struct thread_room;

void openmp_glue_start(void);
void openmp_glue_thread_reset(struct thread *t);
void openmp_glue_thread_begins(struct thread *t, const struct thread_room *room);
void openmp_glue_thread_ends(struct thread *t);
/* Writes the sums of every live thread that is not inside the tool. */
void openmp_glue_write(void);

#endif
