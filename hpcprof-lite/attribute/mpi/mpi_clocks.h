/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds one clock for several hosts from the collective calls alone. No process leaves a barrier
 * before all have entered it. So each barrier between two hosts bounds the difference of their
 * clocks from both sides; the error is half the distance between the bounds. A bound also holds at
 * other times, less tightly: two clocks drift apart by at most 100 us in a second. The method is
 * that of Duda, Harrus, Haddad and Bernard, "Estimating global time in distributed systems" (ICDCS
 * 1987). It uses this drift bound instead of their straight line, because NTP keeps adjusting the
 * clocks.
 *
 * This needs no extra messages, so it also works if only some processes are measured. Test:
 * tests/unit/prof_mpi/test_mpi_waits.c.
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
 * Changes the start times (time of day) of processes on other hosts, so that all times are by the
 * first host's clock. *error_ns: the error between any two hosts; 0 if there is one host;
 * UINT64_MAX if some host could not be compared. That host keeps its own time of day. Hosts that
 * were rebooted between two runs cannot be compared. False if memory is short.
 */
bool mpi_clocks_align(struct load_job *job, uint64_t *error_ns);

extern const struct topic_ops topic_clocks;

#endif
