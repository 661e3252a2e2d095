/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waiting lines of GPU kernels wait for: the member "blames" of the section "meta". Test:
 * tests/cli/gpu/blame_golden.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/view/view_blame.h"

#include <inttypes.h>

enum { MOST_PAIRS = 20000 };

static void put_pair(struct html *h, const struct view_blame_pair *p, const char *comma)
{
	char words[128];
	view_blame_words(p, words, sizeof words);
	html_put_text(&h->section,
		      "%s{\"kernel\":%" PRIu32 ",\"waiting\":%" PRIu32 ",\"cause\":%" PRIu32
		      ",\"metric\":%" PRIu32 ",\"n\":%.0f,\"words\":%" PRIu32 ",\"before\":%d}",
		      comma, p->kernel, h->tree.kept[p->waiting], h->tree.kept[p->cause], p->metric,
		      p->samples, html_string(h, words), p->is_before && p->is_same_line);
}

/* Only pairs of lines that the page carries. Their sums are those of the whole run. */
void html_put_blames(struct html *h)
{
	struct view_blame b;
	size_t n = 0;
	if (!h->m->n_gpu_blames)
		return;
	if (!view_blame_open(h->m, &b)) {
		h->failed = true;
		return;
	}
	html_put_text(&h->section, ",\"blames\":[");
	for (size_t i = 0; i < b.pairs.n && n < MOST_PAIRS; i++) {
		const struct view_blame_pair *p = &b.pairs.at[i];
		if (h->tree.is_kept[p->waiting] && h->tree.is_kept[p->cause])
			put_pair(h, p, n++ ? "," : "");
	}
	html_put_text(&h->section, "]");
	view_blame_close(&b);
}
