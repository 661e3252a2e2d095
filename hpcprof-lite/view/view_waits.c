/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_waits.h. Test: tests/unit/prof/test_view_gpu.c. */
#include "hpcprof-lite/view/view_waits.h"

#include "common/base/map.h"
#include "hpcprof-lite/view/view_values.h"

#include <stdlib.h>

static int compare_waits(const void *pa, const void *pb)
{
	const struct view_wait *a = pa, *b = pb;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	return (a->api > b->api) - (a->api < b->api);
}

/* The function (or entry) around a placeholder. */
static struct view_wait place_wait(const struct model *m, uint32_t placeholder)
{
	uint32_t at = m->contexts[placeholder].parent;
	while (m->contexts[at].kind != MODEL_CONTEXT_FUNCTION &&
	       m->contexts[at].kind != MODEL_CONTEXT_ENTRY && m->contexts[at].parent != MODEL_NONE)
		at = m->contexts[at].parent;
	struct view_wait w = {.api = at,
			      .call = m->contexts[at].kind == MODEL_CONTEXT_FUNCTION
					      ? m->contexts[at].parent
					      : MODEL_NONE};
	uint32_t python =
		w.call != MODEL_NONE && m->contexts[w.call].kind == MODEL_CONTEXT_INSTRUCTION
			? model_find_python_line(m, w.call)
			: MODEL_NONE;
	w.call = python != MODEL_NONE ? python : w.call;
	return w;
}

/* Adds the time of one placeholder to the wait of its place. False if memory is short. */
static bool add_wait(const struct model *m, struct map *index, struct view_wait *waits, size_t *n,
		     const struct model_total *t)
{
	struct view_wait w = place_wait(m, t->context);
	const struct model_context *api = &m->contexts[w.api],
				   *call = w.call != MODEL_NONE ? &m->contexts[w.call] : NULL;
	bool at_line = call && call->file != MODEL_NONE;
	uint64_t id =
		map_put(index, (uint64_t)api->function << 32 | (call ? call->function : 0),
			at_line ? (uint64_t)call->file << 32 | call->line : UINT64_MAX - w.api, *n);
	if (id == MAP_NONE)
		return false;
	if (id == *n)
		waits[(*n)++] = w;
	waits[id].seconds += t->sum[MODEL_POINT];
	return true;
}

bool view_waits_make(const struct model *m, struct view_waits *w)
{
	uint32_t metric = view_find_metric(m, MODEL_ROLE_SYNC_TIME);
	struct map index = {0};
	*w = (struct view_waits){.at = calloc(m->n_contexts, sizeof *w->at)};
	bool ok = w->at;
	for (size_t i = 0; ok && i < m->n_totals; i++)
		if (m->totals[i].metric == metric && m->totals[i].sum[MODEL_POINT] > 0 &&
		    m->contexts[m->totals[i].context].parent != MODEL_NONE)
			ok = add_wait(m, &index, w->at, &w->n, &m->totals[i]);
	map_free(&index);
	if (!ok)
		view_waits_free(w);
	else
		qsort(w->at, w->n, sizeof *w->at, compare_waits);
	return ok;
}

void view_waits_free(struct view_waits *w)
{
	free(w->at);
	*w = (struct view_waits){0};
}
