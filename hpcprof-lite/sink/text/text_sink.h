/* SPDX-License-Identifier: BSD-3-Clause */
/* What the text sink can be told. Test: tests/cli/prof_text.sh, tests/unit/test_text.c. */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_SINK_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_SINK_H

#include "common/base/status.h"
#include "hpcprof-lite/model/model.h"

#include <stdbool.h>
#include <stdio.h>

enum sink_text_view { /* bits */
	SINK_TEXT_PATHS = 1,
	SINK_TEXT_FUNCTIONS = 2,
	SINK_TEXT_LINES = 4,
	SINK_TEXT_MODULES = 8,
	SINK_TEXT_THREADS = 16,
	SINK_TEXT_GPU = 32  /* kernels, copies and queues, where there are any */
};

struct sink_text_options {
	FILE *out;           /* NULL: standard output */
	bool all;            /* everything, tab separated: see text_all.c */
	const char *metric;  /* name or event of the metric to show; NULL: the first of CPUs */
	unsigned views;      /* of enum sink_text_view; 0: all */
	bool by_total; /* flat tables in the order of their totals; else of what is their own */
	unsigned depth;      /* of the tree, in functions; 0: no bound */
	double threshold;    /* share of the whole in percent, below which nothing is shown; negative: 1 */
	bool interpreter;    /* show the interpreter's frames between Python functions in the tree */
	unsigned width;      /* columns; 0: of the terminal, else 120 */
};

/* Whether the model has what the options ask for: STATUS_USAGE, logged, when there is no such metric. For refusing before anything is written. */
enum status sink_text_check(const struct model *m, const struct sink_text_options *o);

#endif
