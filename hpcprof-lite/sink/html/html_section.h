/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A section is one block of data in the page: bytes, compressed with gzip, written as base64 inside
 * a <script> element that browsers do not run. Base64 has no character that could end the element,
 * so no name from a program can. doc/formats/report.md lists the sections.
 *
 * Errors are sticky: after the first one nothing is written, and html_section_end() returns it. One
 * owner; not thread-safe. Test: tests/unit/sink/test_sink_html.c.
 */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_SECTION_H
#define HPCPROF_LITE_SINK_HTML_HTML_SECTION_H

#include "hpcprof-lite/sink/outfile.h"

#include <stdint.h>
#include <zlib.h>

enum { HTML_PLAIN_BYTES = 64 << 10, HTML_PACKED_BYTES = 48 << 10, HTML_NUMBER_BYTES = 10 };

struct html_section {
	struct outstream *out;
	enum status status;
	z_stream z;
	size_t n_plain;
	uint8_t plain[HTML_PLAIN_BYTES];   /* not compressed yet */
	uint8_t packed[HTML_PACKED_BYTES]; /* compressed, not encoded yet; a multiple of 3 bytes */
};

/* Begins a section. `name` is a word without quotes. Logs when memory is short. */
void html_section_begin(struct html_section *s, struct outstream *out, const char *name);
/* Ends it and frees what begin took. Returns the first error of the section. */
enum status html_section_end(struct html_section *s);

void html_put(struct html_section *s, const void *bytes, size_t n_bytes);
/* Stores a number as unsigned LEB128, at most HTML_NUMBER_BYTES. Returns its bytes. */
size_t html_number(uint8_t *to, uint64_t n);
/* The same into the section. */
void html_put_number(struct html_section *s, uint64_t n);
/* Signed, as LEB128 of the zigzag encoding. */
void html_put_delta(struct html_section *s, int64_t n);
/* Formatted text of at most 4095 bytes. */
void html_put_text(struct html_section *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes text outside of sections as it is. */
void html_write_plain(struct outstream *out, const char *text, size_t n_bytes);

#endif
