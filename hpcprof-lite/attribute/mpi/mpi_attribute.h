/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI: metrics, then the sums of calls, what of them is waiting, and the part of the model about
 * MPI. Parts that share the files of a job have only the calls of their files, and no sites. Tests:
 * tests/unit/prof_mpi/test_mpi_model.c, tests/cli/mpi/mpi_truth.sh.
 *
 * What a call waited is known for collective calls whose arrivals were all recorded (mpi_waits.h).
 * For other calls it is an estimate: the shortest call of the same function and size class in the
 * process is taken for the transfer, and the rest waits. Calls that return at once, and those of
 * files, do not wait.
 */
#ifndef HPCPROF_ATTRIBUTE_MPI_MPI_ATTRIBUTE_H
#define HPCPROF_ATTRIBUTE_MPI_MPI_ATTRIBUTE_H

#include "hpcprof-lite/attribute/topic/topic.h"

extern const struct topic_ops topic_mpi;

#endif
