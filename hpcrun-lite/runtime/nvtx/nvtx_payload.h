/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads payloads of NVTX's payload extension that say where a range comes from. With each HLO
 * operation, XLA passes the Python lines that it was made from, as registered strings. Any thread
 * may call these functions, but not our handler. Test: tests/cli/nvtx/nvtx_xla.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_NVTX_NVTX_PAYLOAD_H
#define HPCRUN_LITE_RUNTIME_NVTX_NVTX_PAYLOAD_H

#include "hpcrun-lite/runtime/nvtx/nvtx_names.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_protocol.h"

/* The handle of a registered string is this plus its number; smaller ones are ids of names. */
#define NVTX_STRING_HANDLES MSR_NVTX_NAMES_MOST

/* Returns the id of the schema; 0: there are too many. */
uint64_t nvtx_payload_register(const struct nvtx_schema *schema);
/* Finds "file:line" in the payloads of a range. Returns false if they do not have it. */
bool nvtx_payload_source(const struct nvtx_attributes *a, struct nvtx_text *source);
/*
 * If `from` is a text of XLA that lists call stacks, sets `to` to the innermost frame of the first,
 * as "file:line". Returns false if it is another text.
 */
bool nvtx_payload_first_line(const char *from, struct nvtx_text *to);

#endif
