/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text into a buffer of the caller without stdio and without malloc. What does not fit is cut off, never written outside; the text is
 * always NUL-terminated. Signal-safe. Test: tests/unit/test_safe.c.
 */
#ifndef COMMON_SAFE_TEXT_H
#define COMMON_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *at;      /* the buffer */
	size_t n;      /* length so far */
	size_t room;   /* bytes of the buffer, at least 1 */
	bool cut;      /* something did not fit */
};

/* Starts an empty text in `buffer`. */
struct text text_in(char *buffer, size_t room);

void text_put(struct text *t, const char *s);
/* What others wrote, for a terminal: see printable.h. */
void text_put_foreign(struct text *t, const char *s);
void text_put_char(struct text *t, char c);
void text_put_u64(struct text *t, uint64_t v);
/* At least `width` characters, filled with `fill` on the left. */
void text_put_padded(struct text *t, uint64_t v, unsigned width, char fill);
void text_put_hex(struct text *t, const uint8_t *bytes, size_t n);
/* 1,234,567 */
void text_put_grouped(struct text *t, uint64_t v);
/* v / 10^digits with `digits` decimals: (12345, 2) gives 123.45. */
void text_put_fixed(struct text *t, uint64_t v, unsigned digits);

/*
 * Writes it to a descriptor, ignoring errors; raises neither SIGPIPE nor SIGXFSZ, and does not wait: what a full pipe
 * or a stopped terminal does not take is left out. Errno and the signal
 * mask are as they were.
 */
void text_write(const struct text *t, int fd);

#endif
