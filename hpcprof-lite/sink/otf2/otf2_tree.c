/* SPDX-License-Identifier: BSD-3-Clause */
/* The model's tree as OTF2's; see otf2_tree.h. Test: tests/unit/sink/test_sink_otf2.c. */
#include "hpcprof-lite/sink/otf2/otf2_tree.h"

#include "common/base/log.h"
#include "common/base/map.h"

#include <stdlib.h>

struct builder {
	const struct model *m;
	struct otf2_tree *t;
	struct map places, loops; /* (file, line), (function, file and line) -> index */
	uint32_t *region_of;      /* by context: of the frame-like ones */
	bool *own;                /* by context: a function or loop with a node of its own */
	bool *only_calls;         /* by context: an instruction without values, see find_calls() */
};

static bool is_frame(const struct model_context *c)
{
	return c->kind == MODEL_CONTEXT_FUNCTION || c->kind == MODEL_CONTEXT_LOOP;
}

/* True for a placeholder or a function that it calls: the contexts of GPU operations. */
static bool is_gpu_operation(const struct model *m, const struct model_context *c)
{
	const struct model_context *parent = c->parent != MODEL_NONE ? &m->contexts[c->parent] : c;
	return (c->kind == MODEL_CONTEXT_FUNCTION && c->function < m->n_functions &&
		m->functions[c->function].gpu_kind != MSR_GPU_NO_KIND) ||
	       (parent->kind == MODEL_CONTEXT_FUNCTION && parent->function < m->n_functions &&
		m->functions[parent->function].gpu_kind != MSR_GPU_NO_KIND);
}

static bool is_wait(const struct model *m, const struct model_context *c)
{
	return c->kind == MODEL_CONTEXT_FUNCTION && c->function < m->n_functions &&
	       m->functions[c->function].wait;
}

/*
 * Finds the functions and loops with a node of their own. They directly contain another function or
 * loop, have no children, have values of their own, or are GPU operations or waits.
 */
static void find_own(struct builder *b)
{
	const struct model *m = b->m;
	for (uint32_t i = 1; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		if (is_frame(c)) {
			b->own[i] |= c->subtree_n == 1 || is_gpu_operation(m, c) || is_wait(m, c);
			if (c->parent != MODEL_NONE && is_frame(&m->contexts[c->parent]))
				b->own[c->parent] = true;
		}
	}
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->totals[i].sum[MODEL_POINT] != 0 &&
		    is_frame(&m->contexts[m->totals[i].context]))
			b->own[m->totals[i].context] = true;
}

/*
 * Finds the instructions that only call. They say no more than the function around them, which has
 * no lines, so they have the function's node.
 */
static void find_calls(struct builder *b)
{
	const struct model *m = b->m;
	for (uint32_t i = 1; i < m->n_contexts; i++)
		b->only_calls[i] = m->contexts[i].kind == MODEL_CONTEXT_INSTRUCTION &&
				   m->contexts[i].subtree_n > 1;
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->totals[i].sum[MODEL_POINT] != 0)
			b->only_calls[m->totals[i].context] = false;
	for (uint32_t i = 1; i < m->n_contexts; i++)
		if (b->only_calls[i])
			b->own[m->contexts[i].parent] = true;
}

static bool add_region(struct builder *b, struct otf2_region region)
{
	struct otf2_region *r = vec_push(&b->t->regions);
	if (r)
		*r = region;
	return r;
}

/* Regions of functions come first, by index. The unknown function follows. */
static bool add_function_regions(struct builder *b)
{
	for (uint32_t i = 0; i < b->m->n_functions; i++)
		if (!add_region(b, (struct otf2_region){OTF2_REGION_FUNCTION, i, MODEL_NONE,
							b->m->functions[i].file,
							b->m->functions[i].line}))
			return false;
	return add_region(b, (struct otf2_region){OTF2_REGION_FUNCTION, MODEL_NONE, MODEL_NONE,
						  MODEL_NONE, 0});
}

/* Region of a frame-like context or an entry; MODEL_NONE when memory is short. */
static uint32_t region_of(struct builder *b, uint32_t context)
{
	const struct model_context *c = &b->m->contexts[context];
	uint32_t next = (uint32_t)b->t->regions.n;
	if (c->kind == MODEL_CONTEXT_FUNCTION)
		return c->function < b->m->n_functions ? c->function : b->m->n_functions;
	if (c->kind == MODEL_CONTEXT_ENTRY)
		return add_region(b, (struct otf2_region){OTF2_REGION_ENTRY, MODEL_NONE, context,
							  MODEL_NONE, 0})
			       ? next
			       : MODEL_NONE;
	bool has_line = c->file != MODEL_NONE;
	uint64_t key = has_line ? (uint64_t)c->file << 32 | c->line : c->link_addr;
	uint64_t found = map_put(&b->loops, (uint64_t)has_line << 32 | c->function, key, next);
	if (found == next && !add_region(b, (struct otf2_region){OTF2_REGION_LOOP, c->function,
								 context, c->file, c->line}))
		return MODEL_NONE;
	return (uint32_t)found;
}

