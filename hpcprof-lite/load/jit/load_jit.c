/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads perf maps, and searches perf maps and jitdumps by address. Code of several functions may
 * overlap, because memory is reused. So the codes are a balanced tree by start, and each node has
 * the largest end below it (T. Cormen et al., Introduction to Algorithms, interval trees). Tests:
 * tests/unit/prof/test_jit.c, tests/fuzz/fuzz_jit.c.
 */
#include "hpcprof-lite/load/jit/load_jit.h"

#include "common/base/sorted.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 4096 };

/* ---- perf maps ---- */

/* A hexadecimal number with or without 0x, and the blanks after it. */
static bool read_hex(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	const uint8_t *p = *at;
	unsigned n = 0;
	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (*value = 0; p < end; p++, n++) {
		unsigned c = *p | 32u, digit = 16;
		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if (c >= 'a' && c <= 'f')
			digit = c - 'a' + 10;
		if (digit == 16)
			break;
		*value = *value << 4 | digit;
	}
	bool ok = n > 0 && n <= 16 && p < end && *p == ' ';
	while (p < end && *p == ' ')
		p++;
	*at = p;
	return ok;
}

static bool add_map_line(struct jit_names *names, const uint8_t *p, const uint8_t *end)
{
	uint64_t start, n_bytes;
	if (end > p && end[-1] == '\r')
		end--;
	if (!read_hex(&p, end, &start) || !read_hex(&p, end, &n_bytes) || p == end)
		return true;
	if (n_bytes == 0 || start + n_bytes < start || memchr(p, 0, (size_t)(end - p)))
		return true;
	size_t name_bytes = (size_t)(end - p) < NAME_BYTES_MAX ? (size_t)(end - p) : NAME_BYTES_MAX;
	uint32_t name = strtab_add(&names->strings, (const char *)p, name_bytes);
	struct jit_code *code = name != STRTAB_FAILED ? vec_push(&names->map) : NULL;
	if (code)
		*code = (struct jit_code){.start = start, .end = start + n_bytes, .name = name,
			.index = names->map.n};
	return code != NULL;
}

bool jit_read_map(struct jit_names *names, const uint8_t *bytes, size_t n_bytes)
{
	bool ok = true;
	for (const uint8_t *p = bytes, *end = bytes + n_bytes; p < end && ok;) {
		const uint8_t *newline = memchr(p, '\n', (size_t)(end - p));
		if (!newline)
			break; /* the process was killed while it wrote this line */
		ok = add_map_line(names, p, newline);
		p = newline + 1;
	}
	return ok;
}

/* ---- search ---- */

static int compare_codes(const void *pa, const void *pb)
{
	const struct jit_code *a = pa, *b = pb;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static uint64_t set_ends(struct jit_code *at, size_t n)
{
	if (n == 0)
		return 0;
	size_t middle = n / 2;
	uint64_t end = at[middle].end, left = set_ends(at, middle),
		right = set_ends(at + middle + 1, n - middle - 1);
	end = left > end ? left : end;
	return at[middle].max_end = right > end ? right : end;
}

static void sort_list(jit_list *list)
{
	if (list->n)
		qsort(list->at, list->n, sizeof *list->at, compare_codes);
	set_ends(list->at, list->n);
}

void jit_sort(struct jit_names *names)
{
	sort_list(&names->dump);
	sort_list(&names->map);
}

static bool find_below(const struct jit_code *at, size_t n, uint64_t addr,
	bool (*found)(void *, const struct jit_code *), void *arg)
{
	while (n > 0) {
		size_t middle = n / 2;
		if (at[middle].max_end <= addr)
			return true;
		if (!find_below(at, middle, addr, found, arg))
			return false;
		if (at[middle].start > addr)
			return true;
		if (at[middle].end > addr && !found(arg, &at[middle]))
			return false;
		at += middle + 1;
		n -= middle + 1;
	}
	return true;
}

bool jit_find(const jit_list *list, uint64_t addr,
	bool (*found)(void *, const struct jit_code *), void *arg)
{
	return find_below(list->at, list->n, addr, found, arg);
}

bool jit_line_at(const struct jit_names *names, const struct jit_code *code, uint64_t addr,
	uint32_t *file, uint32_t *line)
{
	if (!code->n_lines)
		return false;
	const struct jit_line *lines = &names->lines.at[code->first_line];
	size_t n = sorted_up_to(lines, code->n_lines, addr,
		addr + (names->entries_are_shifted ? JIT_SHIFT_BYTES : 0));
	if (n == 0 || !lines[n - 1].line)
		return false;
	*file = lines[n - 1].file;
	*line = lines[n - 1].line;
	return true;
}

void jit_names_free(struct jit_names *names)
{
	strtab_free(&names->strings);
	vec_free(&names->dump);
	vec_free(&names->map);
	vec_free(&names->lines);
}
