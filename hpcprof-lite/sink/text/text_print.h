/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formatting for the text sink: values with units, shares, shortened names, and cells aligned by
 * their width on a terminal. Test: tests/unit/sink/test_text.c.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_PRINT_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_PRINT_H

#include "hpcprof-lite/model/model.h"

#include <stdio.h>

enum {
	TEXT_CELL = 24,  /* enough for each of the numbers below */
	TEXT_NAME = 4096 /* enough for a name; longer names are cut */
};

/*
 * The prefix of the name of a guessed frame. Tables with guessed frames explain it in their
 * heading.
 */
#define TEXT_GUESSED "? "

/* "12.34 s", "56.7 ms", "1,234", "12.3 G", "4.0 MiB", depending on the metric's unit. */
const char *text_value(char cell[TEXT_CELL], enum model_unit unit, double value);
const char *text_seconds(char cell[TEXT_CELL], double seconds);
const char *text_ns(char cell[TEXT_CELL], uint64_t ns);
/* "12.3%"; "" for zero; "<0.1%" if it would round to 0. */
const char *text_share(char cell[TEXT_CELL], double part, double whole);
/* "1,234,567" */
const char *text_count(char cell[TEXT_CELL], uint64_t n);

/* The columns of a UTF-8 string on a terminal. Each byte that is not UTF-8 counts as one. */
size_t text_columns(const char *s);
/*
 * Prints `s` in exactly `columns` columns (0: as it is, without padding), with control characters
 * as '?'. A string that is too long is cut in the middle with "..", so that the qualifiers and the
 * end of a C++ name remain.
 */
void text_cell(FILE *out, const char *s, size_t columns);
/* The length in bytes of the words that fit on a line, or of the first word if it does not fit. */
size_t text_fitting(const char *s, size_t columns);
/*
 * Prints words in lines of at most `columns`, each with its end, broken at spaces; lines after the
 * first are indented. text_cell() cuts a word that is longer.
 */
void text_wrap(FILE *out, const char *s, size_t columns, size_t indent);

/*
 * Shortens the name of a C++ or Rust function in place until it needs at most `columns`. Template
 * arguments become "<..>", then parameters become "(..)", then the call operator of a lambda
 * becomes the lambda, then the return type is removed. text_cell() cuts what is still too long.
 */
void text_shorten(char *name, size_t columns);

/*
 * True for a name in angle brackets that gives a place instead of a function: "<unknown at
 * 0x1234>", "<module>". Rust names may also begin with a bracket: "<u64>::pow".
 */
bool text_is_made_up(const char *name);

/* The last component of a path. */
const char *text_base(const char *path);
enum { TEXT_FILE = 256 };
/*
 * The file name for people: the last component of the path. Files named by the hash of their
 * content, such as stored GPU code, get the first digits and the suffix.
 */
const char *text_file(char name[TEXT_FILE], const char *path);
/*
 * "file.c:12"; or the offset "+0x1234" of the instruction from the entry of its function; or "" if
 * unknown.
 */
void text_place(char *to, size_t n_bytes, const struct model *m, const struct model_context *c);

#endif
