/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI calls in this process: their paths, and their sums in the file. Costs nothing if the user did
 * not ask for MPI. Not signal-safe. Tests: tests/unit/mpi/test_mpi_sums.c,
 * tests/cli/mpi/mpi_truth.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_GLUE_MPI_GLUE_H
#define HPCRUN_LITE_RUNTIME_GLUE_MPI_GLUE_H

#include "common/format/measurement.h"
#include "hpcrun-lite/mpi/mpi.h"

struct thread;

/* For entries.c: the table if the user asked for MPI and this process is measured; else NULL. */
const struct mpi_host *mpi_glue_host(void);

/* A row of runtime/life/parts.h. */
void mpi_glue_forked(void);
void mpi_glue_thread_reset(struct thread *t);
void mpi_glue_thread_ends(struct thread *t);
void mpi_glue_trim(struct thread *self, enum msr_exit_kind kind);

#endif
