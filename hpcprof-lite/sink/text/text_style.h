/* SPDX-License-Identifier: BSD-3-Clause */
/* What all parts of the report for people write alike: headings, emphasis, and the names of functions and contexts. Test: tests/cli/prof_text.sh. */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_STYLE_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_STYLE_H

#include "hpcprof-lite/model/model.h"

#include <stdio.h>

/* How to write; the options with everything decided. */
struct text_style {
	FILE *out;
	size_t width;
	unsigned depth;     /* 0: no bound */
	double threshold;   /* as a share: 0.01 */
	bool utf8, colour;
	bool by_total;      /* flat tables are sorted by what is below, too, and not by the own */
	bool interpreter;   /* frames of Python's interpreter between Python functions are shown */
};

/* Numbers give way to names. */
bool text_is_narrow(const struct text_style *s);
/* A heading line, emphasised where there is colour. */
void text_heading(const struct text_style *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Begins and ends emphasis for what takes a large share. */
void text_emphasise(const struct text_style *s, double share);
void text_plain(const struct text_style *s);
/* The name of a function, with its module where the name was made up. */
void text_function_name(char *name, size_t n_bytes, const struct model *m, uint32_t function);
/* The module's path; "" for none. */
const char *text_module_path(const struct model *m, uint32_t module);
/* What a context is called: function, entry, line. `name` must hold n_bytes. */
void text_name(char *name, size_t n_bytes, const struct model *m, const struct model_context *c);

#endif
