/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink otf2, as the table of sinks knows it. Test: tests/unit/test_sink_otf2.c. */
#ifndef HPCPROF_LITE_SINK_OTF2_OTF2_SINK_H
#define HPCPROF_LITE_SINK_OTF2_OTF2_SINK_H

#include "hpcprof-lite/sink/sink.h"

/* Its settings. */
struct sink_otf2_options {
	const char *form; /* "callingcontext" (default when NULL) or "enterleave" */
};

extern const struct sink_ops sink_otf2; /* only where OTF2 was found (HAVE_OTF2) */

#endif
