/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcstruct-lite/debug/line_program: tables written byte by byte, and every truncation of
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcstruct-lite/debug/line_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET_ADDRESS(a) 0, 9, 2, (a) & 0xff, (a) >> 8, 0, 0, 0, 0, 0, 0
#define END_SEQUENCE 0, 1, 1
#define LENGTHS 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1

/* DWARF 5 as gcc 12 writes it: file 0 is the unit's, file 1 another, and the sequence starts
 * without setting one. */
static const uint8_t table5[] = {
	0,
	0,
	0,
	0,
	5,
	0,
	8,
	0,
	0,
	0,
	0,
	0,
	1,
	1,
	1,
	0xfb,
	14,
	13,
	LENGTHS,
	1,
	1,
	0x08,
	2,
	'/',
	'd',
	0,
	'i',
	'n',
	'c',
	0, /* directories: path as a string */
	2,
	1,
	0x08,
	2,
	0x0b,
	2,
	'a',
	'.',
	'c',
	0,
	0,
	'b',
	'.',
	'h',
	0,
	1, /* files: path as a string, directory in a byte */
	/* program, offset 60 */
	SET_ADDRESS(0x1000),
	3,
	9,
	1,        /* advance_line 9, copy */
	0x4b + 1, /* special: address + 4, line + 2 */
	4,
	0,
	2,
	8, /* set_file 0, advance_pc 8 */
	6,
	5,
	3,
	1, /* negate_stmt, set_column, copy */
	8,
	9,
	0x10,
	0,
	1, /* const_add_pc (+ 17), fixed_advance_pc 16, copy */
	END_SEQUENCE,
};

static const uint8_t table2[] = {
	0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1,
	'd', 0, 0, 'a', '.', 'c', 0, 0, 0, 0, 'b', '.', 'c', 0, 1, 0, 0, 0,
	/* program */
	SET_ADDRESS(0x2000), 1, 4, 2, 3, 0x7f, 2, 1, 1, END_SEQUENCE,
};

/* Copies a table and fills in its two lengths. */
static size_t prepare(uint8_t *out, const uint8_t *table, size_t n_bytes, size_t header_length_at,
		      size_t program_at)
{
	memcpy(out, table, n_bytes);
	out[0] = (uint8_t)(n_bytes - 4);
	out[header_length_at] = (uint8_t)(program_at - header_length_at - 4);
	return n_bytes;
}

struct sink {
	char text[1000];
	size_t n, stop_after;
};

static bool take(void *arg, const struct line_row *r)
{
	struct sink *s = arg;
	size_t used = strlen(s->text);
	snprintf(s->text + used, sizeof s->text - used, "%s%llx=%llu:%llu%s", used ? " " : "",
		 (unsigned long long)r->link_addr, (unsigned long long)r->file,
		 (unsigned long long)r->line, r->is_end ? "." : "");
	return ++s->n != s->stop_after;
}

static enum line_result run(const uint8_t *bytes, size_t n_bytes, struct sink *sink)
{
	struct line_sections s = {.line = {bytes, n_bytes}};
	struct line_header h;
	uint64_t where;
	enum line_result r = line_header_read(&s, 0, &h, &where);
	if (r != LINE_OK)
		return r;
	r = line_program_run(&s, &h, take, sink, &where);
	line_header_free(&h);
	return r;
}

static size_t program_of(const uint8_t *table, size_t n_bytes)
{
	for (size_t i = 0; i + 11 < n_bytes; i++)
		if (table[i] == 0 && table[i + 1] == 9 && table[i + 2] == 2)
			return i;
	fail();
	return 0;
}

static void test_version_5(void **state)
{
	uint8_t bytes[200];
	struct sink sink = {0};
	(void)state;
	size_t n = prepare(bytes, table5, sizeof table5, 8, program_of(table5, sizeof table5));
	struct line_sections s = {.line = {bytes, n}};
	struct line_header h;
	uint64_t where;
	assert_int_equal(line_header_read(&s, 0, &h, &where), LINE_OK);
	assert_int_equal(h.files.n, 2);
	assert_string_equal(h.files.at[0].name, "a.c");
	assert_string_equal(h.files.at[1].name, "b.h");
	assert_int_equal(h.files.at[1].dir, 1);
	assert_string_equal(h.dirs.at[0], "/d");
	line_header_free(&h);
	/* the first row is of file 1: the register starts with 1 in DWARF 5 too */
	assert_int_equal(run(bytes, n, &sink), LINE_OK);
	assert_string_equal(sink.text, "1000=1:10 1004=1:12 100c=0:12 102d=0:12 102d=0:12.");
}

