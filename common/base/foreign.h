/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints text that others wrote: names, paths, messages of libraries. No output for people or
 * scripts prints it in another way; tests/lint/foreign.sh looks for that. What is harmless is
 * decided in common/safe/printable.h. Test: tests/unit/test_printable.c.
 */
#ifndef COMMON_BASE_FOREIGN_H
#define COMMON_BASE_FOREIGN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* For people: '?' in place of each harmful character. */
void foreign_put(FILE *out, const char *s);
/* The same for the first `n` characters; returns what comes behind them. */
const char *foreign_put_n(FILE *out, const char *s, size_t n);
/*
 * For scripts, one field of a line: \t, \n and \\ for tab, newline and backslash, \xNN for each
 * byte of another harmful character. Can be reversed.
 */
void foreign_put_field(FILE *out, const char *s);
/*
 * Like fprintf() where arguments are foreign: what comes out is one line for people. Newlines count
 * as harmless only where the format itself begins or ends with them. Drops the text when memory is
 * short.
 */
void foreign_printf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void foreign_vprintf(FILE *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* The same into a buffer, cut to its room; returns the number of bytes put, less than `room`. */
size_t foreign_format(char *to, size_t room, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

#endif
