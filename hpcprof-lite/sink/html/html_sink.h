/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink html for the table of sinks: report.html, one self-contained interactive page. Test:
 * tests/cli/sink/sink_html.sh.
 */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_SINK_H
#define HPCPROF_LITE_SINK_HTML_HTML_SINK_H

#include "hpcprof-lite/sink/sink.h"

struct sink_html_settings {
	const char *name;   /* of the file; NULL: "report.html" */
	bool is_comparison; /* the model is from compare_model_make() */
};

extern const struct sink_ops sink_html;

#endif
