/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text that others wrote (names, paths, messages of libraries), made safe for a terminal. One
 * function decides what is harmless; all that is shown passes it. Signal-safe, allocates nothing.
 * Tests: tests/unit/test_printable.c, tests/fuzz/fuzz_printable.c.
 */
#ifndef COMMON_SAFE_PRINTABLE_H
#define COMMON_SAFE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Number of bytes of the character at `s`, which is NUL-terminated and not empty. A byte that
 * begins no UTF-8 character (RFC 3629: no overlong form, no surrogate) counts as one character.
 * *is_harmless: it is a valid character that neither controls a terminal (C0, DEL, C1), nor ends
 * a line (U+2028, U+2029), nor changes the direction of text, nor is an invisible tag.
 */
size_t printable_step(const char *s, bool *is_harmless);

/* Bytes of the UTF-8 character at `s`, 0 where there is none. Harm is not considered. */
size_t printable_utf8(const char *s);

/* Replaces each harmful character by '?', in place: the text never grows. Returns `s`. */
char *printable(char *s);

#endif
