/* SPDX-License-Identifier: BSD-3-Clause */
/* Foreign text for a terminal; see printable.h. Test: tests/unit/common/test_printable.c. */
#include "common/safe/printable.h"

#include <stdint.h>

size_t printable_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = s[0] < 0x80   ? 1
		   : s[0] < 0xc2 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf5 ? 4
				 : 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* The code point of a valid character of `n` bytes. */
static uint32_t decode(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* Unicode's category Cc, its line and paragraph separators, and the characters of category Cf that
 * reorder or hide text. */
static bool is_harmful(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0, 0x1f},
		{0x7f, 0x9f}, /* C0, DEL, C1 */
		{0x61c, 0x61c},
		{0x200e, 0x200f}, /* marks of direction */
		{0x2028, 0x202e},
		{0x2066, 0x2069}, /* separators of lines, embeddings, overrides, isolates */
		{0x206a, 0x206f},
		{0xfff9, 0xfffb},   /* deprecated controls, interlinear annotation */
		{0xe0000, 0xe007f}, /* tags: text that nobody sees */
	};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

size_t printable_step(const char *s, bool *is_harmless)
{
	size_t n = printable_utf8(s);
	*is_harmless = n && !is_harmful(decode(s, n));
	return n ? n : 1;
}

bool printable_is_name(const char *s)
{
	bool is_name = *s && *s != '/';
	size_t n = 0;
	while (is_name && s[n]) {
		n += printable_step(s + n, &is_name);
		is_name = is_name && s[n] != '/' && n <= PRINTABLE_NAME;
	}
	return is_name;
}

char *printable(char *s)
{
	char *to = s;
	for (const char *from = s; *from;) {
		bool harmless;
		size_t n = printable_step(from, &harmless);
		if (!harmless)
			*to++ = '?';
		for (size_t i = 0; harmless && i < n; i++)
			*to++ = from[i];
		from += n;
	}
	*to = '\0';
	return s;
}
