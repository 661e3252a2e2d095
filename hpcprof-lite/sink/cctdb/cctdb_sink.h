/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink cctdb for the table of sinks. It has no settings.
 * Test: tests/unit/sink/test_sink_cctdb.c. */
#ifndef HPCPROF_LITE_SINK_CCTDB_CCTDB_SINK_H
#define HPCPROF_LITE_SINK_CCTDB_CCTDB_SINK_H

#include "hpcprof-lite/sink/sink.h"

extern const struct sink_ops sink_cctdb;

#endif
