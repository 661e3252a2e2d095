/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats text into the caller's buffer without stdio and malloc. Text that does not fit is cut;
 * the result is always NUL-terminated. Signal-safe. Test: tests/unit/common/test_safe.c.
 */
#ifndef COMMON_SAFE_TEXT_H
#define COMMON_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *at;      /* the buffer */
	size_t n;      /* length so far */
	size_t room;   /* size of the buffer in bytes, at least 1 */
	bool cut;      /* some text did not fit */
};

/* Returns an empty text in `buffer`. */
struct text text_in(char *buffer, size_t room);

void text_put(struct text *t, const char *s);
/* Adds foreign text, made safe for a terminal: see printable.h. */
void text_put_foreign(struct text *t, const char *s);
void text_put_char(struct text *t, char c);
void text_put_u64(struct text *t, uint64_t v);
/* Adds at least `width` characters, filled with `fill` on the left. */
void text_put_padded(struct text *t, uint64_t v, unsigned width, char fill);
void text_put_hex(struct text *t, const uint8_t *bytes, size_t n);
/* Adds the number in base 16, without zeros in front. */
void text_put_hex_number(struct text *t, uint64_t v);
/* Adds the number with commas: 1,234,567. */
void text_put_grouped(struct text *t, uint64_t v);
/* Adds v / 10^digits with `digits` decimals: (12345, 2) gives 123.45. */
void text_put_fixed(struct text *t, uint64_t v, unsigned digits);

/*
 * Writes the text to a descriptor and ignores errors. Raises neither SIGPIPE nor SIGXFSZ. Does not
 * wait: text that a full pipe or a stopped terminal does not take is lost. Keeps errno and the
 * signal mask.
 */
void text_write(const struct text *t, int fd);

#endif
