/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of sinks: one row each. */
#include "hpcprof-lite/sink/sinks.h"

#include <stddef.h>

const struct sink_ops *const sinks[] = {
	&sink_text,
	NULL,
};
