/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses command lines. One table drives both the parser and the help text, so the two always
 * agree. Uses getopt_long. Test: tests/unit/common/test_base.c.
 */
#ifndef COMMON_BASE_OPTIONS_H
#define COMMON_BASE_OPTIONS_H

#include "common/base/status.h"

struct option_spec {
	char letter;            /* 0: there is only the long form */
	const char *name;       /* long form without dashes; NULL: there is only the letter */
	const char *value_name; /* shown in the help; NULL: the option takes no value */
	const char *help;       /* wrapped at 80 columns; \n begins an item of a list */
	/*
	 * Called for each occurrence of the option. `value` is NULL if value_name is NULL. To
	 * refuse a value, log an error and return STATUS_USAGE.
	 */
	enum status (*set)(void *arg, const char *value);
};

struct option_table {
	const char *program;
	/* "hpcprof-lite [options] DIR..."; several lines are separated by \n */
	const char *synopsis;
	const char *about;               /* one paragraph; wrapped, like the footer */
	const struct option_spec *specs; /* the last one has letter 0 and name NULL */
	const char *footer;              /* printed after the options; may be NULL */
	/* By spec: what `set` gets in place of options_parse's `arg`, where not NULL; may be
	 * NULL. */
	void *const *args;
};

/*
 * Parses argv and calls each option's `set` with `arg`. With `stop_at_operand`, parsing stops at
 * the first operand or at "--", so that a command keeps its own options; otherwise operands and
 * options may mix. On success *first is the index of the first operand in argv. --help and
 * --version print to standard output and set *done. Logs an error before it returns STATUS_USAGE.
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
