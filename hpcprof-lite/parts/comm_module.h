/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hpcprof-lite-mpi.so exports. Only this module is linked with MPI, and only ranks of a job
 * load it. The main thread calls these functions. MPI ends the job if one of its calls fails.
 */
#ifndef HPCPROF_PARTS_COMM_MODULE_H
#define HPCPROF_PARTS_COMM_MODULE_H

#include "hpcprof-lite/parts/comm.h"

#define COMM_MODULE "hpcprof-lite-mpi.so"
#define COMM_MODULE_SYMBOL "hpcprof_lite_mpi"

struct comm_module {
	size_t n_bytes; /* of this struct */
	/* Starts MPI. Sets rank and size of `c`, and the name and version of the library. */
	void (*begin)(struct comm *c, char *library, size_t bytes);
	void (*end)(void);
	struct comm_ops ops;
};

#endif
