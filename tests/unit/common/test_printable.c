/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/safe/printable and common/base/foreign: what is harmless stays, nothing else gets
 * through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/foreign.h"
#include "common/base/log.h"
#include "common/safe/printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *in, *people, *field;
} cases[] = {
	{"", "", ""},
	{"std::sort<int>(a, b)", "std::sort<int>(a, b)", "std::sort<int>(a, b)"},
	{"gr\xc3\xb6\xc3\x9f"
	 "e \xe2\x86\x92 \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x98\x80",
	 "gr\xc3\xb6\xc3\x9f"
	 "e \xe2\x86\x92 \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x98\x80",
	 "gr\xc3\xb6\xc3\x9f"
	 "e \xe2\x86\x92 \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x98\x80"},
	{"\xe0\xae\xa8\xe0\xae\xbf\xe2\x80\x8d", "\xe0\xae\xa8\xe0\xae\xbf\xe2\x80\x8d",
	 "\xe0\xae\xa8\xe0\xae\xbf\xe2\x80\x8d"}, /* a joiner that scripts need */
	{"a\tb\nc\\d", "a?b?c\\d", "a\\tb\\nc\\\\d"},
	{"\x1b[31mred\x1b[0m\r", "?[31mred?[0m?", "\\x1b[31mred\\x1b[0m\\x0d"},
	{"\x7f\x01", "??", "\\x7f\\x01"},
	{"\xc2\x9b"
	 "31m",
	 "?31m", "\\xc2\\x9b31m"}, /* CSI of C1 as UTF-8 */
	{"\x9b"
	 "31m",
	 "?31m", "\\x9b31m"}, /* ... and as a byte */
	{"a\xe2\x80\xae"
	 "txt.exe",
	 "a?txt.exe", "a\\xe2\\x80\\xaetxt.exe"}, /* U+202E */
	{"\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c", "???", "\\xe2\\x81\\xa6\\xe2\\x80\\x8f\\xd8\\x9c"},
	{"\xe2\x80\xa8", "?", "\\xe2\\x80\\xa8"},                       /* ends a line */
	{"\xc0\x9b\xe0\x80\x9b", "?????", "\\xc0\\x9b\\xe0\\x80\\x9b"}, /* ESC, overlong */
	{"\xed\xa0\x80", "???", "\\xed\\xa0\\x80"},           /* half of a surrogate pair */
	{"\xf3\xa0\x81\x81x", "?x", "\\xf3\\xa0\\x81\\x81x"}, /* a tag */
	{"\xe2\x80", "??", "\\xe2\\x80"},                     /* cut off */
};

static void put(FILE *out, const char *s, bool field)
{
	if (field)
		foreign_put_field(out, s);
	else
		foreign_put(out, s);
}

static void what_comes_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		for (int field = 0; field < 2; field++) {
			char *text = NULL;
			size_t n;
			FILE *out = open_memstream(&text, &n);
			assert_non_null(out);
			put(out, cases[i].in, field);
			fclose(out);
			assert_string_equal(text, field ? cases[i].field : cases[i].people);
			free(text);
		}
		char *copy = strdup(cases[i].in);
		assert_non_null(copy);
		assert_ptr_equal(printable(copy), copy);
		assert_string_equal(copy, cases[i].people);
		free(copy);
	}
}

/* A shell makes the argument of it again: bash was asked once. */
static void arguments_are_quoted(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} args[] = {
		{"--size=3,4", "--size=3,4"},
		{"", "''"},
		{"a b", "'a b'"},
		{"it's \\ $x", "'it'\\''s \\ $x'"},
		{"a\nb\t\\'", "$'a\\nb\\t\\\\\\''"},
		{"\x1b" "1\xff\xc3\xa4", "$'\\0331\\377\xc3\xa4'"},
		{"\xc3\xa4", "'\xc3\xa4'"},
	};
	for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
		char *text = NULL;
		size_t n;
		FILE *out = open_memstream(&text, &n);
		assert_non_null(out);
		foreign_put_argument(out, args[i].in);
		fclose(out);
		assert_string_equal(text, args[i].out);
		free(text);
	}
}

static void names_are_short_and_harmless(void **state)
{
	char letters[PRINTABLE_NAME + 2];
	(void)state;
	memset(letters, 'x', sizeof letters - 1);
	letters[sizeof letters - 1] = 0;
	assert_true(printable_is_name("a") && printable_is_name("h\xc3\xa9llo w"));
	assert_true(printable_is_name(letters + 1) && !printable_is_name(letters));
	assert_false(printable_is_name("") || printable_is_name("/") || printable_is_name("a/"));
	assert_false(printable_is_name("a/b") || printable_is_name("a\n") ||
		     printable_is_name("\033[31m") || printable_is_name("\xff"));
}

static char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *formatted(const char *format, ...)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	va_list args;
	va_start(args, format);
	foreign_vprintf(out, format, args);
	va_end(args);
	fclose(out);
	return text;
}

static void newlines_are_those_of_the_format(void **state)
{
	(void)state;
	char *text = formatted("\n  %s has %d\n\n", "a\nb\n", 3);
	assert_string_equal(text, "\n  a?b? has 3\n\n");
	free(text);
	text = formatted("%s", "\n\n");
	assert_string_equal(text, "??");
	free(text);
	text = formatted("%s\n", "");
	assert_string_equal(text, "\n");
	free(text);
}

static size_t cut(char *to, size_t room, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static size_t cut(char *to, size_t room, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	size_t n = foreign_format(to, room, format, args);
	va_end(args);
	return n;
}

/* A text cut inside a character leaves no half of it; what was cut has no newline to keep. */
static void what_is_cut_stays_clean(void **state)
{
	(void)state;
	char to[8];
	assert_int_equal(cut(to, sizeof to, "%s\n", "12345\xe2\x86\x92"), 7);
	assert_string_equal(to, "12345??");
	assert_int_equal(cut(to, sizeof to, "%s\n", "1234\nabc"), 7);
	assert_string_equal(to, "1234?ab");
	assert_int_equal(cut(to, sizeof to, "%s\n", "12345"), 6);
	assert_string_equal(to, "12345\n");
}

static void messages_are_clean(void **state)
{
	(void)state;
	FILE *kept = stderr;
	char *text = NULL;
	size_t n;
	stderr = open_memstream(&text, &n);
	log_set_program("tool");
	log_warn("/tmp/\x1b]0;title\x07/x", "section %s is odd", ".a\xc2\x9b\ntool: all is well");
	fclose(stderr);
	stderr = kept;
	assert_string_equal(
		text, "tool: /tmp/?]0;title?/x: warning: section .a??tool: all is well is odd\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_out),
		cmocka_unit_test(arguments_are_quoted),
		cmocka_unit_test(names_are_short_and_harmless),
		cmocka_unit_test(newlines_are_those_of_the_format),
		cmocka_unit_test(what_is_cut_stays_clean),
		cmocka_unit_test(messages_are_clean),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
