/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to text_tree.c, which decides what rows to show, and text_tree_rows.c, which prints them.
 * Test: tests/cli/prof/prof_text.sh, tests/unit/sink/test_text.c.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_TREE_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_TREE_H

#include "hpcprof-lite/sink/text/text_style.h"
#include "hpcprof-lite/view/view_tree.h"

/* The branches of one row that are still to be shown. */
struct text_level {
	size_t first, end;  /* its items in the list; those of inner levels follow */
	size_t next;
	unsigned functions; /* depth of these items, counted in functions */
	bool indents;
};

struct text_tree {
	const struct view_tree *t;
	const struct text_style *s;
	view_items items;
	VEC(struct text_level) levels; /* outermost first */
	bool failed;
};

bool text_tree_is_placeholder(const struct text_tree *w, uint32_t context);
bool text_tree_is_kernel(const struct text_tree *w, uint32_t context);
void text_tree_put_heading(const struct text_tree *w);
/* `branch`: the row is the first of a branch of the innermost level. */
void text_tree_put_item(const struct text_tree *w, const struct view_item *i, bool branch);
/* The row in place of n calls that are left out. */
void text_tree_put_gap(const struct text_tree *w, unsigned n);

#endif
