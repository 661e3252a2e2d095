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
 * The members of the outermost object that are records (hpcprof-lite/record), with that object's
 * beginning. False if memory is short.
 */
bool json_put_records(struct json *j, const struct model *m);
/*
 * What would make GPU work faster; nothing if there is no advice. False if memory is short, and
 * then nothing was written.
 */
bool json_put_advice(struct json *j, const struct model *m);
/* What counters say of kernels; nothing if nothing was counted. As above. */
bool json_put_counters(struct json *j, const struct model *m);

#endif
