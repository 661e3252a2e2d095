/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink folded for the table of sinks. It has no settings. Test:
 * tests/unit/sink/test_sink_folded.c.
 */
#ifndef HPCPROF_LITE_SINK_FOLDED_SINK_H
#define HPCPROF_LITE_SINK_FOLDED_SINK_H

#include "hpcprof-lite/sink/sink.h"

extern const struct sink_ops sink_folded;

#endif
