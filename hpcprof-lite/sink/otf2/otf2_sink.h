/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink otf2 for the table of sinks. Test: tests/unit/sink/test_sink_otf2.c. */
#ifndef HPCPROF_LITE_SINK_OTF2_OTF2_SINK_H
#define HPCPROF_LITE_SINK_OTF2_OTF2_SINK_H

#include "hpcprof-lite/sink/sink.h"

/* Settings of the sink. */
struct sink_otf2_options {
	const char *form; /* "callingcontext" (also if NULL) or "enterleave" */
};

extern const struct sink_ops sink_otf2; /* exists only if OTF2 was found (HAVE_OTF2) */

#endif
