/* SPDX-License-Identifier: BSD-3-Clause */
/* See html_section.h. Test: tests/unit/sink/test_sink_html.c. */
#include "hpcprof-lite/sink/html/html_section.h"

#include "common/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { GZIP_WINDOW = 15 + 16, DEFLATE_MEMORY = 8, DEFLATE_LEVEL = 6 };

static void write_base64(struct outstream *out, const uint8_t *bytes, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < n; i += 3) {
		uint32_t word = (uint32_t)bytes[i] << 16;
		word |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
		word |= i + 2 < n ? bytes[i + 2] : 0;
		uint8_t *to = outstream_room(out, 4);
		to[0] = (uint8_t)digits[word >> 18];
		to[1] = (uint8_t)digits[word >> 12 & 63];
		to[2] = (uint8_t)(i + 1 < n ? digits[word >> 6 & 63] : '=');
		to[3] = (uint8_t)(i + 2 < n ? digits[word & 63] : '=');
	}
}

void html_write_plain(struct outstream *out, const char *text, size_t n_bytes)
{
	while (n_bytes) {
		size_t n = n_bytes < HTML_PLAIN_BYTES ? n_bytes : HTML_PLAIN_BYTES;
		memcpy(outstream_room(out, n), text, n);
		text += n;
		n_bytes -= n;
	}
}

/* Compresses what is pending. Encodes full buffers; at the end also the rest. */
static void compress_pending(struct html_section *s, int flush)
{
	s->z.next_in = s->plain;
	s->z.avail_in = (uInt)s->n_plain;
	s->n_plain = 0;
	int result = Z_OK;
	while (s->status == STATUS_OK && (s->z.avail_in || (flush && result != Z_STREAM_END))) {
		result = deflate(&s->z, flush);
		if (result != Z_OK && result != Z_STREAM_END) {
			log_error(NULL, "zlib cannot compress the report: %s",
				  s->z.msg ? s->z.msg : "unknown cause");
			s->status = STATUS_NO_MEMORY;
		}
		if (s->z.avail_out && !(flush && result == Z_STREAM_END))
			continue;
		write_base64(s->out, s->packed, sizeof s->packed - s->z.avail_out);
		s->z.next_out = s->packed;
		s->z.avail_out = sizeof s->packed;
	}
}

void html_section_begin(struct html_section *s, struct outstream *out, const char *name)
{
	s->out = out;
	s->status = STATUS_OK;
	s->n_plain = 0;
	s->z = (z_stream){.next_out = s->packed, .avail_out = sizeof s->packed};
	if (deflateInit2(&s->z, DEFLATE_LEVEL, Z_DEFLATED, GZIP_WINDOW, DEFLATE_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		log_error(NULL, "out of memory");
		s->status = STATUS_NO_MEMORY;
	}
	char head[128];
	int n = snprintf(head, sizeof head,
			 "<script type=\"application/octet-stream\" data-section=\"%s\">", name);
	html_write_plain(out, head, (size_t)n);
}

enum status html_section_end(struct html_section *s)
{
	compress_pending(s, Z_FINISH);
	deflateEnd(&s->z);
	html_write_plain(s->out, "</script>\n", sizeof "</script>\n" - 1);
	return s->status;
}

void html_put(struct html_section *s, const void *bytes, size_t n_bytes)
{
	const uint8_t *from = bytes;
	while (n_bytes && s->status == STATUS_OK) {
		size_t room = sizeof s->plain - s->n_plain, n = n_bytes < room ? n_bytes : room;
		memcpy(s->plain + s->n_plain, from, n);
		s->n_plain += n;
		from += n;
		n_bytes -= n;
		if (s->n_plain == sizeof s->plain)
			compress_pending(s, Z_NO_FLUSH);
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

void html_put_delta(struct html_section *s, int64_t n)
{
	html_put_number(s, ((uint64_t)n << 1) ^ (n < 0 ? UINT64_MAX : 0));
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
