/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses command lines. One table drives both the parser and the help text, so the two always
 * agree. Uses getopt_long. Test: tests/unit/common/test_base.c.
 */
#ifndef COMMON_BASE_OPTIONS_H
#define COMMON_BASE_OPTIONS_H

#include "common/base/status.h"

#include <stddef.h>

enum option_kind {
	OPTION_KIND_CALL,
	OPTION_KIND_FLAG,
	OPTION_KIND_NUMBER,
	OPTION_KIND_PERCENT,
	OPTION_KIND_SIZE,
	OPTION_KIND_CHOICE,
	OPTION_KIND_LIST,
	OPTION_KIND_TEXT,
	OPTION_KIND_FILE
};

struct option_use {
	enum option_kind kind;
	enum status (*set)(void *arg, const char *value);
	size_t offset, n_bytes; /* of the field in `arg` */
	long long low, high;
	const char *names;      /* "self, total" */
};

#define OPTION_FIELD(type, field) \
	.offset = offsetof(type, field), .n_bytes = sizeof(((type *)NULL)->field)

/*
 * Calls the function with `arg` and the value, which is NULL if value_name is NULL. To refuse a
 * value, it logs an error and returns STATUS_USAGE.
 */
#define OPTION_CALL(function) {.set = function}
/*
 * The other kinds set a field of *arg and refuse values that do not fit. Fields of flags, numbers,
 * choices and lists are bool or whole numbers.
 */
#define OPTION_FLAG(type, field, number) \
	{.kind = OPTION_KIND_FLAG, OPTION_FIELD(type, field), .low = number}
#define OPTION_NUMBER(type, field, least, most) \
	{.kind = OPTION_KIND_NUMBER, OPTION_FIELD(type, field), .low = least, .high = most}
/* A double from 0 to 100, with or without '%'. */
#define OPTION_PERCENT(type, field) {.kind = OPTION_KIND_PERCENT, OPTION_FIELD(type, field)}
/* A number of bytes, with K, M or G for multiples of 1024. */
#define OPTION_SIZE(type, field) {.kind = OPTION_KIND_SIZE, OPTION_FIELD(type, field)}
/* One of the names. The field gets its index. */
#define OPTION_CHOICE(type, field, list) \
	{.kind = OPTION_KIND_CHOICE, OPTION_FIELD(type, field), .names = list}
/* Some of the names, separated by commas. Adds a bit for each to the field: 1 for the first. */
#define OPTION_LIST(type, field, list) \
	{.kind = OPTION_KIND_LIST, OPTION_FIELD(type, field), .names = list}
/* const char *. TEXT takes any text. FILE takes the name of a file or directory, not "". */
#define OPTION_TEXT(type, field) {.kind = OPTION_KIND_TEXT, OPTION_FIELD(type, field)}
#define OPTION_FILE(type, field) {.kind = OPTION_KIND_FILE, OPTION_FIELD(type, field)}

struct option_spec {
	char letter;            /* 0: there is only the long form */
	const char *name;       /* long form without dashes; NULL: there is only the letter */
	const char *value_name; /* shown in the help; NULL: the option takes no value */
	const char *help;       /* wrapped at 80 columns; \n begins an item of a list */
	struct option_use use;  /* what an occurrence does: one of the macros OPTION_... */
};

struct option_table {
	const char *program;
	/* "hpcprof-lite [options] DIR..."; several lines are separated by \n */
	const char *synopsis;
	const char *about;               /* one paragraph; wrapped, like the footer */
	const struct option_spec *specs; /* the last one has letter 0 and name NULL */
	const char *footer;              /* printed after the options; may be NULL */
	/* For each spec, what its option gets in place of options_parse's `arg`, unless NULL. The
	 * array may be NULL. */
	void *const *args;
};

/*
 * Prints text in lines of at most 80 columns. The first line begins at column `at`, where the
 * cursor is, later ones at `indent`. In an indented text, a line break begins an item, and the
 * item's further lines are indented more.
 */
void options_print_wrapped(const char *text, size_t at, size_t indent);

/*
 * Parses argv; each option sets a field of *arg, or is called with `arg`. With `stop_at_operand`,
 * parsing stops at the first operand or at "--", so that a command keeps its own options; otherwise
 * operands and options may mix. On success *first is the index of the first operand in argv. --help
 * and --version print to standard output and set *done. Logs an error before it returns
 * STATUS_USAGE.
 */
enum status options_parse(const struct option_table *t, int argc, char **argv, int stop_at_operand,
			  void *arg, int *first, int *done);
/* Prints the help to standard output. */
void options_help(const struct option_table *t);

/* Logs "prog: message" and a hint at --help. Returns STATUS_USAGE. */
enum status options_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* `set` functions for --quiet and --verbose. They ignore `arg` and `value`. */
enum status options_set_quiet(void *arg, const char *value);
enum status options_set_verbose(void *arg, const char *value);
/* Parses a whole number in [low, high]. Returns false for anything else. */
int options_number(const char *text, long long low, long long high, long long *number);

#endif
