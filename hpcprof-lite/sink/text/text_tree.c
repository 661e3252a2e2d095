/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call paths from the top. Entries, functions and loops have a row, and lines with own time do.
 * A function with one callee indents it by one column, without a guide. What is too deep for the
 * width follows below the tree. The middle of a long run of functions without own
 * time is left out, but never the way from a launch to its kernel. The stack is explicit, because
 * call paths may be deeper than our own stack allows. Test: tests/cli/prof/prof_text.sh,
 * tests/unit/sink/test_text.c.
 */
#include "hpcprof-lite/sink/text/text_tree.h"

#include "hpcprof-lite/sink/text/text_report.h"

enum {
	LONG_RUN = 8, /* longer runs of functions without a branch or own time are cut */
	RUN_HEAD = 3, /* functions of a run that stay at the top ... */
	RUN_TAIL = 2  /* ... and at the end */
};

static void open_level(struct text_tree *w, uint32_t context, unsigned functions, bool indents)
{
	struct text_level l = {.first = w->items.n,
			       .functions = functions,
			       .pad = w->run,
			       .indents = indents};
	w->run = 0;
	w->failed |= !view_tree_list(w->t, context, &w->items);
	l.end = w->items.n;
	l.next = l.first;
	if (l.end == l.first || w->failed)
		return;
	view_tree_sort(w->t, w->items.at + l.first, l.end - l.first);
	struct text_level *at = vec_push(&w->levels);
	if (at)
		*at = l;
	w->failed |= !at;
}

/* ---- runs of functions without a branch ---- */

/* The function or loop that is the only item below a context. MODEL_NONE: there is none or more. */
static uint32_t only_child(struct text_tree *w, uint32_t context)
{
	size_t n = w->items.n;
	w->failed |= !view_tree_list(w->t, context, &w->items);
	uint32_t child = w->items.n == n + 1 && !w->items.at[n].is_line ? w->items.at[n].context
									: MODEL_NONE;
	w->items.n = n;
	return child;
}

/* True for a kernel, and for at most two functions above the placeholder of a launch. */
static bool is_near_gpu(struct text_tree *w, uint32_t context)
{
	if (!w->t->has_gpu)
		return false;
	if (text_tree_is_kernel(w, context))
		return true;
	for (unsigned i = 0; i < 3 && context != MODEL_NONE; i++, context = only_child(w, context))
		if (text_tree_is_placeholder(w, context))
			return true;
	return false;
}

/*
 * The number of contexts from `context` on that have one child and no own value. *resume is the
 * context RUN_TAIL before the end.
 */
static unsigned measure_run(struct text_tree *w, uint32_t context, uint32_t *resume)
{
	uint32_t tail[RUN_TAIL] = {context};
	unsigned n = 0;
	for (uint32_t c = context;
	     c != MODEL_NONE && !view_tree_has_self(w->t, c) && !is_near_gpu(w, c); n++) {
		tail[n % RUN_TAIL] = c;
		c = only_child(w, c);
	}
	*resume = tail[n % RUN_TAIL];
	return n;
}

/* Leaves the branches of an item to show_pieces(). */
static void put_off(struct text_tree *w, struct view_item item, unsigned functions)
{
	const size_t n = w->items.n;
	w->failed |= !view_tree_list(w->t, item.context, &w->items);
	const bool any = w->items.n > n;
	w->items.n = n;
	struct text_piece *at = any ? vec_push(&w->pieces) : NULL;
	w->failed |= any && !at;
	if (!at)
		return;
	*at = (struct text_piece){item, functions};
	text_tree_put_continued(w, w->pieces.n);
}

/* Shows an item and its descendants down to the first branch, and opens the level of the branches.
 */
static void show(struct text_tree *w, struct view_item item, unsigned functions)
{
	unsigned quiet = 0; /* consecutive rows without own time */
	for (w->run = 0;; w->run++) {
		text_tree_put_item(w, &item, w->run == 0);
		if (item.is_line || (w->s->depth && functions >= w->s->depth))
			return;
		if (text_tree_is_deep(w)) {
			put_off(w, item,
				functions + (w->t->m->contexts[item.context].kind !=
					     MODEL_CONTEXT_LOOP));
			return;
		}
		uint32_t child = only_child(w, item.context), resume;
		if (child == MODEL_NONE)
			break;
		quiet = view_tree_has_self(w->t, item.context) ? 0 : quiet + 1;
		unsigned ahead =
			quiet == RUN_HEAD && !w->s->depth ? measure_run(w, child, &resume) : 0;
		if (ahead > LONG_RUN - RUN_HEAD) {
			text_tree_put_gap(w, ahead - RUN_TAIL);
			child = resume;
		}
		functions += w->t->m->contexts[item.context].kind != MODEL_CONTEXT_LOOP;
		item = (struct view_item){child, false};
	}
	functions += w->t->m->contexts[item.context].kind != MODEL_CONTEXT_LOOP;
	open_level(w, item.context, functions, true);
}

static void show_levels(struct text_tree *w)
{
	while (w->levels.n && !w->failed) {
		struct text_level *l = &w->levels.at[w->levels.n - 1];
		if (l->next == l->end) {
			w->items.n = l->first;
			w->levels.n--;
			continue;
		}
		struct view_item item = w->items.at[l->next++];
		show(w, item, l->functions);
	}
}

static void show_pieces(struct text_tree *w)
{
	for (size_t i = 0; i < w->pieces.n && !w->failed; i++) {
		const struct text_piece p = w->pieces.at[i];
		w->piece = i + 1;
		text_tree_put_item(w, &p.item, false);
		w->piece = 0;
		open_level(w, p.item.context, p.functions, true);
		show_levels(w);
	}
}

bool text_report_tree(const struct model *m, const struct view_values *v,
		      const struct view_gpu_values *gpu, const struct text_style *s)
{
	struct view_tree t;
	struct text_tree w = {.t = &t, .s = s};
	w.failed = !view_tree_open(m, v, gpu, !s->interpreter, s->threshold, &t);
	if (!w.failed) {
		text_tree_put_heading(&w);
		open_level(&w, 0, 0, false);
	}
	show_levels(&w);
	show_pieces(&w);
	putc('\n', s->out);
	vec_free(&w.items);
	vec_free(&w.levels);
	vec_free(&w.pieces);
	view_tree_close(&t);
	return !w.failed;
}