/* Sets *place. */
static bool place_of(struct builder *b, const struct model_context *c, uint32_t *place)
{
	*place = MODEL_NONE;
	if (c->kind != MODEL_CONTEXT_LINE || c->file >= b->m->n_files)
		return true;
	uint64_t next = b->t->places.n, found = map_put(&b->places, c->file, c->line, next);
	if (found == next) {
		struct otf2_place *p = vec_push(&b->t->places);
		if (!p)
			return false;
		*p = (struct otf2_place){c->file, c->line};
	}
	*place = (uint32_t)found;
	return found != MAP_NONE;
}

/* The function, loop or entry that a context is, or is in. */
static uint32_t frame_of(const struct builder *b, uint32_t context)
{
	while (!is_frame(&b->m->contexts[context]) &&
	       b->m->contexts[context].kind != MODEL_CONTEXT_ENTRY &&
	       b->m->contexts[context].parent != MODEL_NONE)
		context = b->m->contexts[context].parent;
	return context;
}

static bool add_node(struct builder *b, uint32_t context)
{
	struct otf2_node node = {.context = context, .frame = frame_of(b, context), .depth = 1};
	uint32_t above = b->m->contexts[node.frame].parent;
	node.parent = above == MODEL_NONE ? MODEL_NONE : b->t->node_of[above];
	if (node.parent != MODEL_NONE)
		node.depth = b->t->nodes.at[node.parent].depth + 1;
	node.on_guess = b->m->contexts[context].marked ||
			(node.parent != MODEL_NONE && b->t->nodes.at[node.parent].on_guess);
	node.region = b->region_of[node.frame];
	node.is_inlined = b->m->contexts[node.frame].relation == MODEL_INLINED;
	if (!place_of(b, &b->m->contexts[context], &node.place))
		return false;
	struct otf2_node *n = vec_push(&b->t->nodes);
	if (!n)
		return false;
	*n = node;
	b->t->node_of[context] = (uint32_t)b->t->nodes.n - 1;
	return true;
}

static bool add_contexts(struct builder *b)
{
	const struct model *m = b->m;
	b->t->node_of[0] = MODEL_NONE;
	for (uint32_t i = 1; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		b->t->node_of[i] = b->t->node_of[c->parent];
		if ((is_frame(c) || c->kind == MODEL_CONTEXT_ENTRY) &&
		    (b->region_of[i] = region_of(b, i)) == MODEL_NONE)
			return false;
		if ((is_frame(c) ? b->own[i] : !b->only_calls[i]) && !add_node(b, i))
			return false;
	}
	return true;
}

enum status otf2_tree_make(const struct model *m, struct otf2_tree *t)
{
	size_t n = m->n_contexts ? m->n_contexts : 1;
	*t = (struct otf2_tree){.node_of = calloc(n, sizeof *t->node_of)};
	struct builder b = {.m = m,
			    .t = t,
			    .region_of = calloc(n, sizeof *b.region_of),
			    .own = calloc(n, sizeof *b.own),
			    .only_calls = calloc(n, sizeof *b.only_calls)};
	bool ok = t->node_of && b.region_of && b.own && b.only_calls;
	if (ok) {
		find_own(&b);
		find_calls(&b);
		ok = add_function_regions(&b) && add_contexts(&b);
	}
	map_free(&b.places);
	map_free(&b.loops);
	free(b.region_of);
	free(b.own);
	free(b.only_calls);
	if (ok)
		return STATUS_OK;
	log_error(NULL, "out of memory");
	otf2_tree_free(t);
	return STATUS_NO_MEMORY;
}

void otf2_tree_free(struct otf2_tree *t)
{
	vec_free(&t->regions);
	vec_free(&t->places);
	vec_free(&t->nodes);
	free(t->node_of);
	t->node_of = NULL;
}

/*
 * True for two places in one frame. Readers know a frame by its region and its caller: calls of one
 * function from several instructions without lines are one frame to them.
 */
static bool are_one_frame(const struct otf2_node *a, const struct otf2_node *b)
{
	return a->parent == b->parent && a->region == b->region && a->is_inlined == b->is_inlined;
}

struct otf2_step otf2_tree_step(const struct otf2_tree *t, uint32_t from, uint32_t to)
{
	const struct otf2_node *nodes = t->nodes.at;
	if (from == to)
		return (struct otf2_step){0, 0, 1};
	struct otf2_step step = {0};
	uint32_t a = from, b = to;
	while (a != MODEL_NONE && nodes[a].depth > nodes[to].depth) {
		a = nodes[a].parent;
		step.n_left++;
	}
	while (b != MODEL_NONE && (a == MODEL_NONE || nodes[b].depth > nodes[a].depth)) {
		b = nodes[b].parent;
		step.n_entered++;
	}
	while (a != MODEL_NONE && a != b && !are_one_frame(&nodes[a], &nodes[b])) {
		a = nodes[a].parent;
		b = nodes[b].parent;
		step.n_left++;
		step.n_entered++;
	}
	step.distance = step.n_entered + 1;
	return step;
}
