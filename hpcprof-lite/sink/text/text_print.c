/* SPDX-License-Identifier: BSD-3-Clause */
/* See text_print.h. Independent of the locale's number format.
 * Test: tests/unit/sink/test_text.c. */
#include "hpcprof-lite/sink/text/text_print.h"

#include "common/base/foreign.h"
#include "common/safe/printable.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *text_count(char cell[TEXT_CELL], uint64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%" PRIu64, n), to = 0;
	if (length + (length - 1) / 3 >= TEXT_CELL) { /* beyond 10^17 */
		snprintf(cell, TEXT_CELL, "%.3e", (double)n);
		return cell;
	}
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			cell[to++] = ',';
		cell[to++] = digits[i];
	}
	cell[to] = 0;
	return cell;
}

/* Three significant digits or more. */
static const char *scaled(char cell[TEXT_CELL], double value, const char *unit)
{
	double size = fabs(value);
	snprintf(cell, TEXT_CELL,
		 size >= 999.5   ? "%.0f %s"
		 : size >= 99.95 ? "%.1f %s"
				 : "%.2f %s",
		 value, unit);
	return cell;
}

const char *text_seconds(char cell[TEXT_CELL], double v)
{
	double size = fabs(v);
	if (size == 0)
		return strcpy(cell, "0 s");
	/* what would round to 1000 of a unit is 1 of the next */
	return size >= 0.9995     ? scaled(cell, v, "s")
	       : size >= 0.9995e-3 ? scaled(cell, v * 1e3, "ms")
	       : size >= 0.9995e-6 ? scaled(cell, v * 1e6, "us")
				   : scaled(cell, v * 1e9, "ns");
}

static const char *joules(char cell[TEXT_CELL], double v)
{
	double size = fabs(v);
	return size >= 99950         ? scaled(cell, v / 1e3, "kJ")
	       : size >= 0.9995      ? scaled(cell, v, "J")
	       : size >= 0.9995e-3   ? scaled(cell, v * 1e3, "mJ")
	       : size > 0            ? scaled(cell, v * 1e6, "uJ")
				     : strcpy(cell, "0 J");
}

static const char *bytes(char cell[TEXT_CELL], double v)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	unsigned i = 0;
	for (; fabs(v) >= 1024 && i < 5; i++)
		v /= 1024;
	return scaled(cell, v, units[i]);
}

const char *text_ns(char cell[TEXT_CELL], uint64_t ns)
{
	return text_seconds(cell, (double)ns / 1e9);
}

const char *text_value(char cell[TEXT_CELL], enum model_unit unit, double value)
{
	if (unit == MODEL_SECONDS)
		return text_seconds(cell, value);
	if (unit == MODEL_BYTES)
		return bytes(cell, value);
	if (unit == MODEL_JOULES)
		return joules(cell, value);
	if (value >= 0 && value < 1e7)
		return text_count(cell, (uint64_t)(value + 0.5));
	return value < 1e9    ? scaled(cell, value / 1e6, "M")
	       : value < 1e12 ? scaled(cell, value / 1e9, "G")
			      : scaled(cell, value / 1e12, "T");
}

const char *text_share(char cell[TEXT_CELL], double part, double whole)
{
	double percent = whole > 0 ? 100 * part / whole : 0;
	if (part == 0 || whole <= 0)
		cell[0] = 0;
	else if (percent < 0.05)
		strcpy(cell, "<0.1%");
	else
		snprintf(cell, TEXT_CELL, "%.1f%%", percent);
	return cell;
}

size_t text_columns(const char *s)
{
	size_t n = 0;
	bool harmless;
	for (; *s; s += printable_step(s, &harmless))
		n++;
	return n;
}

/* The ends that text_cell() keeps of a name that is too long. */
static size_t kept_tail(size_t columns)
{
	return columns > 8 ? (columns - 2) / 3 : 0;
}

static size_t kept_head(size_t columns)
{
	return columns > 8 ? columns - 2 - kept_tail(columns) : columns;
}

