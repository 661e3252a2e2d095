/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the sink json. Format: doc/formats/profile.schema.json. Test:
 * tests/cli/sink/sink_json.sh.
 */
#ifndef HPCPROF_LITE_SINK_JSON_JSON_H
#define HPCPROF_LITE_SINK_JSON_JSON_H

#include "hpcprof-lite/model/model.h"
#include "hpcprof-lite/sink/json/json_write.h"
#include "hpcprof-lite/sink/words.h"

/* ---- values (json_values.c) ---- */

/* An index, or null. */
void json_id(struct json *j, const char *key, uint32_t id);
/* Nanoseconds since model.start_ns; null: 0, which is unknown. */
void json_time(struct json *j, const char *key, const struct model *m, uint64_t ns);
/* An object of the groups of a ledger; null: there are no counts. */
void json_counts(struct json *j, const char *key, const struct words_count *counts, size_t n);

/* ---- parts ---- */

/* Modules, files, functions, contexts, metrics, totals; devices, queues and shapes of GPUs. */
void json_put_code(struct json *j, const struct model *m);
void json_put_gpu(struct json *j, const struct model *m);
/* Processes, and profiles with their values and time lines. */
void json_put_processes(struct json *j, const struct model *m);
void json_put_profiles(struct json *j, const struct model *m);
/* Times of NCCL, and who came last; nothing if no kernel of it ran. */
void json_put_nccl(struct json *j, const struct model *m);
/*
 * What would make GPU work faster; nothing if there is no advice. False if memory is short, and
 * then nothing was written.
 */
bool json_put_advice(struct json *j, const struct model *m);
/* What counters say of kernels; nothing if nothing was counted. As above. */
bool json_put_counters(struct json *j, const struct model *m);
/* Ranges and marks of NVTX; nothing if there are none. */
void json_put_nvtx(struct json *j, const struct model *m);

#endif
