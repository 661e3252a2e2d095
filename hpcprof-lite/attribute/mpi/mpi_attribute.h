/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI steps of attribution, in the order of these functions: metrics, then the sums of calls,
 * what of them is waiting, and the part of the model about MPI. False: memory is short. Tests:
 * tests/unit/prof_mpi/test_mpi_model.c, tests/cli/mpi/mpi_truth.sh.
 *
 * What a call waited is known for collective calls whose arrivals were all recorded (mpi_waits.h).
 * For other calls it is an estimate: the shortest call of the same function and size class in the
 * process is taken for the transfer, and the rest waits. Calls that return at once, and those of
 * files, do not wait.
 */
#ifndef HPCPROF_ATTRIBUTE_MPI_MPI_ATTRIBUTE_H
#define HPCPROF_ATTRIBUTE_MPI_MPI_ATTRIBUTE_H

#include "hpcprof-lite/attribute/mpi/mpi_waits.h"
#include "hpcprof-lite/attribute/sum/sum.h"
#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

enum { MPI_METRIC_TIME, MPI_METRIC_WAIT, MPI_METRIC_CALLS, MPI_METRIC_SENT, MPI_METRIC_RECEIVED,
	MPI_N_METRICS };

/* Zero-initialise. */
struct mpi_part {
	bool is_present;
	uint32_t metric_of[MPI_N_METRICS]; /* index in the model */
	sum_extras extras;                 /* `thread` is the profile; sorted by it */
};

/* Call it after all other metrics are described. */
bool mpi_describe_metrics(struct mpi_part *p, const struct load_job *job, struct model *m);
/*
 * Call it when the profiles and the final contexts of their nodes exist. Parts that share the files
 * of a job have only the calls of their files afterwards, and no sites.
 */
bool mpi_attribute(struct mpi_part *p, const struct load_job *job, struct model *m,
	const struct topic_where *where);
void mpi_part_free(struct mpi_part *p);

extern const struct topic_ops topic_mpi;

#endif
