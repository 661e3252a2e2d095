/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other parts of a job make sections of the page (html_share.h), and pack pieces of others
 * (html_pack.h). The first part writes the page. It is the same. Test:
 * tests/unit/sink/test_sink_html.c, tests/cli/parts/parts_ranks.sh.
 */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_HELP_H
#define HPCPROF_LITE_SINK_HTML_HTML_HELP_H

#include "hpcprof-lite/sink/html/html.h"
#include "hpcprof-lite/sink/html/html_pack.h"
#include "hpcprof-lite/sink/sink.h"

extern const struct sink_help_ops html_help;

/*
 * The first part shares the pieces out, packs some, and gets the others. Every piece has room in
 * `packed`. Leaves n_packed 0 where memory was short.
 */
void html_help_pack(const struct comm *c, struct html_piece *pieces, size_t n, unsigned n_workers);
/*
 * All parts make values and time lines of their profiles. The caller owns the result. NULL: some
 * part has no memory. While they pack them, the first part may go on.
 */
struct html_share *html_help_share(const struct comm *c, struct html *h);
/* Writes these sections, h->share. Call html_pack_hold() before what follows them in the page. */
void html_help_collect(const struct comm *c, struct html *h);

#endif
