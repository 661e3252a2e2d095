/* SPDX-License-Identifier: BSD-3-Clause */
/* See json_write.h. Test: tests/unit/sink/test_sink_json.c. */
#include "hpcprof-lite/sink/json/json_write.h"

#include "common/safe/printable.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char quote[] = "\x22";

static void put(struct json *j, const char *s)
{
	outstream_put(&j->out, s, strlen(s));
}

/* The code point of a valid UTF-8 character of `n_bytes`. */
static uint32_t decode(const char *s, size_t n_bytes)
{
	static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (uint8_t)s[0] & masks[n_bytes];
	for (size_t i = 1; i < n_bytes; i++)
		c = c << 6 | ((uint8_t)s[i] & 0x3f);
	return c;
}

static void put_escape(struct json *j, uint32_t c)
{
	char text[16];
	if (c < 0x10000)
		snprintf(text, sizeof text, "\\u%04" PRIx32, c);
	else
		snprintf(text, sizeof text, "\\u%04" PRIx32 "\\u%04" PRIx32,
			 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
	put(j, text);
}

static void put_string(struct json *j, const char *s)
{
	put(j, quote);
	while (*s) {
		bool is_harmless;
		size_t n = printable_step(s, &is_harmless), n_utf8 = printable_utf8(s);
		if (*s == *quote || *s == '\\')
			put(j, "\\");
		if (!n_utf8)
			put(j, "\xef\xbf\xbd");
		else if (is_harmless)
			outstream_put(&j->out, s, n);
		else
			put_escape(j, decode(s, n));
		s += n;
	}
	put(j, quote);
}

/* Writes what comes before a value: a comma, a line, the key. */
static void open_value(struct json *j, const char *key, bool is_nested)
{
	if (j->has_values)
		put(j, ",");
	if (j->depth == 1 || (is_nested && !key && j->depth))
		put(j, "\n");
	if (key) {
		put_string(j, key);
		put(j, ":");
	}
	j->has_values = true;
}

void json_begin(struct json *j, const char *key, char bracket)
{
	open_value(j, key, true);
	outstream_put(&j->out, &bracket, 1);
	j->depth++;
	j->has_values = false;
}

void json_end(struct json *j, char bracket)
{
	j->depth--;
	j->has_values = true;
	if (j->depth == 0)
		put(j, "\n");
	outstream_put(&j->out, &bracket, 1);
	if (j->depth == 0)
		put(j, "\n");
}

void json_text(struct json *j, const char *key, const char *value)
{
	open_value(j, key, false);
	if (value)
		put_string(j, value);
	else
		put(j, "null");
}

static void put_value(struct json *j, const char *key, const char *value)
{
	open_value(j, key, false);
	put(j, value);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRIu64, value);
	put_value(j, key, text);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRId64, value);
	put_value(j, key, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
	put_value(j, key, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	put_value(j, key, "null");
}

/* 15 digits where they mean the same number, as they do for most. Others need 17. */
void json_real(struct json *j, const char *key, double value)
{
	char text[32];
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	snprintf(text, sizeof text, "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof text, "%.17g", value);
	put_value(j, key, text);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof text, "0x%" PRIx64, value);
	json_text(j, key, text);
}
