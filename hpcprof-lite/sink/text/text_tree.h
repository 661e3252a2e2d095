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
	unsigned pad;       /* columns before its guide: the rows above it that have one callee */
	bool indents;
};

/* A row whose branches are shown below the others, because they are too deep. */
struct text_piece {
	struct view_item item;
	unsigned functions;
};

enum { TEXT_TREE_LEVELS = 28 };

struct text_tree {
	const struct view_tree *t;
	const struct text_style *s;
	view_items items;
	VEC(struct text_level) levels; /* outermost first; only the level of entries has no guide */
	VEC(struct text_piece) pieces;
	size_t piece; /* the row begins this piece, counted from 1; 0: it begins none */
	unsigned run; /* rows with one callee between the innermost branch and this row */
	bool failed;
};

bool text_tree_is_placeholder(const struct text_tree *w, uint32_t context);
bool text_tree_is_kernel(const struct text_tree *w, uint32_t context);
void text_tree_put_heading(const struct text_tree *w);
/* `branch`: the row is the first of a branch of the innermost level. */
void text_tree_put_item(const struct text_tree *w, const struct view_item *i, bool branch);
/* True if there is no room for another level. */
bool text_tree_is_deep(const struct text_tree *w);
/* The row in place of branches that are shown as piece `piece`. */
void text_tree_put_continued(const struct text_tree *w, size_t piece);
/* The row in place of n calls that are left out. */
void text_tree_put_gap(const struct text_tree *w, unsigned n);

#endif
