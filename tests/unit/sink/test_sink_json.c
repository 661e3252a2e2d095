/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of JSON (sink/json/json_write.h): nesting, strings, numbers. */
#include "hpcprof-lite/sink/json/json_write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char directory[] = "/tmp/test_sink_json.XXXXXX";

/* Writes with `put` into an array and compares the text. The buffer is smaller than the text. */
static void check(void (*put)(struct json *), const char *wanted)
{
	char path[128], text[512] = "";
	struct outfile f;
	struct json j = {.depth = 0};
	assert_int_equal(outfile_create(&f, directory, "out"), STATUS_OK);
	assert_int_equal(outstream_open(&j.out, &f, 0, 3), STATUS_OK);
	json_begin(&j, NULL, '[');
	put(&j);
	json_end(&j, ']');
	assert_int_equal(outstream_close(&j.out), STATUS_OK);
	assert_int_equal(outfile_close(&f), STATUS_OK);
	snprintf(path, sizeof path, "%s/out", directory);
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	text[fread(text, 1, sizeof text - 1, in)] = '\0';
	fclose(in);
	remove(path);
	assert_string_equal(text, wanted);
}

static void put_nested(struct json *j)
{
	json_begin(j, NULL, '{');
	json_u64(j, "a", 1);
	json_begin(j, "b", '[');
	json_begin(j, NULL, '[');
	json_end(j, ']');
	json_bool(j, NULL, true);
	json_end(j, ']');
	json_null(j, "c");
	json_end(j, '}');
}

static void put_strings(struct json *j)
{
	json_text(j, NULL, "\"\\\n\x1b");
	json_text(j, NULL, "\xff\xc3\xa4");
	json_text(j, NULL, "\xe2\x80\xae\xf3\xa0\x80\x81"); /* right to left, a tag */
	json_text(j, NULL, NULL);
}

static void put_numbers(struct json *j)
{
	json_u64(j, NULL, UINT64_MAX);
	json_i64(j, NULL, INT64_MIN);
	json_real(j, NULL, 0.1);
	json_real(j, NULL, 0.1 + 0.2);
	json_real(j, NULL, NAN);
	json_hex(j, NULL, 0x401136);
}

static void test_nesting(void **state)
{
	(void)state;
	check(put_nested, "[\n{\"a\":1,\"b\":[\n[],true],\"c\":null}\n]\n");
}

static void test_strings(void **state)
{
	(void)state;
	check(put_strings, "[\n\"\\\"\\\\\\u000a\\u001b\",\n\"\xef\xbf\xbd\xc3\xa4\",\n"
			   "\"\\u202e\\udb40\\udc01\",\nnull\n]\n");
}

static void test_numbers(void **state)
{
	(void)state;
	check(put_numbers, "[\n18446744073709551615,\n-9223372036854775808,\n"
			   "0.1,\n0.30000000000000004,\nnull,\n\"0x401136\"\n]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_numbers),
	};
	if (!mkdtemp(directory))
		return 99;
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	outdir_remove(directory);
	return n_failed;
}
