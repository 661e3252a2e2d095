/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink perfetto for the table of sinks. It has no settings. */
#ifndef HPCPROF_LITE_SINK_PERFETTO_PERFETTO_SINK_H
#define HPCPROF_LITE_SINK_PERFETTO_PERFETTO_SINK_H

#include "hpcprof-lite/sink/sink.h"

extern const struct sink_ops sink_perfetto;

#endif
