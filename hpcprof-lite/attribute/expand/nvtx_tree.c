/* SPDX-License-Identifier: BSD-3-Clause */
/* See nvtx_tree.h. Parents have smaller ids than their children, here and in the merged tree. */
#include "hpcprof-lite/attribute/expand/nvtx_tree.h"

#define DEPTH_MOST 256u /* more than a thread can have on its stack */

/* A range around a place, and its position in the tree. */
struct around {
	uint32_t label;
	uint32_t common; /* the innermost context that the place and the push share */
	uint32_t line;   /* line of the push below `common`; MODEL_NONE: none */
};

static uint32_t without_ranges(const struct merge_tree *t, uint32_t node)
{
	while (t->nodes.at[node].module == MERGE_RANGE)
		node = t->nodes.at[node].parent;
	return node;
}

static const struct model_context *get(const struct expand_run *r, uint32_t context)
{
	return &r->e->contexts.at[context];
}

/* The entry of a path. Used if the path shares nothing but the root with the push. */
static uint32_t entry_of(const struct expand_run *r, uint32_t context)
{
	while (context && get(r, context)->parent != 0)
		context = get(r, context)->parent;
	return context;
}

static struct around find_place(const struct expand_run *r, uint32_t at, uint32_t push,
				uint32_t label)
{
	const uint32_t place = at;
	uint32_t last = MODEL_NONE; /* the last context of the push that is not shared */
	while (at != push) {
		if (at > push) {
			at = get(r, at)->parent;
		} else {
			last = push;
			push = get(r, push)->parent;
		}
	}
	const bool is_line = last != MODEL_NONE && get(r, last)->kind == MODEL_CONTEXT_LINE;
	return (struct around){label, at ? at : entry_of(r, place), is_line ? last : MODEL_NONE};
}

/* Lists the ranges around node `i`, innermost first. Returns their number. */
static uint32_t list_ranges(const struct expand_run *r, uint32_t i, uint32_t at,
			    struct around ranges[DEPTH_MOST])
{
	const struct merge_tree *t = r->tree;
	uint32_t n = 0;
	for (; t->nodes.at[i].module == MERGE_RANGE && n < DEPTH_MOST; n++) {
		const uint32_t push = merge_range_push(&t->nodes.at[i]);
		ranges[n] = find_place(r, at, r->e->context_of[without_ranges(t, push)],
				       merge_range_label(&t->nodes.at[i]));
		if (n && ranges[n].common > ranges[n - 1].common) {
			ranges[n].common = ranges[n - 1].common;
			ranges[n].line = ranges[n - 1].line;
		}
		i = push;
	}
	return n;
}

/* Makes a copy of the context below `above`. */
static uint32_t copy(struct expand_run *r, uint32_t above, uint32_t context, bool is_first)
{
	const struct model_context c = *get(r, context);
	if (r->failed)
		return 0;
	switch (c.kind) {
	case MODEL_CONTEXT_FUNCTION:
		return expand_enter_function(r, above, c.function,
					     is_first ? MODEL_CALL
						      : (enum model_relation)c.relation);
	case MODEL_CONTEXT_LINE:
		return expand_enter_line(r, above, MODEL_CONTEXT_LINE, c.file, c.line);
	case MODEL_CONTEXT_LOOP:
		if (c.file != MODEL_NONE)
			return expand_enter_line(r, above, MODEL_CONTEXT_LOOP, c.file, c.line);
		return expand_enter_loop(r, above, c.module,
					 &(struct structure_scope){.file = STRUCTURE_NONE,
								   .entry = c.link_addr});
	case MODEL_CONTEXT_INSTRUCTION: return expand_enter_instruction(r, above, c.link_addr);
	default: return above;
	}
}

/*
 * Copies the path from the function around `common` to `end`; `common` is on that path. An entry
 * has no function around it.
 */
static uint32_t copy_path(struct expand_run *r, uint32_t above, uint32_t common, uint32_t end)
{
	while (get(r, common)->kind > MODEL_CONTEXT_FUNCTION)
		common = get(r, common)->parent;
	VEC(uint32_t) path = {0};
	for (uint32_t at = end; at != common; at = get(r, at)->parent) {
		uint32_t *to = vec_push(&path);
		if (!to) {
			r->failed = true;
			break;
		}
		*to = at;
	}
	if (get(r, common)->kind == MODEL_CONTEXT_FUNCTION)
		above = copy(r, above, common, true);
	for (size_t i = path.n; i-- > 0;)
		above = copy(r, above, path.at[i], false);
	vec_free(&path);
	return r->failed ? 0 : above;
}

static uint32_t enter_range(struct expand_run *r, uint32_t above, uint32_t label)
{
	const uint32_t function = expand_find_named(
		r, (struct expand_function){.name = label,
					    .linkage_name = strtab_add_z(r->e->strings, ""),
					    .module = MODEL_NONE,
					    .file = MODEL_NONE,
					    .definition = MODEL_NONE,
					    .is_range = true});
	return r->failed ? 0 : expand_enter_function(r, above, function, MODEL_CALL);
}

uint32_t nvtx_tree_enter(struct expand_run *r, uint32_t i)
{
	const uint32_t end = r->e->context_of[without_ranges(r->tree, i)];
	struct around ranges[DEPTH_MOST];
	if (!end) /* damaged: outside of all entries */
		return end;
	const uint32_t n = list_ranges(r, i, end, ranges);
	uint32_t at = ranges[n - 1].common;
	for (uint32_t k = n; k-- > 0;) {
		const struct around *a = &ranges[k];
		const bool is_first = k == n - 1, is_beside = !is_first && a[1].common == a->common;
		if (!is_first && !is_beside)
			at = copy_path(r, at, a[1].common, a->common);
		if (a->line != MODEL_NONE && !is_beside && !r->failed)
			at = copy(r, at, a->line, false);
		at = enter_range(r, at, a->label);
	}
	return copy_path(r, at, ranges[0].common, end);
}
