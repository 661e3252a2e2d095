/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of MPI in generated measurements: adds an extent to the file that gen_close() wrote.
 * Nodes are those of gen_child().
 */
#ifndef TESTS_GEN_GEN_MPI_H
#define TESTS_GEN_GEN_MPI_H

#include "common/format/measurement_mpi.h"

#include <stddef.h>

/* kind: MSR_MPI_COMM, MSR_MPI_CALL or MSR_MPI_COLLECTIVE; n records of this kind. */
void gen_mpi_add(const char *path, enum msr_kind kind, uint32_t thread, const void *records,
		 size_t n);

#endif
