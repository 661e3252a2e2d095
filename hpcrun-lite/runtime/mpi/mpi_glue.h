/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of MPI in this process: their paths, and their sums in the file. Costs nothing in a process
 * that was not asked for MPI. Not signal-safe. Tests: tests/unit/mpi/test_mpi_sums.c,
 * tests/cli/mpi/mpi_truth.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_MPI_MPI_GLUE_H
#define HPCRUN_LITE_RUNTIME_MPI_MPI_GLUE_H

#include "hpcrun-lite/mpi/mpi.h"

/* For entries.c: the table, if this process was asked for MPI and is measured; NULL otherwise. */
const struct mpi_host *mpi_glue_host(void);
/* In a forked child, after store_open. */
void mpi_glue_forked(void);

#endif