void text_cell(FILE *out, const char *s, size_t columns)
{
	size_t n = text_columns(s);
	if (columns == 0 || n <= columns) {
		foreign_put_n(out, s, n);
		for (; n < columns; n++)
			putc(' ', out);
		return;
	}
	size_t tail = kept_tail(columns);
	foreign_put_n(out, s, kept_head(columns));
	if (!tail)
		return;
	fputs("..", out);
	bool harmless;
	for (size_t skip = n - tail; skip; skip--)
		s += printable_step(s, &harmless);
	foreign_put_n(out, s, tail);
}

size_t text_fitting(const char *s, size_t columns)
{
	const char *at = s;
	size_t n = 0, space = 0;
	bool harmless;
	for (; *at; at += printable_step(at, &harmless), n++) {
		if (n > columns && space)
			return space;
		if (*at == ' ' && n > columns)
			return (size_t)(at - s);
		if (*at == ' ')
			space = (size_t)(at - s);
	}
	return n <= columns || !space ? (size_t)(at - s) : space;
}

void text_wrap(FILE *out, const char *s, size_t columns, size_t indent)
{
	char line[TEXT_NAME];
	for (bool is_first = true; *s; is_first = false) {
		size_t n = text_fitting(s, columns);
		snprintf(line, sizeof line, "%.*s", (int)n, s);
		fprintf(out, "%*s", is_first ? 0 : (int)indent, "");
		text_cell(out, line, text_columns(line) < columns ? 0 : columns);
		putc('\n', out);
		s += n + strspn(s + n, " ");
	}
}

/*
 * The position after the bracket that closes the one at `s`, or the end. "->" and operators close
 * nothing.
 */
