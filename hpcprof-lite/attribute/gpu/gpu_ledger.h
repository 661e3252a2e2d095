/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger of GPU operations: what became of each launch. Counts what is in the file itself and believes the run time only where nothing else can know: how
 * many launches there were, and why some left no record. Test: tests/unit/test_gpu_ledger.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_LEDGER_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_LEDGER_H

#include "hpcprof-lite/attribute/gpu/gpu_join.h"

/* Fills j->ledgers after gpu_join_run(), one for each back end that the file has anything of. */
void gpu_ledger_make(struct gpu_join *j);
/* Sums; `closes` holds when it does for both. */
void gpu_ledger_add(struct model_gpu_ledger *to, const struct model_gpu_ledger *from);
/* Launches in all kinds; losses that take one. */
uint64_t gpu_ledger_launched(const struct model_gpu_ledger *l);
uint64_t gpu_ledger_lost(const struct model_gpu_ledger *l);

#endif
