/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_calls.h. One pass over the contexts. Test: tests/unit/prof/test_view_calls.c. */
#include "hpcprof-lite/view/view_calls.h"

#include "common/base/map.h"
#include "common/base/strtab.h"
#include "hpcprof-lite/view/view_fold.h"

#include <stdlib.h>

struct building {
	const struct model *m;
	struct view_fold fold;
	struct strtab names;
	struct map children; /* (parent node, callee) -> node */
};

/* Identifies the callee among the children of a node. UINT64_MAX if memory is short. */
static uint64_t callee_of(struct building *b, const struct model_context *c)
{
	if (c->kind != MODEL_CONTEXT_FUNCTION)
		return (uint64_t)1 << 32 | (uint32_t)c->entry << 8 | c->end;
	uint32_t name = strtab_add_z(&b->names, b->m->functions[c->function].name);
	return name == STRTAB_FAILED ? UINT64_MAX : name;
}

/* The node of the context, made if it is new; MODEL_NONE if memory is short. */
static uint32_t get_node(struct building *b, struct view_calls *to, uint32_t context)
{
	const struct model_context *c = &b->m->contexts[context];
	bool is_moved = b->fold.caller && b->fold.caller[context] != MODEL_NONE;
	uint32_t parent = to->node_of[is_moved ? b->fold.caller[context] : c->parent];
	if (c->kind != MODEL_CONTEXT_FUNCTION && c->kind != MODEL_CONTEXT_ENTRY)
		return parent;
	uint64_t callee = callee_of(b, c);
	if (callee == UINT64_MAX)
		return MODEL_NONE;
	uint64_t at = map_put(&b->children, parent, callee, to->nodes.n);
	if (at == MAP_NONE || at < to->nodes.n)
		return at == MAP_NONE ? MODEL_NONE : (uint32_t)at;
	struct view_call *node = vec_push(&to->nodes);
	if (!node)
		return MODEL_NONE;
	*node = (struct view_call){parent, context, to->nodes.at[parent].depth + 1};
	return (uint32_t)at;
}

bool view_calls_open(const struct model *m, struct view_calls *c)
{
	struct building b = {.m = m};
	*c = (struct view_calls){.node_of = calloc(m->n_contexts, sizeof *c->node_of)};
	struct view_call *root = vec_push(&c->nodes);
	bool ok = view_fold_open(m, &b.fold) && root && c->node_of;
	if (ok)
		*root = (struct view_call){.parent = MODEL_NONE};
	for (uint32_t i = 1; ok && i < m->n_contexts; i++) {
		c->node_of[i] = get_node(&b, c, i);
		ok = c->node_of[i] != MODEL_NONE;
	}
	view_fold_close(&b.fold);
	strtab_free(&b.names);
	map_free(&b.children);
	return ok;
}

void view_calls_close(struct view_calls *c)
{
	vec_free(&c->nodes);
	free(c->node_of);
	*c = (struct view_calls){0};
}

double *view_calls_values(const struct model *m, const struct view_calls *c, uint32_t metric)
{
	double *values = calloc(c->nodes.n, sizeof *values);
	for (size_t i = 0; values && i < m->n_totals; i++)
		if (m->totals[i].metric == metric)
			values[c->node_of[m->totals[i].context]] += m->totals[i].sum[MODEL_POINT];
	return values;
}
