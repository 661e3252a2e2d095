/* SPDX-License-Identifier: BSD-3-Clause */
/* Ledgers as records and as lists of numbers. Test: tests/cli/sink/sink_json.sh. */
#ifndef HPCPROF_RECORD_RECORD_LEDGER_H
#define HPCPROF_RECORD_RECORD_LEDGER_H

#include "hpcprof-lite/record/record_build.h"

/* Whose ledger it is: the first two fields. */
#define RECORD_OF                                                                                  \
	{.name = "of", .meaning = "process, profile or all", .kind = FIELD_WORD,                   \
	 .get = value_of_whose},                                                                   \
		{.name = "id", .meaning = "Of the process or profile", .kind = FIELD_ID,           \
		 .get = value_of_owner}

/*
 * Visit the lines of a ledger in the text. `owner` says whose ledger it is; its `at` is not used.
 */
void record_put_ledger(struct record_visitor *v, const struct record *owner,
		       const struct model_ledger *l);
void record_put_gpu_ledger(struct record_visitor *v, const struct record *owner,
			   const struct model_gpu_ledger *l);
void record_put_sampling(struct record_visitor *v, const struct record *owner,
			 const struct model_gpu_sampling *s);

/*
 * Fill `to`, which has room for RECORD_COUNTS_MOST, with the numbers of a ledger, group by group,
 * and return how many there are. Losses, kinds of operations and causes of cut paths are left out
 * if they are 0. There are no numbers if there was no PC sampling.
 */
enum { RECORD_COUNTS_MOST = 160 };
size_t record_count_ledger(const struct model_ledger *l, struct words_count *to);
size_t record_count_gpu_ledger(const struct model_gpu_ledger *l, struct words_count *to);
size_t record_count_sampling(const struct model_gpu_sampling *s, struct words_count *to);

/* A list of numbers while it is made. */
struct record_list {
	struct words_count *at;
	size_t n;
};
/* Adds the fields of `at` that have a group. */
void record_add_fields(struct record_list *l, const struct field *fields, size_t n, const void *at);
/* Brings the numbers of each group together, in the order of the groups. Returns l->n. */
size_t record_sort_groups(struct record_list *l);
/* Rounds to the nearest integer, at most 1e18, because a damaged file may hold any number. */
uint64_t record_rounded(double n);

extern const struct record_kind record_ledger, record_loss, record_end, record_time, record_cpu,
	record_paths, record_gpu_ledger, record_gpu_unwritten, record_gpu_kind, record_gpu_loss,
	record_gpu_graph_loss, record_gpu_sampling, record_gpu_yardstick;

#endif
