/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes JSON (RFC 8259) piece by piece, so that memory does not grow with the text. In an object
 * `key` names the value; in an array it is NULL. Every object and array in an array begins a line,
 * and so does every value of the outermost object. Failures are those of the outstream: the file
 * remembers them. Test: tests/unit/sink/test_sink_json.c.
 */
#ifndef HPCPROF_LITE_SINK_JSON_JSON_WRITE_H
#define HPCPROF_LITE_SINK_JSON_JSON_WRITE_H

#include "hpcprof-lite/sink/outfile.h"

#include <stdbool.h>

struct json {
	struct outstream out;
	unsigned depth;
	bool has_values; /* the innermost object or array has a value */
};

void json_begin(struct json *j, const char *key, char bracket); /* '{' or '[' */
void json_end(struct json *j, char bracket);                    /* '}' or ']' */
/*
 * A string; NULL becomes null. Bytes that are not UTF-8 become U+FFFD. Characters that could
 * control a terminal or change the direction of text are escaped.
 */
void json_text(struct json *j, const char *key, const char *value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
/* With as many digits as a double needs. */
void json_real(struct json *j, const char *key, double value);
/* A string, because not all readers have 64-bit integers: "0x401136". */
void json_hex(struct json *j, const char *key, uint64_t value);

#endif
