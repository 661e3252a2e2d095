/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of sinks that this build has. */
#ifndef HPCPROF_SINK_SINKS_H
#define HPCPROF_SINK_SINKS_H

#include "hpcprof-lite/sink/sink.h"

/* In the order in which they are written; ended by NULL. */
extern const struct sink_ops *const sinks[];

#endif
