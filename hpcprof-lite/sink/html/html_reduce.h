/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the tree that a page carries. Contexts that matter least in every metric are left
 * out, and their values count in the innermost caller that is kept. And the samples that it
 * carries. Test: tests/unit/sink/test_sink_html.c.
 */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_REDUCE_H
#define HPCPROF_LITE_SINK_HTML_HTML_REDUCE_H

#include "hpcprof-lite/model/model.h"

struct html_tree {
	uint32_t *kept; /* by context: its number in the page, or that of the caller kept for it */
	bool *is_kept;  /* by context */
	uint32_t n;     /* contexts kept */
	uint64_t n_values; /* (thread, context, metric) with a value in the page */
	double least; /* contexts are kept from this share of some metric on; 0: all are kept */
};

/*
 * Keeps at most `max_contexts` contexts, or fewer, so that at most `max_values` values of threads
 * remain. False if memory is short. In all cases call html_tree_free().
 */
bool html_tree_make(const struct model *m, uint32_t max_contexts, uint64_t max_values,
		    struct html_tree *t);
void html_tree_free(struct html_tree *t);

/* Takes every n-th sample of a thread. Start with the stride and zeroes. */
struct html_thinning {
	uint32_t stride, wait; /* wait: the context of the open wait */
	uint64_t n_seen;
	bool is_open, is_taken; /* a wait has begun; its first record was taken */
};
/*
 * True if the page carries the sample, the thread's next one. Of a wait it carries both records or
 * none, because a page shows a wait until its second record.
 */
bool html_takes_sample(struct html_thinning *t, const struct model *m,
		       const struct model_sample *s);

#endif
