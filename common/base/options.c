/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines from a table; see options.h. Test: tests/unit/common/test_base.c. */
#include "common/base/options.h"

#include "common/base/log.h"
#include "common/base/vec.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

enum { OPTION_HELP = 1000, OPTION_VERSION, OPTION_FIRST };
enum { HELP_COLUMN = 28, COLUMNS = 80 }; /* of the help */

static bool is_end(const struct option_spec *s)
{
	return s->letter == 0 && !s->name;
}

void options_print_wrapped(const char *text, size_t at, size_t indent)
{
	size_t rest = indent;
	while (*text) {
		size_t blanks = strspn(text, " "), n = blanks + strcspn(text + blanks, " \n");
		if (at > rest && at + n > COLUMNS) {
			printf("\n%*s", (int)rest, "");
			at = rest;
			text += blanks;
			n -= blanks;
		}
		printf("%.*s", (int)n, text);
		at += n;
		text += n;
		if (*text == '\n') {
			printf("\n%*s", (int)indent, "");
			at = indent;
			rest = indent ? indent + 2 : 0;
			text++;
		}
	}
	putchar('\n');
}

static void print_option(const struct option_spec *s)
{
	char head[128];
	const char *value = s->value_name ? s->value_name : "";
	if (s->letter && s->name)
		snprintf(head, sizeof head, "-%c, --%s%s%s", s->letter, s->name, *value ? "=" : "",
			 value);
	else if (s->letter)
		snprintf(head, sizeof head, "-%c%s%s", s->letter, *value ? " " : "", value);
	else
		snprintf(head, sizeof head, "    --%s%s%s", s->name, *value ? "=" : "", value);
	printf("  %-26s", head);
	if (strlen(head) > 25)
		printf("\n%*s", HELP_COLUMN, "");
	options_print_wrapped(s->help, HELP_COLUMN, HELP_COLUMN);
}

void options_help(const struct option_table *t)
{
	printf("usage: %s\n\n", t->synopsis);
	options_print_wrapped(t->about, 0, 0);
	printf("\noptions:\n");
	for (const struct option_spec *s = t->specs; !is_end(s); s++)
		print_option(s);
	print_option(&(struct option_spec){'h', "help", NULL, "print this text",
					    OPTION_CALL(NULL)});
	print_option(&(struct option_spec){0, "version", NULL, "print the version",
					    OPTION_CALL(NULL)});
	if (!t->footer)
		return;
	putchar('\n');
	options_print_wrapped(t->footer, 0, 0);
}

enum status options_refuse(const char *format, ...)
{
	char message[512];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	log_error(NULL, "%s (--help lists the options)", message);
	return STATUS_USAGE;
}

enum status options_set_quiet(void *arg, const char *value)
{
	(void)arg, (void)value;
	log_set_quiet(true);
	return STATUS_OK;
}

enum status options_set_verbose(void *arg, const char *value)
{
	(void)arg, (void)value;
	log_set_verbose(true);
	return STATUS_OK;
}

int options_number(const char *text, long long low, long long high, long long *number)
{
	char *end;
	errno = 0;
	long long n = strtoll(text, &end, 10);
	if (errno || end == text || *end || n < low || n > high)
		return 0;
	*number = n;
	return 1;
}

/* ---- kinds ---- */

static void keep(const struct option_use *u, void *arg, uint64_t n)
{
	void *field = (char *)arg + u->offset;
	const uint8_t n8 = (uint8_t)n;
	const uint32_t n32 = (uint32_t)n;
	if (u->n_bytes == sizeof n)
		memcpy(field, &n, sizeof n);
	else if (u->n_bytes == sizeof n32)
		memcpy(field, &n32, sizeof n32);
	else
		memcpy(field, &n8, sizeof n8);
}

/* Returns the index of the first n bytes of `word` in "self, total", or -1. */
static int find_name(const char *names, const char *word, size_t n)
{
	for (int i = 0; *names; i++) {
		const size_t length = strcspn(names, ",");
		if (length == n && memcmp(names, word, n) == 0)
			return i;
		names += length;
		names += strspn(names, ", ");
	}
	return -1;
}

static enum status use_names(const struct option_use *u, const char *label, void *arg,
			     const char *value)
{
	const bool is_list = u->kind == OPTION_KIND_LIST;
	uint64_t bits = 0;
	for (const char *at = value; *at || at == value;) {
		const size_t n = is_list ? strcspn(at, ",") : strlen(at);
		const int i = find_name(u->names, at, n);
		if (i < 0)
			return options_refuse("%s: '%.*s' is none of %s", label, (int)n, at,
					      u->names);
		bits = is_list ? bits | UINT64_C(1) << i : (uint64_t)i;
		at += n + (at[n] == ',');
	}
	uint32_t old = 0;
	if (is_list)
		memcpy(&old, (char *)arg + u->offset, u->n_bytes < sizeof old ? 1 : sizeof old);
	keep(u, arg, bits | old);
	return STATUS_OK;
}

static bool read_percent(const char *value, double *percent)
{
	char *end;
	*percent = strtod(value, &end);
	return end != value && (!*end || strcmp(end, "%") == 0) && *percent >= 0 &&
	       *percent <= 100;
}

