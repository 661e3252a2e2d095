/* SPDX-License-Identifier: BSD-3-Clause */
/* See html_section.h. Test: tests/unit/sink/test_sink_html.c. */
#include "hpcprof-lite/sink/html/html_section.h"

#include "common/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void html_section_begin(struct html_section *s, struct html_packer *k, const char *name)
{
	*s = (struct html_section){.packer = k, .name = name};
}

/* Gives the packer the bytes so far, and begins the next piece. */
static void end_piece(struct html_section *s, bool is_last)
{
	html_pack(s->packer, &(struct html_piece){.section = s->name,
						  .is_last = is_last,
						  .plain = s->plain.at,
						  .n_plain = s->plain.n});
	html_section_begin(s, s->packer, NULL);
}

enum status html_section_end(struct html_section *s)
{
	end_piece(s, true);
	return s->packer->status;
}

/* A full piece is kept until the next byte comes, because a section's last piece has to say so. */
void html_put(struct html_section *s, const void *bytes, size_t n_bytes)
{
	const uint8_t *from = bytes;
	while (n_bytes && s->packer->status == STATUS_OK) {
		if (s->plain.n == HTML_PIECE_BYTES)
			end_piece(s, false);
		size_t room = HTML_PIECE_BYTES - s->plain.n, n = n_bytes < room ? n_bytes : room;
		if (!vec_reserve(&s->plain, s->plain.n + n)) {
			log_error(NULL, "out of memory");
			s->packer->status = STATUS_NO_MEMORY;
			return;
		}
		memcpy(s->plain.at + s->plain.n, from, n);
		s->plain.n += n;
		from += n;
		n_bytes -= n;
	}
}

size_t html_number(uint8_t *to, uint64_t n)
{
	size_t i = 0;
	do
		to[i++] = (uint8_t)((n & 127) | (n > 127) << 7);
	while (n >>= 7);
	return i;
}

void html_put_number(struct html_section *s, uint64_t n)
{
	uint8_t bytes[HTML_NUMBER_BYTES];
	html_put(s, bytes, html_number(bytes, n));
}

uint64_t html_zigzag(int64_t n)
{
	return ((uint64_t)n << 1) ^ (n < 0 ? UINT64_MAX : 0);
}

void html_put_delta(struct html_section *s, int64_t n)
{
	html_put_number(s, html_zigzag(n));
}

void html_put_text(struct html_section *s, const char *format, ...)
{
	char text[4096];
	va_list list;
	va_start(list, format);
	int n = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	if (n > 0)
		html_put(s, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}
