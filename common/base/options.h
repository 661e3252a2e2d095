/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines from one table: the table parses and prints the help, so the two cannot differ. Built on getopt_long. Test: tests/unit/test_base.c.
 */
#ifndef COMMON_BASE_OPTIONS_H
#define COMMON_BASE_OPTIONS_H

#include "common/base/status.h"

struct option_spec {
	char letter;            /* 0: long form only */
	const char *name;       /* long form without dashes; NULL: letter only */
	const char *value_name; /* shown in the help; NULL: takes no value */
	const char *help;       /* one or more lines separated by \n */
	/* Called for each occurrence; value is NULL without value_name. STATUS_USAGE after its own log_error() refuses it. */
	enum status (*set)(void *arg, const char *value);
};

struct option_table {
	const char *program;
	const char *synopsis;   /* "hpcprof-lite [options] DIR..." ; several lines separated by \n */
	const char *about;      /* one paragraph */
	const struct option_spec *specs; /* ended by one whose letter is 0 and name NULL */
	const char *footer;     /* printed after the options; may be NULL */
};

/*
 * Parses argv, calling the set functions with `arg`; stops at the first operand ("--" allowed) so that a command's own options are left alone when
 * `stop_at_operand`, else operands and options may mix. --help and --version print to standard output and set *done. On success *first is the index of the first operand in argv.
 * STATUS_USAGE has been logged.
 */
enum status options_parse(const struct option_table *t, int argc, char **argv, int stop_at_operand, void *arg, int *first, int *done);
/* Prints the help to standard output. */
void options_help(const struct option_table *t);

/* "prog: message" + a hint at --help; returns STATUS_USAGE. */
enum status options_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For tables: say no more than warnings; say more. Neither uses `arg` or `value`. */
enum status options_set_quiet(void *arg, const char *value);
enum status options_set_verbose(void *arg, const char *value);
/* A whole number in [low, high]; false when it is anything else. */
int options_number(const char *text, long long low, long long high, long long *number);

#endif
