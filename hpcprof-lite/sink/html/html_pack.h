/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs the sections of a page. A section is one gzip stream in base64. Its pieces are compressed
 * by workers, each piece with an empty window, and written in their order. Pieces are cut by bytes,
 * so the number of workers does not change the page. pigz (M. Adler) joins pieces in this way.
 *
 * Errors are logged and sticky: after the first one nothing is written. One owner; not thread-safe.
 * Test: tests/unit/sink/test_sink_html.c.
 */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_PACK_H
#define HPCPROF_LITE_SINK_HTML_HTML_PACK_H

#include "common/base/vec.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* A section may have pieces of any size. Smaller ones compress worse: 256 KiB by up to 3%. */
enum { HTML_PIECE_BYTES = 1 << 20 };

struct html_piece {
	const char *section; /* the first piece of a section has its name, the others NULL */
	bool is_last;        /* of its section */
	uint8_t *plain;      /* from malloc(), at most HTML_PIECE_BYTES; NULL if n_plain is 0 */
	size_t n_plain;
	uint8_t *packed; /* private to the packer, as are the following */
	size_t n_packed;
	uint32_t crc;
};

struct html_packer {
	struct outstream *out;
	unsigned n_workers; /* at least 1 */
	enum status status;
	VEC(struct html_piece) pieces; /* waiting */
	VEC(uint8_t) packed;           /* of the section that is being written */
	uint32_t crc, n_bytes;         /* of its plain bytes so far */
};

/* Adds a piece. The packer owns p->plain from now on. */
void html_pack(struct html_packer *k, const struct html_piece *p);
/* Writes the waiting pieces, and frees everything. Returns the first error. */
enum status html_pack_end(struct html_packer *k);

#endif
