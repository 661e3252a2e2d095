/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See python_lines.h. The encodings are described in PEP 626 with Objects/lnotab_notes.txt of
 * CPython 3.10, and from CPython 3.11 on in Objects/locations.md (now
 * InternalDocs/code_objects.md). Must not read beyond the table. Test:
 * tests/unit/prof/test_python_lines.c, tests/cli/python/python_lines.sh.
 */
#include "hpcprof-lite/load/python_lines.h"

struct table {
	const uint8_t *at, *end;
};

static bool take(struct table *t, uint8_t *byte)
{
	if (t->at == t->end)
		return false;
	*byte = *t->at++;
	return true;
}

static bool set(int64_t value, uint32_t *line)
{
	if (value <= 0 || value > INT32_MAX)
		return false;
	*line = (uint32_t)value;
	return true;
}

/* The table has pairs: a number of bytes, and a signed difference of lines (-128: no line). */
static bool find_in_pairs(struct table *t, int64_t first_line, uint64_t offset, uint32_t *line)
{
	enum { NO_LINE = -128 };
	uint8_t bytes, difference;
	int64_t at = first_line;
	for (uint64_t end = 0; take(t, &bytes) && take(t, &difference);) {
		int delta = (int8_t)difference;
		at += delta == NO_LINE ? 0 : delta;
		end += bytes;
		if (offset < end)
			return delta != NO_LINE && set(at, line);
	}
	return false;
}

/* Reads six bits from each byte, the lowest bits first. Bit 6 says that more bytes follow. */
static uint64_t take_varint(struct table *t)
{
	uint64_t value = 0;
	uint8_t byte = 0x40;
	for (unsigned shift = 0; shift < 60 && byte & 0x40 && take(t, &byte); shift += 6)
		value |= (uint64_t)(byte & 0x3f) << shift;
	return value;
}

static int64_t take_signed(struct table *t)
{
	uint64_t value = take_varint(t);
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static void skip(struct table *t, unsigned n)
{
	for (uint8_t byte; n && take(t, &byte); n--)
		;
}

/*
 * Each entry has a byte with its form and its number of code units minus one, then what the form
 * needs. Only differences of lines matter here.
 */
static bool find_in_locations(struct table *t, int64_t first_line, uint64_t unit, uint32_t *line)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_LINE = 15 };
	uint8_t head;
	int64_t at = first_line;
	for (uint64_t end = 0; take(t, &head);) {
		unsigned form = head >> 3 & 15;
		if (form < ONE_LINE) {
			skip(t, 1);
		} else if (form < NO_COLUMNS) {
			at += form - ONE_LINE;
			skip(t, 2);
		} else if (form < NO_LINE) {
			at += take_signed(t);
			for (unsigned i = 0; form == LONG && i < 3; i++)
				take_varint(t);
		}
		if (at < -INT32_MAX || at > INT32_MAX)
			return false;
		end += (head & 7) + 1u;
		if (unit < end)
			return form != NO_LINE && set(at, line);
	}
	return false;
}

bool python_line(enum msr_python_lines kind, const uint8_t *table, size_t n_bytes,
		 uint32_t first_line, uint32_t unit, uint32_t *line)
{
	struct table t = {table, table + n_bytes};
	switch (kind) {
	case MSR_PYTHON_LINES_PAIRS:
		return find_in_pairs(&t, first_line, 2 * (uint64_t)unit, line);
	case MSR_PYTHON_LINES_LOCATIONS:
		return find_in_locations(&t, first_line, unit, line);
	default:
		return false;
	}
}
