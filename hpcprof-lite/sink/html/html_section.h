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

#include "hpcprof-lite/sink/html/html_pack.h"

enum { HTML_NUMBER_BYTES = 10 };

struct html_section {
	struct html_packer *packer;
	const char *name;   /* NULL: the packer already has a piece of the section */
	VEC(uint8_t) plain; /* the next piece */
};

/* Begins a section. `name` is a word without quotes, valid until the packer has written it. */
void html_section_begin(struct html_section *s, struct html_packer *k, const char *name);
/* Ends the section and frees its memory. Returns the first error of the packer so far. */
enum status html_section_end(struct html_section *s);

void html_put(struct html_section *s, const void *bytes, size_t n_bytes);
/* Stores a number as unsigned LEB128, at most HTML_NUMBER_BYTES. Returns its bytes. */
size_t html_number(uint8_t *to, uint64_t n);
/* Appends a number in this form to the section. */
void html_put_number(struct html_section *s, uint64_t n);
/* The zigzag encoding: small numbers of both signs become small numbers. */
uint64_t html_zigzag(int64_t n);
/* Appends a signed number, as LEB128 of the zigzag encoding. */
void html_put_delta(struct html_section *s, int64_t n);
/* Appends formatted text of at most 4095 bytes. */
void html_put_text(struct html_section *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
