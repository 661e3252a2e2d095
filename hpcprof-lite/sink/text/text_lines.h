/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections of sentences, such as the head and the ledger. A narrow report breaks their lines at
 * spaces. Other reports have them as they are, broken where the section writes "\v". Test:
 * tests/unit/sink/test_text.c.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_LINES_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_LINES_H

#include "hpcprof-lite/sink/text/text_style.h"

struct text_lines {
	struct text_style style; /* for the code that writes the section */
	const struct text_style *to;
	char *text;
	size_t n_bytes;
};

/* False if memory is short. Otherwise text_lines_end() must follow. */
bool text_lines_begin(struct text_lines *l, const struct text_style *s);
/* Writes the lines. False if memory is short. */
bool text_lines_end(struct text_lines *l);

#endif
