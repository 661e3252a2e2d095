/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink sqlite for the table of sinks. It has no settings. Test:
 * tests/cli/sink/sink_sqlite.sh.
 */
#ifndef HPCPROF_LITE_SINK_SQLITE_SQLITE_SINK_H
#define HPCPROF_LITE_SINK_SQLITE_SQLITE_SINK_H

#include "hpcprof-lite/sink/sink.h"

extern const struct sink_ops sink_sqlite;

#endif
