/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections that are written into memory by another thread, while the page goes on, and then put
 * into the page. Compressing is most of what a report costs. Test: tests/cli/prof/prof_scale.sh.
 */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_SIDE_H
#define HPCPROF_LITE_SINK_HTML_HTML_SIDE_H

#include "hpcprof-lite/sink/html/html.h"

struct html_side {
	struct html html; /* of the same model and tree, with an output of its own; no strings */
	struct outfile file;
	struct outstream out;
};

/* Writes with `write`, which must make no strings. NULL if that failed, which was logged. */
struct html_side *html_side_write(const struct html *h, enum status (*write)(struct html *h));
/* Puts the sections into the page, and frees them. */
enum status html_side_append(struct html *h, struct html_side *s);
/* NULL is allowed. */
void html_side_free(struct html_side *s);

#endif
