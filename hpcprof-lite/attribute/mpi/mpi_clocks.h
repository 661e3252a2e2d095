/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One clock for several hosts, from the collective calls alone. Nobody leaves a barrier before
 * everybody has entered it. So each barrier between two hosts bounds the difference of their clocks
 * from both sides, and half of what is between the bounds is the error. A bound also holds at
 * other times, less tightly: two clocks drift apart by at most 100 us in a second. The method is
 * that of Duda, Harrus, Haddad and Bernard, "Estimating global time in distributed systems" (ICDCS
 * 1987), with this in place of a line, because the network disciplines clocks.
 *
 * A process sends no message for this, so it also works where only some processes are measured.
 * Test: tests/unit/prof_mpi/test_mpi_waits.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MPI_MPI_CLOCKS_H
#define HPCPROF_ATTRIBUTE_MPI_MPI_CLOCKS_H

#include "hpcprof-lite/attribute/mpi/mpi_arrivals.h"
#include "hpcprof-lite/attribute/topic/topic.h"

/*
 * Converts the times of all arrivals to the clock of the first host. *error_ns: as
 * model_mpi.clock_error_ns. False if memory is short.
 */
bool mpi_clocks_join(struct mpi_arrivals *a, const struct load_job *job, uint64_t *error_ns);

/*
 * Changes the time of day at which processes of other hosts started, so that all their times are
 * those of the first host's clock. *error_ns: of times on any two hosts; UINT64_MAX if some host
 * could not be compared, which keeps its own time of day; 0 if there is one host. Hosts that were
 * rebooted between two runs cannot be compared. False if memory is short.
 */
bool mpi_clocks_align(struct load_job *job, uint64_t *error_ns);

extern const struct topic_ops topic_clocks;

#endif
