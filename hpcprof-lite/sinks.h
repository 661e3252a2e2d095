/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the sinks in this build. */
#ifndef HPCPROF_SINKS_H
#define HPCPROF_SINKS_H

#include "hpcprof-lite/sink/sink.h"

/* In the order of writing; NULL ends the table. */
extern const struct sink_ops *const sinks[];

#endif