static const char *skip_brackets(const char *s, char open, char close)
{
	unsigned depth = 0;
	for (; *s; s++) {
		if (*s == open)
			depth++;
		else if (*s == close && !(close == '>' && s[-1] == '-') && --depth == 0)
			return s + 1;
	}
	return s;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

/* Copies the name of an operator, which may contain "<" or "(". Returns its length. */
static const char *copy_operator(const char *s, char **to)
{
	static const char word[] = "operator";
	const char *end = s + sizeof word - 1;
	if (end[0] == '(' && end[1] == ')')
		end += 2;
	else
		while (*end && strchr("<>=!+-*/%^&|~,[]", *end))
			end++;
	while (s < end)
		*(*to)++ = *s++;
	if (s[0] == ' ' && s[1] == '<') /* operator< <int>: a space keeps the two apart */
		*(*to)++ = *s++;
	return s;
}

/* Removes the text between brackets, but keeps contents of at most two characters. */
static void leave_out(char *name, char open, char close)
{
	char *to = name;
	for (const char *s = name; *s;) {
		if (strncmp(s, "operator", 8) == 0 && (s == name || !is_word(s[-1])) &&
		    !is_word(s[8])) {
			s = copy_operator(s, &to);
			if (*s != open)
				continue;
		}
		if (*s != open || s == name || strncmp(s, "(anonymous", 10) == 0) {
			*to++ = *s++;
			continue;
		}
		const char *end = skip_brackets(s, open, close);
		if (end - s <= 4) {
			while (s < end)
				*to++ = *s++;
			continue;
		}
		*to++ = open;
		*to++ = '.';
		*to++ = '.';
		*to++ = close;
		s = end;
	}
	*to = 0;
}

/*
 * Removes the return type at the start of a template's name: all up to the last space outside
 * brackets before the parameters. Operators may contain a space, and "virtual thunk to f()" is not
 * f.
 */
static void leave_out_result(char *name)
{
	const char *begin = name;
	unsigned depth = 0;
	for (const char *s = name; *s; s++) {
		bool opens = strchr("<{[", *s) || strncmp(s, "(anonymous", 10) == 0;
		if (depth == 0 && *s == '(' && !opens) {
			if (s > begin && !strstr(name, "thunk to "))
				memmove(name, begin, strlen(begin) + 1);
			return;
		}
		if (depth == 0 && strncmp(s, "operator", 8) == 0 &&
		    (s == name || !is_word(s[-1])) && !is_word(s[8])) {
			if (!strstr(name, "thunk to "))
				memmove(name, begin, strlen(begin) + 1);
			return;
		}
		if (depth == 0 && *s == ' ')
			begin = s + 1;
		depth += opens || (depth && *s == '(');
		depth -= depth && strchr(">}])", *s) && !(*s == '>' && s > name && s[-1] == '-');
	}
}

/*
 * "{lambda(..)#2}::operator()(..) const" becomes "{lambda#2}": if the middle of the name were cut
 * out, two lambdas of one function would look the same.
 */
static void leave_out_calls(char *name)
{
	static const char call[] = "::operator()", lambda[] = "{lambda";
	enum { CALL = sizeof call - 1, LAMBDA = sizeof lambda - 1 };
	char *to = name;
	for (const char *s = name; *s;) {
		if (s > name && s[-1] == '}' && strncmp(s, call, CALL) == 0) {
			s += CALL;
			s = *s == '<' ? skip_brackets(s, '<', '>') : s;
			s = *s == '(' ? skip_brackets(s, '(', ')') : s;
			s += strncmp(s, " const", 6) == 0 ? 6 : 0;
		} else if (strncmp(s, lambda, LAMBDA) == 0) {
			memmove(to, s, LAMBDA);
			to += LAMBDA;
			s += LAMBDA;
			s = *s == '(' ? skip_brackets(s, '(', ')') : s;
		} else {
			*to++ = *s++;
		}
	}
	*to = 0;
}

bool text_is_made_up(const char *name)
{
	return name[0] == '<' && !*skip_brackets(name, '<', '>') && !strchr(name, '[');
}

/*
 * Keeps the address, which identifies the function: "<0x1234> [libx.so]", or "<0x1234>" if
 * text_cell() would cut it.
 */
static void shorten_unknown(char *name, size_t columns)
{
	static const char words[] = "<unknown at ";
	size_t n = sizeof words - 1;
	if (strncmp(name, words, n) != 0 || text_columns(name) <= columns)
		return;
	memmove(name + 1, name + n, strlen(name + n) + 1);
	char *module = strstr(name, " [");
	if (module && text_columns(name) > columns && (size_t)(module - name) > kept_head(columns))
		*module = 0;
}

void text_shorten(char *name, size_t columns)
{
	size_t mark = strlen(TEXT_GUESSED);
	if (strncmp(name, TEXT_GUESSED, mark) == 0) {
		name += mark;
		columns -= columns > mark ? mark : columns;
	}
	shorten_unknown(name, columns);
	if (text_columns(name) > columns)
		leave_out(name, '<', '>');
	if (text_columns(name) > columns)
		leave_out(name, '(', ')');
	if (text_columns(name) > columns)
		leave_out_calls(name);
	if (text_columns(name) > columns)
		leave_out_result(name);
}

const char *text_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

const char *text_file(char name[TEXT_FILE], const char *path)
{
	enum { HASH = 32, SHOWN = 8 };
	const char *base = text_base(path);
	size_t digits = strspn(base, "0123456789abcdef");
	if (digits == HASH && base[digits] == '.')
		snprintf(name, TEXT_FILE, "%.*s%s", SHOWN, base, base + HASH);
	else
		snprintf(name, TEXT_FILE, "%s", base);
	return name;
}

void text_place(char *to, size_t n_bytes, const struct model *m, const struct model_context *c)
{
	char file[TEXT_FILE];
	to[0] = 0;
	if (c->file != MODEL_NONE && c->line)
		snprintf(to, n_bytes, "%s:%" PRIu32, text_file(file, m->files[c->file].path),
			 c->line);
	else if ((c->kind == MODEL_CONTEXT_INSTRUCTION || c->kind == MODEL_CONTEXT_LOOP) &&
		 c->function != MODEL_NONE) {
		uint64_t entry = m->functions[c->function].link_addr;
		if (entry && c->link_addr >= entry)
			snprintf(to, n_bytes, "+%#" PRIx64, c->link_addr - entry);
		else if (c->link_addr) /* 0: JIT code without lines */
			snprintf(to, n_bytes, "%#" PRIx64, c->link_addr);
	}
}