static bool read_size(const char *value, uint64_t *n_bytes)
{
	static const char units[] = "KMG";
	char *end;
	if (*value < '0' || *value > '9')
		return false;
	errno = 0;
	*n_bytes = strtoull(value, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (errno || (*end && (!unit || end[1])) || *n_bytes > (uint64_t)INT64_MAX >> shift)
		return false;
	*n_bytes <<= shift;
	return true;
}

static enum status use_number(const struct option_use *u, const char *label, void *arg,
			      const char *value)
{
	long long number;
	double percent;
	uint64_t n_bytes;
	if (u->kind == OPTION_KIND_NUMBER) {
		if (!options_number(value, u->low, u->high, &number))
			return options_refuse("%s wants a number from %lld to %lld, not '%s'",
					      label, u->low, u->high, value);
		keep(u, arg, (uint64_t)number);
	} else if (u->kind == OPTION_KIND_SIZE) {
		if (!read_size(value, &n_bytes))
			return options_refuse("%s: '%s' is not a size; give a number of bytes, or "
					      "a number with K, M or G",
					      label, value);
		keep(u, arg, n_bytes);
	} else {
		if (!read_percent(value, &percent))
			return options_refuse(
				"%s wants a number of percent from 0 to 100, not '%s'", label,
				value);
		memcpy((char *)arg + u->offset, &percent, sizeof percent);
	}
	return STATUS_OK;
}

static enum status use(const struct option_spec *s, void *arg, const char *value)
{
	const struct option_use *u = &s->use;
	char label[64];
	snprintf(label, sizeof label, s->letter ? "-%.1s" : "--%s",
		 s->letter ? &s->letter : s->name);
	if (u->kind == OPTION_KIND_FILE && !*value)
		return options_refuse("%s needs the name of a %s", label,
				      *s->value_name == 'D' ? "directory" : "file");
	switch (u->kind) {
	case OPTION_KIND_CALL: return u->set(arg, value);
	case OPTION_KIND_FLAG: keep(u, arg, (uint64_t)u->low); return STATUS_OK;
	case OPTION_KIND_CHOICE:
	case OPTION_KIND_LIST: return use_names(u, label, arg, value);
	case OPTION_KIND_TEXT:
	case OPTION_KIND_FILE:
		memcpy((char *)arg + u->offset, &value, sizeof value);
		return STATUS_OK;
	default: return use_number(u, label, arg, value);
	}
}

/* ---- parsing ---- */

struct getopt_tables {
	VEC(struct option) longs;
	VEC(char) letters;
};

static bool build(const struct option_table *t, bool stop_at_operand, struct getopt_tables *g)
{
	char *mode = vec_extend(&g->letters, 3);
	if (!mode)
		return false;
	memcpy(mode, stop_at_operand ? "+:h" : ":h", stop_at_operand ? 3 : 2);
	g->letters.n = stop_at_operand ? 3 : 2;
	int code = OPTION_FIRST;
	for (const struct option_spec *s = t->specs; !is_end(s); s++, code++) {
		struct option *o = s->name ? vec_push(&g->longs) : NULL;
		char *l = s->letter ? vec_extend(&g->letters, s->value_name ? 2 : 1) : NULL;
		if ((s->name && !o) || (s->letter && !l))
			return false;
		if (o)
			*o = (struct option){s->name,
					     s->value_name ? required_argument : no_argument, NULL,
					     code};
		if (l)
			l[0] = s->letter;
		if (l && s->value_name)
			l[1] = ':';
	}
	struct option *o = vec_extend(&g->longs, 3);
	if (!o || !vec_push(&g->letters))
		return false;
	o[0] = (struct option){"help", no_argument, NULL, OPTION_HELP};
	o[1] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
	return true;
}

static const struct option_spec *spec_of(const struct option_table *t, int code)
{
	const struct option_spec *s = t->specs;
	for (int i = OPTION_FIRST; !is_end(s); s++, i++)
		if (i == code || (s->letter && s->letter == code))
			return s;
	return NULL;
}

static enum status apply(const struct option_table *t, int code, char **argv, void *arg, int *done)
{
	if (code == 'h' || code == OPTION_HELP) {
		options_help(t);
		*done = 1;
		return STATUS_OK;
	}
	if (code == OPTION_VERSION) {
#ifdef PACKAGE_VERSION
		printf("%s (%s) %s\n", t->program, PACKAGE_NAME, PACKAGE_VERSION);
#endif
		*done = 1;
		return STATUS_OK;
	}
	const struct option_spec *s = spec_of(t, code);
	if (s)
		return use(s, t->args && t->args[s - t->specs] ? t->args[s - t->specs] : arg,
			   s->value_name ? optarg : NULL);
	const char *what = optind > 0 ? argv[optind - 1] : "";
	if (code == ':')
		return options_refuse("option '%s' needs a value", what);
	if (optopt > 0 && optopt < OPTION_HELP)
		return options_refuse("unknown option '-%c'", optopt);
	return options_refuse("unknown or misused option '%s'", what);
}

enum status options_parse(const struct option_table *t, int argc, char **argv, int stop_at_operand,
			  void *arg, int *first, int *done)
{
	struct getopt_tables g = {0};
	enum status status = build(t, stop_at_operand != 0, &g) ? STATUS_OK : STATUS_NO_MEMORY;
	if (status != STATUS_OK)
		log_error(NULL, "out of memory");
	*done = 0;
	opterr = 0;
	optind = 0;
	for (int code; status == STATUS_OK && !*done &&
		       (code = getopt_long(argc, argv, g.letters.at, g.longs.at, NULL)) != -1;)
		status = apply(t, code, argv, arg, done);
	if (status == STATUS_OK)
		*first = optind;
	vec_free(&g.longs);
	vec_free(&g.letters);
	return status;
}
