/* SPDX-License-Identifier: BSD-3-Clause */
/* Formatting for the text sink: values with units, shares, names cut to a width, cells aligned by what a terminal shows. Test: tests/unit/test_text.c. */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_PRINT_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_PRINT_H

#include "hpcprof-lite/model/model.h"

#include <stdio.h>

enum {
	TEXT_CELL = 24,  /* enough for any of the numbers below */
	TEXT_NAME = 4096 /* and for a name: a longer one is cut */
};

/* In front of the name of a guessed frame; tables that have it explain it in their heading. */
#define TEXT_GUESSED "? "

/* "12.34 s", "56.7 ms", "1,234", "12.3 G", "4.0 MiB" by the metric's unit. */
const char *text_value(char cell[TEXT_CELL], const char *unit, double value);
/* "12.3%"; "" when there is nothing; "<0.1%" when it would show as 0. */
const char *text_share(char cell[TEXT_CELL], double part, double whole);
/* "1,234,567" */
const char *text_count(char cell[TEXT_CELL], uint64_t n);

/* Columns a UTF-8 string takes on a terminal; bytes that are no UTF-8 count as one each. */
size_t text_columns(const char *s);
/*
 * Prints `s` in exactly `columns` (0: as it is, nothing added), control characters as '?'. What is too long is cut in the middle with "..", so that both the
 * qualifiers and the end of a C++ name stay.
 */
void text_cell(FILE *out, const char *s, size_t columns);

/*
 * Shortens the name of a C++ or Rust function in place, until it takes no more than `columns`: first template arguments become "<..>", then parameters "(..)", then the type that it
 * returns goes. What is still too long is for text_cell().
 */
void text_shorten(char *name, size_t columns);

/* A name in angle brackets that says where instead of what: "<unknown at 0x1234>", "<module>". Names of Rust may begin with a bracket, too: "<u64>::pow". */
bool text_is_made_up(const char *name);

/* The last part of a path. */
const char *text_base(const char *path);
enum { TEXT_FILE = 256 };
/* The name of a file as people read it: the last part of the path; of files named by the hash of their content, as code of GPUs is kept, the first digits and the suffix. */
const char *text_file(char name[TEXT_FILE], const char *path);
/* "file.c:12", the instruction's "+0x1234" from its function's entry, or "" when nothing is known. */
void text_place(char *to, size_t n_bytes, const struct model *m, const struct model_context *c);

#endif
