/* SPDX-License-Identifier: BSD-3-Clause */
/* See filter_text.h. Test: tests/unit/prof/test_filter.c. */
#include "hpcprof-lite/filter/filter_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

static bool read_number(const char **at, uint32_t *number)
{
	uint64_t n = 0;
	const char *p = *at;
	for (; *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (uint64_t)(*p - '0');
		if (n > INT32_MAX)
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	*number = (uint32_t)n;
	return true;
}

bool filter_next_range(const char **at, struct filter_range *out)
{
	const char *p = *at;
	struct filter_range r;
	if (!read_number(&p, &r.first))
		return false;
	r.last = r.first;
	if (*p == '-' && (p++, !read_number(&p, &r.last)))
		return false;
	if (r.last < r.first || (*p && *p != ',') || (*p == ',' && !p[1]))
		return false;
	*at = p + (*p == ',');
	*out = r;
	return true;
}

bool filter_is_list(const char *text)
{
	struct filter_range r;
	const char *at = text;
	while (filter_next_range(&at, &r))
		;
	return at != text && !*at;
}

bool filter_list_has(const char *list, uint32_t number)
{
	struct filter_range r;
	while (filter_next_range(&list, &r))
		if (number >= r.first && number <= r.last)
			return true;
	return false;
}

size_t filter_next_name(const char **at, const char **name)
{
	*at += strspn(*at, ",");
	*name = *at;
	size_t n = strcspn(*at, ",");
	*at += n;
	return n;
}

/* ---- time ---- */

/* Reads up to `end`, exclusive. "" is not given. */
static bool read_moment(const char *text, const char *end, struct filter_moment *m)
{
	char *rest;
	*m = (struct filter_moment){.is_given = text != end};
	if (!m->is_given)
		return true;
	if ((*text < '0' || *text > '9') && *text != '.')
		return false; /* no sign, blank, "inf" or "nan" */
	m->value = strtod(text, &rest);
	m->is_percent = *rest == '%';
	rest += *rest == '%' || *rest == 's';
	return rest == end && isfinite(m->value) && m->value <= (m->is_percent ? 100 : 1e9);
}

bool filter_read_time(const char *text, struct filter_moment *from, struct filter_moment *to)
{
	const char *colon = strchr(text, ':');
	if (!colon || !read_moment(text, colon, from) ||
	    !read_moment(colon + 1, colon + 1 + strlen(colon + 1), to))
		return false;
	return !from->is_given || !to->is_given || from->is_percent != to->is_percent ||
	       from->value < to->value;
}

/* ---- names ---- */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned filter_distance(const char *a, const char *b)
{
	enum { MOST = 200 };
	unsigned row[MOST + 1];
	size_t n_a = strnlen(a, MOST), n_b = strnlen(b, MOST);
	if (n_a && (strcasestr(b, a) || (n_b > 3 && strcasestr(a, b))))
		return 1;
	for (unsigned k = 0; k <= n_b; k++)
		row[k] = k;
	for (size_t i = 0; i < n_a; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i + 1;
		for (size_t k = 0; k < n_b; k++) {
			unsigned changed = diagonal + (a[i] != b[k]);
			diagonal = row[k + 1];
			row[k + 1] = least(changed, least(row[k], row[k + 1]) + 1);
		}
	}
	return row[n_b];
}
