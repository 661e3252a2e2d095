/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_memory.h. Test: tests/cli/memory/memory_places.sh. */
#include "hpcprof-lite/view/view_memory.h"

#include "common/base/map.h"
#include "hpcprof-lite/view/view_values.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool contains(const char *s, size_t n, const char *word)
{
	const size_t n_word = strlen(word);
	for (size_t i = 0; i + n_word <= n; i++)
		if (!strncasecmp(s + i, word, n_word))
			return true;
	return false;
}

/*
 * Looks at the name before its template arguments and parameters, "void std::vector", or at the
 * type that Rust puts in front, "<alloc::vec::Vec".
 */
bool view_memory_is_passed_on(const char *function)
{
	static const char *const words[] = {
		"alloc", "operator new", "std::", "__gnu_cxx::", "strdup",
		"Py_",   "_Py",          "mmap",  "core::",      "hashbrown::"};
	const bool is_rust = *function == '<';
	const char *name = function + is_rust;
	const size_t n = strcspn(name, is_rust ? "<> " : "<(");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (contains(name, n, words[i]))
			return true;
	return false;
}

static uint32_t place_of(const struct model *m, uint32_t context)
{
	const uint32_t python = model_find_python_line(m, context);
	if (python != MODEL_NONE)
		return python;
	for (uint32_t at = context; at != MODEL_NONE; at = m->contexts[at].parent) {
		const struct model_context *c = &m->contexts[at];
		if (c->function != MODEL_NONE && c->kind != MODEL_CONTEXT_LOOP &&
		    !view_memory_is_passed_on(m->functions[c->function].name))
			return at;
	}
	return context;
}

struct making {
	const struct model *m;
	struct view_memory *v;
	struct map places;             /* (function; file, line) -> place */
	uint32_t allocated, peak, end; /* metrics */
};

static bool add(struct making *g, const struct model_total *t)
{
	const uint32_t place = place_of(g->m, t->context);
	const struct model_context *c = &g->m->contexts[place];
	const uint64_t line =
		c->kind == MODEL_CONTEXT_LINE ? (uint64_t)c->file << 32 | c->line : UINT64_MAX - 1;
	const uint64_t at = map_put(&g->places, c->function, line, g->v->places.n);
	struct view_memory_place *p = at == MAP_NONE         ? NULL
				      : at == g->v->places.n ? vec_push(&g->v->places)
							     : &g->v->places.at[at];
	if (!p)
		return false;
	if (at == g->v->places.n - 1 && !p->allocated && !p->peak && !p->end)
		*p = (struct view_memory_place){.context = place};
	const double bytes = t->sum[MODEL_POINT];
	if (t->metric == g->peak) {
		p->peak += bytes;
	} else if (t->metric == g->end) {
		p->end += bytes;
	} else {
		p->allocated += bytes;
		p->n_samples += t->n_samples;
	}
	return true;
}

static int compare(const void *pa, const void *pb)
{
	const struct view_memory_place *a = pa, *b = pb;
	if (a->peak != b->peak)
		return a->peak < b->peak ? 1 : -1;
	if (a->end != b->end)
		return a->end < b->end ? 1 : -1;
	if (a->allocated != b->allocated)
		return a->allocated < b->allocated ? 1 : -1;
	return (a->context > b->context) - (a->context < b->context);
}

bool view_memory_make(const struct model *m, struct view_memory *v)
{
	struct making g = {.m = m,
			   .v = v,
			   .peak = view_find_metric(m, MODEL_ROLE_LIVE_PEAK),
			   .end = view_find_metric(m, MODEL_ROLE_LIVE_END)};
	bool ok = true;
	*v = (struct view_memory){0};
	if (g.peak == MODEL_NONE)
		return true;
	g.allocated = m->metrics[g.peak].parent;
	v->peak = view_total(m, g.peak);
	v->end = view_total(m, g.end);
	v->allocated = view_total(m, g.allocated);
	for (size_t i = 0; ok && i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		if ((t->metric == g.peak || t->metric == g.end || t->metric == g.allocated) &&
		    t->sum[MODEL_POINT] > 0)
			ok = add(&g, t);
	}
	map_free(&g.places);
	if (!ok)
		view_memory_free(v);
	else if (v->places.n)
		qsort(v->places.at, v->places.n, sizeof *v->places.at, compare);
	return ok;
}

void view_memory_free(struct view_memory *v)
{
	vec_free(&v->places);
}
