/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashes of the parts of the model that must be the same in all processes that share a job
 * (model_share.h). Test: tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_MODEL_MODEL_HASH_H
#define HPCPROF_MODEL_MODEL_HASH_H

#include "hpcprof-lite/model/model.h"

uint64_t model_hash_contexts(const struct model *m);
/* The hash of contexts, metrics and profiles. */
uint64_t model_hash(const struct model *m);

#endif
