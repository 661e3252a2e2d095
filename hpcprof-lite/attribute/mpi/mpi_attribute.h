/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds MPI to the model: metrics, the sums of calls, how much of them is waiting, and the part of
 * the model about MPI. If parts share the files of a job, each has only the calls of its own files,
 * and there are no sites. Tests: tests/unit/prof_mpi/test_mpi_model.c, tests/cli/mpi/mpi_truth.sh.
 *
 * The waiting time is known for collective calls whose arrivals were all recorded (mpi_waits.h).
 * For other calls it is estimated: the shortest call of the same function and size class in the
 * process counts as the transfer, but no more than a slow network takes for the message, and the
 * rest as waiting. Calls that return at once do not wait, nor do calls for files.
 */
#ifndef HPCPROF_ATTRIBUTE_MPI_MPI_ATTRIBUTE_H
#define HPCPROF_ATTRIBUTE_MPI_MPI_ATTRIBUTE_H

#include "hpcprof-lite/attribute/topic/topic.h"

extern const struct topic_ops topic_mpi;

#endif
