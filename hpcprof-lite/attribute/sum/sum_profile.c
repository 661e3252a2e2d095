/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See sum_run.h. A profile costs time and memory for the contexts that it touches and their
 * ancestors, not for all contexts. Test: tests/unit/prof/test_sum.c.
 */
#include "common/base/capped.h"
#include "hpcprof-lite/attribute/sum/sum_run.h"
#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>

static void touch(const struct model *m, struct sum_worker *w, uint32_t context)
{
	while (context != MODEL_NONE && !(w->touched[context / 64] >> context % 64 & 1)) {
		w->touched[context / 64] |= UINT64_C(1) << context % 64;
		context = m->contexts[context].parent;
	}
}

struct cell_iterator {
	const struct sum_run *s;
	const struct sum_source *source;
	const struct model_timeline *line;
	size_t part, cell, list, extra;
	struct sum_extra last;
	/* other metrics in which the last cell also counts: guessed paths, its activity */
	uint32_t again[2];
	unsigned n_again;
};

/* Lists the other metrics in which a cell counts. */
static void list_again(struct cell_iterator *it)
{
	const struct sum_run *s = it->s;
	const struct sum_extra *x = &it->last;
	if (s->on_guess && s->on_guess[x->context] && s->guessed[x->metric] != MODEL_NONE)
		it->again[it->n_again++] = s->guessed[x->metric];
	uint32_t part = s->part_of[s->m->contexts[x->context].activity];
	if (s->m->metrics[x->metric].is_time && part != MODEL_NONE)
		it->again[it->n_again++] = part;
}

/*
 * Gets the next valid cell that is not empty: its context, metric, count and sum. False at the end.
 */
static bool next_cell(struct cell_iterator *it, struct sum_extra *out)
{
	const struct load_thread *t = it->source->thread;
	if (it->n_again) {
		*out = it->last;
		out->metric = it->again[--it->n_again];
		return true;
	}
	for (; it->part < t->cells.n; it->part++, it->cell = 0) {
		const struct msr_cell *cells = (const void *)t->cells.at[it->part].content;
		while (it->cell < t->cells.at[it->part].n_bytes / sizeof *cells) {
			const struct msr_cell *c = &cells[it->cell++];
			if (c->node >= it->line->n_nodes ||
			    it->line->context_of[c->node] == MODEL_NONE || c->metric >= 16 ||
			    it->line->metric_of[c->metric] == MODEL_NONE ||
			    (!c->count && !c->sum) || !load_cell_is_plausible(c))
				continue;
			*out = (struct sum_extra){.context = it->line->context_of[c->node],
						  .metric = it->line->metric_of[c->metric],
						  .n_samples = c->count,
						  .sum = c->sum};
			it->last = *out;
			list_again(it);
			return true;
		}
	}
	for (; it->list < it->source->n_lists; it->list++, it->extra = 0)
		if (it->extra < it->source->lists[it->list].n) {
			*out = it->source->lists[it->list].at[it->extra++];
			return true;
		}
	return false;
}

static bool list_touched(const struct model *m, struct sum_worker *w)
{
	vec_clear(&w->list);
	for (uint32_t word = 0; word * UINT64_C(64) < m->n_contexts; word++) {
		for (uint64_t bits = w->touched[word]; bits; bits &= bits - 1) {
			uint32_t *at = vec_push(&w->list);
			if (!at)
				return false;
			*at = word * 64 + (uint32_t)__builtin_ctzll(bits);
			w->index_of[*at] = (uint32_t)(w->list.n - 1);
		}
		w->touched[word] = 0;
	}
	return true;
}

/*
 * Adds a child to its parent, by scope. Children come before their parents and are complete. Until
 * a context is complete, its MODEL_LEX_AWARE is the sum without loops.
 */
static void add_to_parent(const struct model_context *child, const struct sums *from,
			  struct sums *to)
{
	capped_grow(&to->at[MODEL_EXECUTION], from->at[MODEL_EXECUTION]);
	if (child->relation != MODEL_LEXICAL ||
	    child->kind == MODEL_CONTEXT_ENTRY) /* the root is not a function */
		return;
	capped_grow(&to->at[MODEL_FUNCTION], from->at[MODEL_FUNCTION]);
	if (child->kind != MODEL_CONTEXT_LOOP)
		capped_grow(&to->at[MODEL_LEX_AWARE], from->at[MODEL_LEX_AWARE]);
}

/*
 * Metrics that are summed together. The group is small: a context has values of few metrics, but
 * takes memory for the whole group.
 */
struct group {
	uint32_t first, n;
};

/* Groups of CPU metrics, then groups of GPU metrics. */
static struct group next_group(const struct model *m, uint32_t first)
{
	enum { MOST = 12 };
	struct group g = {first, 0};
	bool sampled = first < m->n_metrics && m->metrics[first].kind == MODEL_METRIC_SAMPLED;
	while (first + g.n < m->n_metrics &&
	       (m->metrics[first + g.n].kind == MODEL_METRIC_SAMPLED) == sampled &&
	       (sampled || g.n < MOST))
		g.n++;
	return g;
}

