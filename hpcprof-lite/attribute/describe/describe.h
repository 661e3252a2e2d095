/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills the model's metrics, processes and threads from their records: names, times of
 * CLOCK_REALTIME, ledgers, and the location of the time lines. Call the functions in the order of
 * this file. They return false if memory is short. Test: tests/unit/prof/test_order.c,
 * tests/unit/prof/test_ledger.c.
 */
#ifndef HPCPROF_ATTRIBUTE_DESCRIBE_DESCRIBE_H
#define HPCPROF_ATTRIBUTE_DESCRIBE_DESCRIBE_H

#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

/*
 * Metrics of different files are the same if name and unit are equal. They are ordered by file,
 * then by id.
 */
bool describe_metrics(struct model *m, const struct load_job *job);
/* The metric of a record; MODEL_NONE: none. */
uint32_t describe_metric(const struct model *m, const struct msr_metric *r);
/* Sets is_time by metric id of the file: whether the metric is a time (struct model_metric). */
void describe_is_time(const struct model *m, const struct load_file *f,
	bool is_time[MSR_MAX_METRICS]);
/*
 * Sets, by metric, how many units of the measurement make one unit of the model ("sec" from ns:
 * 1e9).
 */
void describe_divisors(const struct model *m, double *divisors);
/*
 * last_moments: by file, a later CLOCK_MONOTONIC time at which the process was known to be alive;
 * 0: unknown.
 */
bool describe_processes(struct model *m, const struct load_job *job, const uint64_t *last_moments);
/*
 * Makes profiles in the order of files and thread numbers, with their ledgers. After the profiles
 * of each file it leaves room for n_more[file] others. Also makes room for the time lines.
 * n_workers: as in pool_run().
 */
bool describe_profiles(struct model *m, struct load_job *job, const uint32_t *n_more,
	unsigned n_workers);
/*
 * Makes the time line of a thread whose node_to[] and shown_to[] hold contexts, and takes ownership
 * of both arrays. Several threads may call it for different lines at the same time.
 */
bool describe_timeline(const struct model *m, const struct load_file *f, struct load_thread *t,
	struct model_timeline *line);
/*
 * Sets the title, the start and end times, and the ledger of the whole. `c`: the parts that share
 * the threads, or NULL; this ends a step of the parts. False if memory is short.
 */
bool describe_whole(struct model *m, struct comm *c);
/*
 * Sets the start and end times and has_traces, from the processes and profiles. describe_whole()
 * calls it. False if memory is short.
 */
bool describe_times(struct model *m);

#endif
