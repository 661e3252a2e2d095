/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger of GPU operations: what happened to each launch. It counts the contents of the file
 * itself. It relies on our runtime only for facts that nothing else can tell: how many launches
 * there were, and why some left no record. Test: tests/unit/prof_gpu/test_gpu_ledger.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_LEDGER_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_LEDGER_H

#include "hpcprof-lite/attribute/gpu/join/gpu_join.h"

/* Fills j->ledgers after gpu_join_run(): one for each back end with data in the file. */
void gpu_ledger_make(struct gpu_join *j);
/* Adds `from` to `to`. `closes` is true if it is true for both. */
void gpu_ledger_add(struct model_gpu_ledger *to, const struct model_gpu_ledger *from);
/* Launches of all kinds; losses that count a launch. */
uint64_t gpu_ledger_launched(const struct model_gpu_ledger *l);
uint64_t gpu_ledger_lost(const struct model_gpu_ledger *l);

#endif