static void propagate(const struct model *m, struct sum_worker *w, uint32_t n_metrics)
{
	for (size_t i = w->list.n; i-- > 0;) {
		const struct model_context *c = &m->contexts[w->list.at[i]];
		struct sums *own = &w->sums.at[i * n_metrics];
		struct sums *up =
			i ? &w->sums.at[(size_t)w->index_of[c->parent] * n_metrics] : NULL;
		for (uint32_t k = 0; k < n_metrics; k++) {
			if (up)
				add_to_parent(c, &own[k], &up[k]);
			if (c->kind != MODEL_CONTEXT_LOOP)
				own[k].at[MODEL_LEX_AWARE] = own[k].at[MODEL_FUNCTION];
		}
	}
}

static bool keep_values(struct sum_run *s, struct sum_worker *w, const struct group *g)
{
	for (size_t i = 0; i < w->sums.n; i++) {
		const struct sums *from = &w->sums.at[i];
		uint32_t metric = g->first + (uint32_t)(i % g->n);
		struct model_value *v = from->at[MODEL_EXECUTION] ? vec_push(&w->values) : NULL;
		if (!from->at[MODEL_EXECUTION])
			continue;
		if (!v)
			return false;
		if (from->at[MODEL_EXECUTION] == UINT64_MAX)
			atomic_store_explicit(&s->overflowed, true, memory_order_relaxed);
		v->context = w->list.at[i / g->n];
		v->metric = metric;
		for (unsigned scope = 0; scope < MODEL_N_SCOPES; scope++)
			v->at[scope] = (double)from->at[scope] / s->divisors[metric];
	}
	return true;
}

static bool is_in(const struct group *g, const struct sum_extra *x)
{
	return x->metric >= g->first && x->metric - g->first < g->n;
}

/* relaxed: a plain sum, read only after the threads were joined */
static void add_samples(struct sum_run *s, _Atomic uint64_t *to, uint64_t n)
{
	uint64_t before = atomic_fetch_add_explicit(to, n, memory_order_relaxed);
	if (before + n >= before)
		return;
	atomic_store_explicit(to, UINT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&s->overflowed, true, memory_order_relaxed);
}

static bool sum_group(struct sum_run *s, size_t i, struct sum_worker *w, const struct group *g)
{
	const struct model *m = s->m;
	const struct cell_iterator begin = {.s = s,
					    .source = &s->sources[i],
					    .line = &m->private_->timelines[i]};
	struct cell_iterator it = begin;
	struct sum_extra x;
	while (next_cell(&it, &x))
		if (is_in(g, &x))
			touch(m, w, x.context);
	vec_clear(&w->sums);
	if (!list_touched(m, w) || (w->list.n && !vec_extend(&w->sums, w->list.n * g->n)))
		return false;
	for (it = begin; next_cell(&it, &x);) {
		if (!is_in(g, &x))
			continue;
		struct sums *at =
			&w->sums.at[(size_t)w->index_of[x.context] * g->n + x.metric - g->first];
		for (unsigned scope = 0; scope < MODEL_N_SCOPES; scope++)
			capped_grow(&at->at[scope], x.sum);
		add_samples(s, &s->n_samples[(size_t)x.metric * m->n_contexts + x.context],
			    x.n_samples);
	}
	propagate(m, w, g->n);
	return keep_values(s, w, g);
}

/*
 * Merges the values of all groups into `to`, by context, then metric. Each group has this order,
 * and smaller metrics than the next one.
 */
static void merge_groups(struct sum_worker *w, struct model_value *to)
{
	const struct model_value *v = w->values.at;
	for (size_t n = 0; n < w->values.n;) {
		uint32_t context = UINT32_MAX;
		for (size_t g = 0; g < w->groups.n; g++) {
			const struct sum_part *part = &w->groups.at[g];
			if (part->next < part->end && v[part->next].context < context)
				context = v[part->next].context;
		}
		for (size_t g = 0; g < w->groups.n; g++) {
			struct sum_part *part = &w->groups.at[g];
			while (part->next < part->end && v[part->next].context == context)
				to[n++] = v[part->next++];
		}
	}
}

/* Releases the pages of a source. The sources of one file are neighbours, except for queues. */
static void release(const struct sum_run *s, size_t i)
{
	const struct sum_source *source = &s->sources[i];
	uint64_t n_bytes = 0;
	for (size_t k = 0; k < source->thread->cells.n; k++)
		n_bytes += source->thread->cells.at[k].n_bytes;
	const bool is_last = i + 1 == s->m->n_profiles || s->sources[i + 1].file != source->file;
	load_release(source->file, is_last ? LOAD_ALL : n_bytes);
}

bool sum_profile(struct sum_run *s, size_t i, struct sum_worker *w)
{
	const struct sum_source *source = &s->sources[i];
	struct model_profile *p = &s->m->private_->profiles[i];
	if (!source->thread)
		return true;
	vec_clear(&w->values);
	vec_clear(&w->groups);
	for (struct group g = next_group(s->m, 0); g.n; g = next_group(s->m, g.first + g.n)) {
		const size_t first = w->values.n;
		struct sum_part *part = vec_push(&w->groups);
		if (!part || !sum_group(s, i, w, &g))
			return false;
		*part = (struct sum_part){first, w->values.n};
	}
	if (source->file)
		release(s, i);
	struct model_value *values = model_values_get(s->m, &w->room, w->values.n);
	if (w->values.n && !values)
		return false;
	if (w->values.n)
		merge_groups(w, values);
	p->values = values;
	p->n_values = w->values.n;
	return true;
}
