/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink html for the table of sinks: report.html, one self-contained interactive page. Test:
 * tests/cli/sink/sink_html.sh.
 */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_SINK_H
#define HPCPROF_LITE_SINK_HTML_HTML_SINK_H

#include "hpcprof-lite/sink/sink.h"

/* A run of a comparison. Side 0 is the base. */
struct sink_html_run {
	uint32_t side, n_processes, n_threads, n_ranks;
	const char *path, *command;
	uint64_t elapsed_ns;
	bool is_complete, lacks_names;
};

/* What noise is in the metrics 2 i (new) and 2 i + 1 (base), as in struct compare_values. */
struct sink_html_noise {
	double excess, weights[2];
	bool is_excess_measured;
	bool is_sum; /* a total that people read by itself */
};

/* The own value of a context in a run. */
struct sink_html_amount {
	uint32_t context, metric; /* metric 2 i of the model */
	double value, variance;
	uint64_t n_samples;
};

/* What a page of a comparison needs beside the model, to judge what is noise. */
struct sink_html_comparison {
	const struct sink_html_run *runs;
	uint32_t n_runs, n_noise;
	uint32_t metric;                     /* 2 i: what the report is about */
	const struct sink_html_noise *noise; /* by metric / 2 */
	/* Sets the next amount of a run, from *at = 0 on; false at its end. */
	bool (*next)(const void *arg, uint32_t run, size_t *at, struct sink_html_amount *to);
	const void *arg;
};

struct sink_html_settings {
	const char *name;                              /* of the file; NULL: "report.html" */
	const struct sink_html_comparison *comparison; /* NULL: the model is not one */
};

extern const struct sink_ops sink_html;

#endif
