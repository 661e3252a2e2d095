/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the model says of metrics, processes and threads, taken from their records: names, times of CLOCK_REALTIME, ledgers, where the time lines are.
 * The functions are called in the order in which they stand here. They return false when memory is short. Test: tests/unit/test_order.c, tests/unit/test_ledger.c.
 */
#ifndef HPCPROF_ATTRIBUTE_DESCRIBE_H
#define HPCPROF_ATTRIBUTE_DESCRIBE_H

#include "hpcprof-lite/load/load_job.h"
#include "hpcprof-lite/model/private.h"

/* Metrics of different files are one when name and unit are. They come in the order of the files, then of their ids. */
bool describe_metrics(struct model *m, const struct load_job *job);
/* By metric: how many units of the measurement make one of the model's ("sec" from ns: 1e9). */
void describe_divisors(const struct model *m, double *divisors);
/* last_moments: by file, what else is known of how long it lived, CLOCK_MONOTONIC; 0: nothing. */
bool describe_processes(struct model *m, const struct load_job *job, const uint64_t *last_moments);
/* Profiles in the order of files and thread numbers, with their ledgers; behind those of each file room for n_more[file] others. Also makes room for the time lines. */
bool describe_profiles(struct model *m, const struct load_job *job, const uint32_t *n_more);
/* The time line of a thread whose node_to[] holds contexts; takes node_to over. May run beside others of its kind. */
bool describe_timeline(const struct model *m, const struct load_file *f, struct load_thread *t, struct model_timeline *line);
/* Title, extent in time, ledger of the whole. False when memory is short. */
bool describe_whole(struct model *m);

#endif
