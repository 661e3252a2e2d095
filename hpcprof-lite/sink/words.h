/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for the enums of the model, and ledgers as lists of named numbers, for outputs that people
 * query by name. The words are part of those formats. Tests: tests/cli/sink/sink_json.sh,
 * tests/cli/sink/sink_sqlite.sh.
 */
#ifndef HPCPROF_SINK_WORDS_H
#define HPCPROF_SINK_WORDS_H

#include "hpcprof-lite/model/model.h"

const char *words_structure(enum model_structure s);         /* "lines" */
const char *words_role(enum model_module_role r);            /* "interpreter" */
const char *words_context(enum model_context_kind k);        /* "function" */
const char *words_relation(enum model_relation r);           /* "inlined" */
const char *words_entry(enum model_entry e);                 /* "main" */
const char *words_metric(enum model_metric_kind k);          /* "sampled" */
/* "stall"; NULL: MODEL_ROLE_NONE */
const char *words_metric_role(enum model_metric_role r);
const char *words_source(enum msr_source s);                 /* "perf event" */
/* The kind of an operation, and its direction, kind of memory or cause of waiting; NULL: none. */
const char *words_op(const struct model_gpu_op *o);
const char *words_op_detail(const struct model_gpu_op *o);

const char *words_nvtx(const struct model_nvtx_range *r); /* "pushed", "started", "mark" */

/* A number of a ledger: how many of "group" are "name". */
struct words_count {
	const char *group, *name;
	uint64_t n;
};
enum { WORDS_COUNTS = 160 };
/*
 * Fill `to` with the numbers of a ledger, group by group, and return how many there are. Losses,
 * kinds of operations and causes of cut paths are left out if they are 0.
 */
size_t words_ledger(const struct model_ledger *l, struct words_count to[WORDS_COUNTS]);
size_t words_gpu_ledger(const struct model_gpu_ledger *l, struct words_count to[WORDS_COUNTS]);
/* Returns 0 if there was no PC sampling. */
size_t words_sampling(const struct model_gpu_sampling *s, struct words_count to[WORDS_COUNTS]);

#endif
