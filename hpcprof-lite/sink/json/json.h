/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the sink json. Format: doc/formats/profile.schema.json. Test:
 * tests/cli/sink/sink_json.sh.
 */
#ifndef HPCPROF_LITE_SINK_JSON_JSON_H
#define HPCPROF_LITE_SINK_JSON_JSON_H

#include "hpcprof-lite/model/model.h"
#include "hpcprof-lite/sink/json/json_write.h"

/*
 * Begins the outermost object, and writes those of its members that are records
 * (hpcprof-lite/record). False if memory is short.
 */
bool json_put_records(struct json *j, const struct model *m);
/*
 * Writes advice for GPU work; nothing if there is none. False if memory is short; then nothing was
 * written.
 */
bool json_put_advice(struct json *j, const struct model *m);
/* Writes what counters say about kernels; nothing if nothing was counted. False: as above. */
bool json_put_counters(struct json *j, const struct model *m);

#endif
