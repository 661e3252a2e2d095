/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink json for the table of sinks. It has no settings. Test: tests/cli/sink/sink_json.sh. */
#ifndef HPCPROF_LITE_SINK_JSON_JSON_SINK_H
#define HPCPROF_LITE_SINK_JSON_JSON_SINK_H

#include "hpcprof-lite/sink/sink.h"

extern const struct sink_ops sink_json;

#endif