static void test_version_2(void **state)
{
	uint8_t bytes[200];
	struct sink sink = {0};
	(void)state;
	size_t n = prepare(bytes, table2, sizeof table2, 6, program_of(table2, sizeof table2));
	assert_int_equal(run(bytes, n, &sink), LINE_OK);
	assert_string_equal(sink.text, "2000=1:1 2001=2:0 2001=2:0.");
}

/* NVIDIA's: four bytes behind the tables say where names begin; opcode 0x90 gives caller and name,
 * 0x91 a name. */
static const uint8_t table_nvidia[] = {
	0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1,
	0, 'a', '.', 'c', 'u', 0, 0, 0, 0, 0, 0x20, 3, 0, 0,
	/* program */
	SET_ADDRESS(0x3000), 1,           /* row 1 */
	0, 4, 0x90, 1, 0x80 | 5, 1,       /* called at row 1, name 133 */
	0xff,                             /* row 2 */
	0, 3, 0x90, 0, 0, 1,              /* row 3: not inlined */
	0, 2, 0x91, 7, 1,                 /* row 4: name 7 */
	END_SEQUENCE,
	SET_ADDRESS(0x4000), 1, END_SEQUENCE, /* everything as at the start */
};

static bool take_calls(void *arg, const struct line_row *r)
{
	struct sink *s = arg;
	size_t used = strlen(s->text);
	snprintf(s->text + used, sizeof s->text - used, "%s%llu/%llu%s", used ? " " : "",
		 (unsigned long long)r->context, (unsigned long long)r->name, r->is_end ? "." : "");
	return true;
}

static void test_inlined_calls(void **state)
{
	uint8_t bytes[200];
	struct sink sink = {0};
	struct line_header h;
	uint64_t where;
	(void)state;
	size_t n = prepare(bytes, table_nvidia, sizeof table_nvidia, 6,
			   program_of(table_nvidia, sizeof table_nvidia));
	struct line_sections s = {.line = {bytes, n}};
	assert_int_equal(line_header_read(&s, 0, &h, &where), LINE_OK);
	assert_int_equal(h.name_base, 0x320);
	assert_int_equal(line_program_run(&s, &h, take_calls, &sink, &where), LINE_OK);
	line_header_free(&h);
	assert_string_equal(sink.text, "0/0 1/933 0/800 0/807 0/807. 0/0 0/0.");
	/* an operand that goes beyond its operation */
	for (size_t i = 0; i + 3 < n; i++) {
		if (bytes[i] != 4 || bytes[i + 1] != 0x90)
			continue;
		bytes[i] = 3;
		assert_int_equal(line_header_read(&s, 0, &h, &where), LINE_OK);
		assert_int_equal(line_program_run(&s, &h, take_calls, &sink, &where), LINE_DAMAGED);
		line_header_free(&h);
		return;
	}
	fail();
}

static void test_damage(void **state)
{
	uint8_t bytes[200];
	(void)state;
	size_t n = prepare(bytes, table5, sizeof table5, 8, program_of(table5, sizeof table5));
	for (size_t cut = 0; cut < n; cut++) { /* the length says more than there is */
		uint8_t *copy =
			malloc(cut ? cut : 1); /* so that a sanitizer sees every byte too many */
		struct sink sink = {0};
		memcpy(copy, bytes, cut);
		assert_int_equal(run(copy, cut, &sink), LINE_DAMAGED);
		free(copy);
	}
	for (size_t at = 0; at < n; at++)
		for (int bit = 0; bit < 8; bit++) {
			uint8_t *copy = malloc(n);
			struct sink sink = {0};
			memcpy(copy, bytes, n);
			copy[at] ^= (uint8_t)(1 << bit);
			run(copy, n, &sink); /* any result will do */
			free(copy);
		}
}

static void test_stop(void **state)
{
	uint8_t bytes[200];
	struct sink sink = {.stop_after = 2};
	(void)state;
	size_t n = prepare(bytes, table5, sizeof table5, 8, program_of(table5, sizeof table5));
	assert_int_equal(run(bytes, n, &sink), LINE_NO_MEMORY);
	assert_int_equal(sink.n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_5),
		cmocka_unit_test(test_version_2),
		cmocka_unit_test(test_inlined_calls),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
