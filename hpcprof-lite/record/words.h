/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for the enums of the model, for outputs that people query by name. The words are part of
 * those formats. The arguments are values of the enums. Tests: tests/cli/sink/sink_json.sh,
 * tests/cli/sink/sink_sqlite.sh.
 */
#ifndef HPCPROF_RECORD_WORDS_H
#define HPCPROF_RECORD_WORDS_H

#include "hpcprof-lite/model/model.h"

const char *words_structure(unsigned s);         /* "lines" */
const char *words_role(unsigned r);            /* "interpreter" */
const char *words_context(unsigned k);        /* "function" */
const char *words_relation(unsigned r);           /* "inlined" */
const char *words_entry(unsigned e);                 /* "main" */
const char *words_metric(unsigned k);          /* "sampled" */
/* "stall"; NULL: MODEL_ROLE_NONE */
const char *words_metric_role(unsigned r);
const char *words_activity(unsigned a);        /* "mpi-collective" */
const char *words_use(unsigned use);           /* of view_use: the same, or "no-thread" */
const char *words_source(unsigned s);                 /* "perf event" */
/* The kind of an operation, and its direction, kind of memory or cause of waiting; NULL: none. */
const char *words_op(unsigned kind);
const char *words_op_detail(const struct model_gpu_op *o);

const char *words_nvtx(unsigned kind); /* "pushed", "started", "mark" */
/* What a warp waits for, of enum structure_wait_kind; NULL: unknown. What the cause does. */
const char *words_wait_kind(unsigned kind);
const char *words_operation(unsigned operation);

#endif
