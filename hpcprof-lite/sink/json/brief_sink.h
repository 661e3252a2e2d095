/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink brief for the table of sinks, without settings. Test: tests/cli/parallel/findings.sh. */
#ifndef HPCPROF_LITE_SINK_JSON_BRIEF_SINK_H
#define HPCPROF_LITE_SINK_JSON_BRIEF_SINK_H

#include "hpcprof-lite/sink/sink.h"

extern const struct sink_ops sink_brief;

#endif
