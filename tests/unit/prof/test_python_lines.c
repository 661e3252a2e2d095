/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/load/python_lines: tables as CPython's documents have them, by hand;
 * damage. tests/cli/python/python_lines.sh compares with an interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/load/python_lines.h"

#include <stdlib.h>
#include <string.h>

static uint32_t line_of(enum msr_python_lines kind, const uint8_t *table, size_t n,
			uint32_t first_line, uint32_t unit)
{
	uint32_t line = 0;
	return python_line(kind, table, n, first_line, unit, &line) ? line : 0;
}

/* The example of Objects/lnotab_notes.txt of CPython 3.10, and lines that go back. */
static void pairs(void **state)
{
	static const uint8_t table[] = {6, 1, 44, 5, 50, 250, 2, 0x80, 4, 0xff, 254, 0, 4, 127};
	(void)state;
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 0), 101);
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 2), 101);
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 3), 106);
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 25), 100);
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 49), 100);
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 50),
			 0); /* none */
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 51), 99);
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 53), 99);
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 180), 226);
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, sizeof table, 100, 182),
			 0); /* behind the end */
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, table, 3, 100, 3), 0);
}

/* One entry of each form. */
static void locations(void **state)
{
	static const uint8_t table[] = {
		0x80 | 3 << 3 | 1,
		0x12, /* short: 2 units of the first line */
		0x80 | 11 << 3,
		4,
		9, /* one line, the next: 1 unit */
		0x80 | 13 << 3 | 7,
		0x05, /* no columns, -2: 8 units */
		0x80 | 14 << 3,
		0x40 | 8,
		0x01,
		0x00,
		0x40,
		0x02,
		0x03,               /* long, (8 + 64) / 2 = 36 further: 1 unit */
		0x80 | 15 << 3 | 2, /* no line: 3 units */
		0x80 | 12 << 3,
		1,
		2, /* two further: 1 unit */
	};
	static const uint32_t lines[] = {10, 10, 11, 9, 9, 9, 9, 9, 9, 9, 9, 45, 0, 0, 0, 47, 0};
	(void)state;
	for (uint32_t unit = 0; unit < sizeof lines / sizeof *lines; unit++)
		assert_int_equal(line_of(MSR_PYTHON_LINES_LOCATIONS, table, sizeof table, 10, unit),
				 lines[unit]);
}

/* Any bytes, right before memory that the sanitizers watch. */
static void damage(void **state)
{
	uint64_t seed = 88172645463325252u;
	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)(seed % 24);
		uint8_t *table = malloc(n + !n);
		uint32_t line = 0;
		assert_non_null(table);
		for (size_t i = 0; i < n; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			table[i] = (uint8_t)(round % 3 ? seed : seed | 0x70);
		}
		seed = seed * 6364136223846793005u + 1;
		if (python_line((enum msr_python_lines)(round % 4), table, n, (uint32_t)seed >> 2,
				(uint32_t)round % 80, &line))
			assert_in_range(line, 1, INT32_MAX);
		free(table);
	}
	assert_int_equal(line_of(MSR_PYTHON_LINES_PAIRS, NULL, 0, 1, 0), 0);
	assert_int_equal(line_of((enum msr_python_lines)77, NULL, 0, 1, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pairs), cmocka_unit_test(locations),
					   cmocka_unit_test(damage)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
