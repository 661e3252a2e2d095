/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes foreign text (names, paths, messages of libraries) safe to print on a terminal. One
 * function decides which characters are harmless, and all output uses it. Signal-safe; allocates
 * nothing. Tests: tests/unit/common/test_printable.c, tests/fuzz/fuzz_printable.c.
 */
#ifndef COMMON_SAFE_PRINTABLE_H
#define COMMON_SAFE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the number of bytes of the character at `s`, which is NUL-terminated and not empty. A
 * byte that does not start a UTF-8 character (RFC 3629: no overlong form, no surrogate) counts as
 * one.
 *
 * *is_harmless is set if the character is valid and neither controls a terminal (C0, DEL, C1), nor
 * ends a line (U+2028, U+2029), nor changes the direction of text, nor is an invisible tag.
 */
size_t printable_step(const char *s, bool *is_harmless);

/* Bytes of the UTF-8 character at `s`, harmless or not; 0 if there is none. */
size_t printable_utf8(const char *s);

/*
 * True if `s` can name a file and be shown unchanged: not empty, at most PRINTABLE_NAME bytes, no
 * '/', no harmful character.
 */
bool printable_is_name(const char *s);
enum { PRINTABLE_NAME = 128 }; /* a file system allows 255; our names add a prefix or suffix */

/* Replaces each harmful character by '?', in place. The text never grows. Returns `s`. */
char *printable(char *s);

#endif
