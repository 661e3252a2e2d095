/* SPDX-License-Identifier: BSD-3-Clause */
/* Ledgers as records and as lists of numbers. Test: tests/cli/sink/sink_json.sh. */
#ifndef HPCPROF_RECORD_RECORD_LEDGER_H
#define HPCPROF_RECORD_RECORD_LEDGER_H

#include "hpcprof-lite/record/record_build.h"

/* Lines of the text. `owner` says whose ledger it is; its `at` is not used. */
void record_put_ledger(struct record_visitor *v, const struct record *owner,
		       const struct model_ledger *l);
void record_put_gpu_ledger(struct record_visitor *v, const struct record *owner,
			   const struct model_gpu_ledger *l);
void record_put_sampling(struct record_visitor *v, const struct record *owner,
			 const struct model_gpu_sampling *s);

/*
 * Fill `to`, which has RECORD_COUNTS_MOST, with the numbers of a ledger, group by group, and return
 * how many there are. Losses, kinds of operations and causes of cut paths are left out if they are
 * 0. There are none if there was no PC sampling.
 */
enum { RECORD_COUNTS_MOST = 160 };
size_t record_count_ledger(const struct model_ledger *l, struct words_count *to);
size_t record_count_gpu_ledger(const struct model_gpu_ledger *l, struct words_count *to);
size_t record_count_sampling(const struct model_gpu_sampling *s, struct words_count *to);

/* The fields of PC sampling; those with a title are facts of sampling_facts.h. */
const struct field *record_sampling_fields(unsigned *n);
/* To the nearest integer, at most 1e18. */
uint64_t record_rounded(double n);

extern const struct record_kind record_ledger, record_loss, record_end, record_time, record_cpu,
	record_paths, record_gpu_ledger, record_gpu_unwritten, record_gpu_kind, record_gpu_loss,
	record_gpu_graph_loss, record_gpu_sampling, record_gpu_yardstick;

#endif
