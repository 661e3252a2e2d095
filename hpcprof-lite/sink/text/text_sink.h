/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text sink for the table of sinks, and its settings. Test: tests/cli/prof/prof_text.sh,
 * tests/unit/sink/test_text.c.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_SINK_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_SINK_H

#include "hpcprof-lite/sink/sink.h"

#include <stdbool.h>
#include <stdio.h>

enum sink_text_view { /* bits */
	SINK_TEXT_PATHS = 1,
	SINK_TEXT_FUNCTIONS = 2,
	SINK_TEXT_LINES = 4,
	SINK_TEXT_MODULES = 8,
	SINK_TEXT_THREADS = 16,
	SINK_TEXT_GPU = 32, /* kernels, copies and queues, if there are any */
	SINK_TEXT_MPI = 64, /* calls of MPI, if they were measured */
	SINK_TEXT_OPERATORS = 128,    /* of PyTorch, if there are any */
	SINK_TEXT_TORCH_MODULES = 256 /* of PyTorch, if there are any */
};

struct sink_text_options {
	FILE *out;           /* NULL: standard output */
	bool all;            /* everything, tab separated: see text_all.c */
	const char *metric;  /* name or event of the metric to show; NULL: the first CPU metric */
	unsigned views;      /* of enum sink_text_view; 0: all */
	bool by_total; /* sort flat tables by inclusive values; otherwise by exclusive values */
	unsigned depth;      /* of the tree, in functions; 0: unlimited */
	/* hide rows below this percentage of the whole; negative: 1, and below 3 samples */
	double threshold;
	bool interpreter; /* show the interpreter's frames between Python functions in the tree */
	unsigned width;      /* columns; 0: width of the terminal, or 120 without one */
};

extern const struct sink_ops sink_text;

#endif
