/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common style of all sections of the report for people: headings, emphasis, and the names of
 * functions and contexts. Test: tests/cli/prof/prof_text.sh.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_STYLE_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_STYLE_H

#include "hpcprof-lite/model/model.h"

#include <stdio.h>

/*
 * A row needs this many samples: n samples have a standard deviation of
 * sqrt(n), so fewer say little. Not if --threshold is given.
 */
enum { TEXT_LEAST_SAMPLES = 3 };
enum { TEXT_HOT_FUNCTIONS = 10 }; /* at the top of a report with all sections */

/* The style: the options after all defaults are filled in. */
struct text_style {
	FILE *out;
	size_t width;
	unsigned depth;     /* 0: unlimited */
	double threshold;   /* as a share: 0.01 */
	size_t n_functions; /* rows in the table of functions; 0: all */
	bool utf8, colour;
	bool by_total;      /* flat tables are sorted by inclusive values, not exclusive ones */
	bool interpreter;   /* show the interpreter's frames between Python functions */
};

/* The style for a stream: its width, characters and colours. Everything else is 0. */
struct text_style text_style_of(FILE *out);
/* True if the report is so narrow that numbers give way to names. */
bool text_is_narrow(const struct text_style *s);
/* Writes a heading line, emphasised if colour is on. */
void text_heading(const struct text_style *s, const char *format, ...) __attribute__((format(printf,
	2, 3)));
/* text_emphasise() begins emphasis for a large share; text_plain() ends it. */
void text_emphasise(const struct text_style *s, double share);
void text_plain(const struct text_style *s);
/* The name of a function; with its module if we made up the name. */
void text_function_name(char *name, size_t n_bytes, const struct model *m, uint32_t function);
/* The path of the module; "" if there is none. */
const char *text_module_path(const struct model *m, uint32_t module);
/* The name of a context: function, entry or line. `name` must hold n_bytes. */
void text_name(char *name, size_t n_bytes, const struct model *m, const struct model_context *c);

#endif
