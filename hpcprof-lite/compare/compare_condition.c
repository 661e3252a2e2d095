/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a condition. The comparison is the last '<' or '>' in the text, because names of C++
 * functions and kernels may contain both. Test: tests/unit/compare/test_compare_condition.c.
 */
#include "hpcprof-lite/compare/compare_condition.h"

#include "common/base/log.h"
#include "common/base/options.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t";

/* Says what was expected, and shows where. */
static enum status refuse(const char *text, const char *at, const char *expected)
{
	int column = (int)(at - text);
	log_error("--fail-if", "expected %s at column %d:", expected, column + 1);
	log_error("--fail-if", "  %s", text);
	log_error("--fail-if", "  %*s^", column, "");
	return STATUS_USAGE;
}

static size_t trim(const char *s, size_t n)
{
	while (n && strchr(blanks, s[n - 1]))
		n--;
	return n;
}

/* ---- the value ---- */

static const struct {
	const char *name;
	double factor;
	enum model_unit unit;
} units[] = {
	{"", 1, MODEL_COUNT},
	{"s", 1, MODEL_SECONDS},
	{"sec", 1, MODEL_SECONDS},
	{"ms", 1e-3, MODEL_SECONDS},
	{"us", 1e-6, MODEL_SECONDS},
	{"ns", 1e-9, MODEL_SECONDS},
	{"min", 60, MODEL_SECONDS},
	{"B", 1, MODEL_BYTES},
	{"KiB", 1024, MODEL_BYTES},
	{"MiB", 1048576, MODEL_BYTES},
	{"GiB", 1073741824, MODEL_BYTES},
	{"KB", 1e3, MODEL_BYTES},
	{"MB", 1e6, MODEL_BYTES},
	{"GB", 1e9, MODEL_BYTES},
	{"k", 1e3, MODEL_COUNT},
	{"M", 1e6, MODEL_COUNT},
	{"G", 1e9, MODEL_COUNT},
};

static bool read_unit(const char *at, size_t n, struct compare_condition *to)
{
	to->is_percent = n == 1 && *at == '%';
	if (to->is_percent)
		return true;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i].name) == n && strncmp(units[i].name, at, n) == 0) {
			to->value *= units[i].factor;
			to->unit = units[i].unit;
			return true;
		}
	return false;
}

/* The number is in the C locale, whatever the user's is. strtod() would also take "inf" and hex. */
static const char *read_number(const char *at, double *value)
{
	static const char digits[] = "0123456789";
	char *end = NULL;
	size_t n = strspn(at, "+-"), whole = strspn(at + n, digits);
	const char *point = at + n + whole;
	size_t fraction = *point == '.' ? strspn(point + 1, digits) : 0;
	if (n > 1 || whole + fraction == 0 || (whole == 1 && strspn(at + n, "0xX") > 1))
		return NULL;
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
	if (!c)
		return NULL;
	*value = strtod_l(at, &end, c);
	freelocale(c);
	return isfinite(*value) ? end : NULL;
}

static enum status read_value(const char *at, struct compare_condition *to)
{
	static const char example[] = "a value such as +5%, -10%, +200 ms, 2 s or 1 GiB";
	at += strspn(at, blanks);
	to->is_change = *at == '+' || *at == '-';
	const char *end = read_number(at, &to->value);
	if (!end)
		return refuse(to->text, at, example);
	const char *unit = end + strspn(end, blanks);
	if (!read_unit(unit, trim(unit, strlen(unit)), to))
		return refuse(to->text, unit,
			      "one of %, s, ms, us, ns, min, B, KiB, MiB, GiB, KB,"
			      " MB, GB, k, M, G or nothing");
	if (to->is_percent && !to->is_change)
		return refuse(to->text, at, "a sign (+5% is a change of 5 per cent)");
	return STATUS_OK;
}

/* ---- what is compared ---- */

/* If text[0 .. n-1] ends with the word, takes it off. */
static bool take_word(const char *text, size_t *n, const char *word)
{
	size_t n_word = strlen(word);
	if (*n <= n_word || memcmp(text + *n - n_word, word, n_word) != 0 ||
	    !strchr(blanks, text[*n - n_word - 1]))
		return false;
	*n = trim(text, *n - n_word);
	return true;
}

/* The first " in " of text[0 .. n-1], or its end: no name of a metric contains that. */
static size_t find_in(const char *text, size_t n)
{
	for (size_t i = 1; i + 3 <= n; i++)
		if (strchr(blanks, text[i - 1]) && text[i] == 'i' && text[i + 1] == 'n' &&
		    strchr(blanks, text[i + 2]))
			return i;
	return n;
}

static enum status read_subject(size_t n, struct compare_condition *to)
{
	const char *text = to->text;
	size_t begin = strspn(text, blanks), in = find_in(text, n), end = trim(text, in);
	if (in < n) {
		size_t at = in + 2 + strspn(text + in + 2, blanks);
		to->function = text + at;
		to->n_function = at < n ? trim(text + at, n - at) : 0;
		if (!to->n_function)
			return refuse(text, text + n, "the name of a function");
	}
	to->is_self = take_word(text, &end, "self");
	if (!to->is_self)
		take_word(text, &end, "total");
	to->metric = text + begin;
	to->n_metric = end > begin ? end - begin : 0;
	return to->n_metric ? STATUS_OK : refuse(text, text + begin, "the name of a metric");
}

enum status compare_condition_parse(const char *text, struct compare_condition *to)
{
	const char *sign = NULL;
	*to = (struct compare_condition){.text = text};
	for (const char *at = text; (at = strpbrk(at, "<>")); at++)
		sign = at;
	if (!sign)
		return refuse(text, text + strlen(text), "'<' or '>' and a value");
	to->is_greater = *sign == '>';
	enum status s = read_subject((size_t)(sign - text), to);
	return s == STATUS_OK ? read_value(sign + 1, to) : s;
}
