/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of an MPI program as parts of hpcprof-lite. MPI is in a module that is loaded only if a
 * launcher started several ranks. Test: tests/cli/parts/parts_ranks.sh.
 */
#ifndef HPCPROF_PARTS_COMM_MPI_H
#define HPCPROF_PARTS_COMM_MPI_H

#include "hpcprof-lite/parts/comm.h"

enum comm_mpi_use {
	COMM_MPI_AUTO,   /* if a launcher started this process itself, not through a script */
	COMM_MPI_ALWAYS, /* if a launcher started it, itself or through a script */
	COMM_MPI_NEVER
};

/*
 * Starts MPI if this process is one of several ranks; else sets n_parts to 1. Warns if this build
 * has no MPI, and sets n_parts to 1. STATUS_UNSUPPORTED, which is logged: the launcher belongs to
 * another MPI, or `command`, a hash of version and arguments, is not the same in all ranks. Ends
 * the process with status 1 if the other ranks do not start within two minutes.
 */
enum status comm_mpi_begin(struct comm *c, enum comm_mpi_use use, uint64_t command);
/* All parts call it, or none. */
void comm_mpi_end(struct comm *c);

#endif
