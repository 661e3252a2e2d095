/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints text that we did not write: names, paths, messages of libraries. All output for people or
 * scripts must go through here; tests/lint/foreign.sh checks this. common/safe/printable.h decides
 * which characters are harmless. Test: tests/unit/common/test_printable.c.
 */
#ifndef COMMON_BASE_FOREIGN_H
#define COMMON_BASE_FOREIGN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* For people: prints each harmful character as '?'. */
void foreign_put(FILE *out, const char *s);
/* Prints the first `n` characters in the same way. Returns a pointer to the rest. */
const char *foreign_put_n(FILE *out, const char *s, size_t n);
/*
 * For scripts, one field of a line: prints tab, newline and backslash as \t, \n and \\, and each
 * byte of another harmful character as \xNN. The output can be converted back.
 */
void foreign_put_field(FILE *out, const char *s);
/*
 * One argument of a command as a shell reads it: plain, 'in quotes', or, if a character is harmful,
 * $'with escapes' (bash, zsh, ksh, POSIX since 2024).
 */
void foreign_put_argument(FILE *out, const char *s);
/*
 * Like fprintf() with foreign arguments. The output is one line: newlines are harmless only where
 * the format itself starts or ends with them. If there is no memory, prints nothing and sets the
 * stream's error indicator, so check ferror() at the end.
 */
void foreign_printf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void foreign_vprintf(FILE *out, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/*
 * The same into a buffer of `room` bytes; cuts what does not fit. Returns the number of bytes
 * written, which is less than `room`.
 */
size_t foreign_format(char *to, size_t room, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

#endif
