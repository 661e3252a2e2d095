/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See sum.h. A profile costs time and memory for the contexts it touches and their ancestors, not
 * for all contexts; a worker keeps four bytes and a bit for each context. Test:
 * tests/unit/prof/test_sum.c compares with a plain oracle.
 */
#include "hpcprof-lite/attribute/sum/sum.h"

#include "common/base/capped.h"
#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/base/sorted.h"
#include "hpcprof-lite/attribute/sum/share_values.h"
#include "hpcprof-lite/attribute/sum/totals.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/model/model_values.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct sums {
	uint64_t at[MODEL_N_SCOPES];
};

struct worker {
	uint64_t *touched;   /* bitmap over contexts, clear between profiles */
	uint32_t *index_of;  /* by context: its place in `list`; valid for touched ones */
	VEC(uint32_t) list;  /* touched contexts, ascending: parents first */
	VEC(struct sums) sums; /* by place, then metric of the group */
	VEC(struct model_value) values; /* of the profile */
	struct model_values_room room; /* where the values of profiles stay */
};

struct summing {
	struct model *m;
	const struct sum_source *sources;
	const double *divisors;
	struct worker *workers;
	bool *on_guess; /* by context: it or a context above it is of a guessed frame; NULL: there
			   is none */
	uint32_t *guessed;           /* by metric: that of its part on guessed paths, MODEL_NONE */
	uint32_t part_of[MODEL_N_ACTIVITIES]; /* metric of the activity; MODEL_NONE: none */
	_Atomic uint64_t *n_samples; /* by metric, then context: metrics that few contexts have
					touch few pages */
	uint32_t first;              /* profile of the batch */
	atomic_size_t n_done;
	atomic_bool failed;
	atomic_bool overflowed;
};

/* ---- one profile ---- */

static void touch(const struct model *m, struct worker *w, uint32_t context)
{
	while (context != MODEL_NONE && !(w->touched[context / 64] >> context % 64 & 1)) {
		w->touched[context / 64] |= UINT64_C(1) << context % 64;
		context = m->contexts[context].parent;
	}
}

struct cell_iterator {
	const struct summing *s;
	const struct sum_source *source;
	const struct model_timeline *line;
	size_t part, cell, list, extra;
	struct sum_extra last;
	/* the metrics that the last cell counts in, too: guessed paths, its activity */
	uint32_t again[2];
	unsigned n_again;
};

/* Lists the other metrics that a cell counts in. */
static void list_again(struct cell_iterator *it)
{
	const struct summing *s = it->s;
	const struct sum_extra *x = &it->last;
	if (s->on_guess && s->on_guess[x->context] && s->guessed[x->metric] != MODEL_NONE)
		it->again[it->n_again++] = s->guessed[x->metric];
	uint32_t part = s->part_of[s->m->contexts[x->context].activity];
	if (s->m->metrics[x->metric].is_time && part != MODEL_NONE)
		it->again[it->n_again++] = part;
}

/* The next valid cell that is not empty: its context, metric, count and sum. False at the end. */
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

static bool list_touched(const struct model *m, struct worker *w)
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
	    child->kind == MODEL_CONTEXT_ENTRY) /* the root is no function */
		return;
	capped_grow(&to->at[MODEL_FUNCTION], from->at[MODEL_FUNCTION]);
	if (child->kind != MODEL_CONTEXT_LOOP)
		capped_grow(&to->at[MODEL_LEX_AWARE], from->at[MODEL_LEX_AWARE]);
}

/*
 * Metrics that are summed at once. The group is small, because contexts have values of few metrics
 * and each context takes memory for the whole group.
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

static void propagate(const struct model *m, struct worker *w, uint32_t n_metrics)
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

static bool keep_values(struct summing *s, struct worker *w, const struct group *g)
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

/* relaxed: a plain sum, read after the threads were joined */
static void add_samples(struct summing *s, _Atomic uint64_t *to, uint64_t n)
{
	uint64_t before = atomic_fetch_add_explicit(to, n, memory_order_relaxed);
	if (before + n >= before)
		return;
	atomic_store_explicit(to, UINT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&s->overflowed, true, memory_order_relaxed);
}

static bool sum_group(struct summing *s, size_t i, struct worker *w, const struct group *g)
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

static int compare_values(const void *pa, const void *pb)
{
	const struct model_value *a = pa, *b = pb;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

/* Sources of one file are in a row, but for queues. */
static void release(const struct summing *s, size_t i)
{
	const struct sum_source *source = &s->sources[i];
	uint64_t n_bytes = 0;
	for (size_t k = 0; k < source->thread->cells.n; k++)
		n_bytes += source->thread->cells.at[k].n_bytes;
	const bool is_last = i + 1 == s->m->n_profiles || s->sources[i + 1].file != source->file;
	load_release(source->file, is_last ? LOAD_ALL : n_bytes);
}

static bool sum_profile(struct summing *s, size_t i, struct worker *w)
{
	const struct sum_source *source = &s->sources[i];
	struct model_profile *p = &s->m->private_->profiles[i];
	size_t n_groups = 0;
	if (!source->thread)
		return true;
	vec_clear(&w->values);
	for (struct group g = next_group(s->m, 0); g.n;
	     g = next_group(s->m, g.first + g.n), n_groups++)
		if (!sum_group(s, i, w, &g))
			return false;
	if (source->file)
		release(s, i);
	if (n_groups > 1 && w->values.n)
		qsort(w->values.at, w->values.n, sizeof *w->values.at, compare_values);
	struct model_value *values = model_values_get(s->m, &w->room, w->values.n);
	if (w->values.n && !values)
		return false;
	if (w->values.n)
		memcpy(values, w->values.at, w->values.n * sizeof *values);
	p->values = values;
	p->n_values = w->values.n;
	return true;
}

static void sum_job(void *arg, size_t i, unsigned worker)
{
	struct summing *s = arg;
	if (!atomic_load(&s->failed) && !sum_profile(s, s->first + i, &s->workers[worker]))
		atomic_store(&s->failed, true);
	log_progress("adding up threads", atomic_fetch_add(&s->n_done, 1) + 1, s->m->n_profiles);
}

/* Batches are so small that totals find the values in caches, and large enough to share out. */
enum { BATCH = 512 };

/* Profiles first .. end - 1. t NULL: without totals. */
static bool sum_range(struct summing *s, unsigned n_workers, uint64_t first, uint64_t end,
		      struct totals *t)
{
	bool ok = true;
	s->first = (uint32_t)first;
	for (uint32_t next; ok && s->first < end; s->first = next) {
		next = (uint32_t)(end - s->first < BATCH ? end : s->first + BATCH);
		pool_run(next - s->first, n_workers, sum_job, s);
		ok = !atomic_load(&s->failed) && (!t || totals_add(t, s->first, next));
	}
	log_progress(NULL, 0, 0);
	return ok;
}

static bool sum_all(struct summing *s, unsigned n_workers)
{
	struct totals *t = totals_begin(s->m, n_workers);
	bool ok = t && sum_range(s, n_workers, 0, s->m->n_profiles, t) &&
		  totals_keep(t, s->m, s->n_samples);
	totals_free(t);
	return ok;
}

/* ---- several parts, each some profiles, and then some contexts ---- */

/* About what it takes to sum up a profile. */
static uint64_t weight(const struct sum_source *s)
{
	enum { EMPTY = 256 }; /* bytes of cells that take as long as a profile without any */
	uint64_t n_bytes = EMPTY;
	for (size_t i = 0; s->thread && i < s->thread->cells.n; i++)
		n_bytes += s->thread->cells.at[i].n_bytes;
	return n_bytes;
}

static bool share_out(struct summing *s, const struct sum_parts *parts)
{
	uint64_t *weights = calloc((size_t)s->m->n_profiles + 1, sizeof *weights);
	for (uint32_t i = 0; weights && i < s->m->n_profiles; i++)
		weights[i] = weight(&s->sources[i]);
	const bool ok = weights &&
			share_profiles(s->m, parts->comm, weights, parts->first_profile);
	free(weights);
	return ok;
}

static bool add_totals(struct summing *s, unsigned n_workers)
{
	struct totals *t = totals_begin(s->m, n_workers);
	bool ok = t != NULL;
	for (uint32_t i = 0; ok && i < s->m->n_profiles; i += BATCH)
		ok = totals_add(t, i,
				s->m->n_profiles - i < BATCH ? s->m->n_profiles : i + BATCH);
	ok = ok && totals_keep(t, s->m, s->n_samples);
	totals_free(t);
	return ok;
}

enum { COUNTS = 8192 }; /* that are added at once */

static size_t n_counts(size_t first, size_t n)
{
	return n - first < COUNTS ? n - first : COUNTS;
}

static bool has_counts(const uint64_t *counts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (counts[i])
			return true;
	return false;
}

/*
 * The counts of samples are integers that stop at their maximum: they can be added in any order.
 * Where no part has any, their pages stay untouched: most metrics have few contexts. False: some
 * part has no memory.
 */
static bool add_counts(struct summing *s, struct comm *c)
{
	const size_t n = (size_t)s->m->n_contexts * s->m->n_metrics;
	uint64_t *counts = (uint64_t *)(uintptr_t)s->n_samples; /* no thread is at work */
	uint64_t *used = calloc(n / COUNTS + 1, sizeof *used);
	bool overflowed = atomic_load(&s->overflowed);
	if (comm_agree(c, used ? STATUS_OK : STATUS_NO_MEMORY) != STATUS_OK) {
		free(used);
		return false;
	}
	for (size_t i = 0; i < n; i += COUNTS)
		used[i / COUNTS] = has_counts(counts + i, n_counts(i, n));
	comm_add(c, used, n / COUNTS + 1);
	for (size_t i = 0; i < n; i += COUNTS)
		if (used[i / COUNTS])
			comm_add(c, counts + i, n_counts(i, n));
	for (size_t i = 0; i < n && !overflowed; i++)
		overflowed = counts[i] == UINT64_MAX;
	atomic_store(&s->overflowed, comm_max(c, overflowed) != 0);
	free(used);
	return true;
}

static bool sum_shared(struct summing *s, const struct sum_parts *parts, unsigned n_workers)
{
	struct comm *c = parts->comm;
	const bool is_shared = share_out(s, parts);
	if (comm_agree(c, is_shared ? STATUS_OK : STATUS_NO_MEMORY) != STATUS_OK)
		return false;
	const uint64_t *first = s->m->share->first_profile + c->part;
	if (!share_values(s->m, sum_range(s, n_workers, first[0], first[1], NULL)))
		return false;
	return add_counts(s, c) && share_totals(s->m, add_totals(s, n_workers));
}

/* ---- the whole ---- */

static bool make_workers(struct summing *s, unsigned n)
{
	s->workers = calloc(n, sizeof *s->workers);
	for (unsigned i = 0; s->workers && i < n; i++) {
		s->workers[i].touched = calloc(s->m->n_contexts / 64 + 1, sizeof(uint64_t));
		s->workers[i].index_of = malloc(s->m->n_contexts * sizeof(uint32_t));
		if (!s->workers[i].touched || !s->workers[i].index_of)
			return false;
	}
	return s->workers != NULL;
}

static void free_workers(struct summing *s, unsigned n)
{
	for (unsigned i = 0; s->workers && i < n; i++) {
		free(s->workers[i].touched);
		free(s->workers[i].index_of);
		vec_free(&s->workers[i].list);
		vec_free(&s->workers[i].sums);
		vec_free(&s->workers[i].values);
	}
	free(s->workers);
}

/* Sets on_guess and guessed, if there is a metric of guessed paths. */
static bool find_guesses(struct summing *s)
{
	const struct model *m = s->m;
	s->guessed = malloc((m->n_metrics + 1) * sizeof *s->guessed);
	bool any = false;
	for (uint32_t i = 0; s->guessed && i < m->n_metrics; i++) {
		s->guessed[i] = MODEL_NONE;
		if (m->metrics[i].kind != MODEL_METRIC_GUESSED)
			continue;
		s->guessed[m->metrics[i].parent] = i; /* which comes before it */
		any = true;
	}
	if (!s->guessed || !any)
		return s->guessed != NULL;
	s->on_guess = calloc(m->n_contexts, sizeof *s->on_guess);
	for (uint32_t c = 0; s->on_guess && c < m->n_contexts; c++)
		s->on_guess[c] = m->contexts[c].marked || (c && s->on_guess[m->contexts[c].parent]);
	return s->on_guess != NULL;
}

static void find_activities(struct summing *s)
{
	for (unsigned i = 0; i < MODEL_N_ACTIVITIES; i++)
		s->part_of[i] = MODEL_NONE;
	for (uint32_t i = 0; i < s->m->n_metrics; i++)
		if (s->m->metrics[i].kind == MODEL_METRIC_ACTIVITY)
			s->part_of[s->m->metrics[i].activity] = i;
}

const struct sum_extra *sum_extras_of(const sum_extras *all, uint32_t profile, size_t *n)
{
	const size_t first = sorted_below(all->at, all->n, thread, profile),
		     end = sorted_up_to(all->at, all->n, thread, profile);
	*n = end - first;
	return *n ? all->at + first : NULL;
}

bool sum_up(struct model *m, const struct sum_source *sources, const double *divisors,
	    const struct sum_parts *parts, unsigned n_workers)
{
	struct summing s = {.m = m, .sources = sources, .divisors = divisors};
	if (n_workers == 0)
		n_workers = pool_n_cpus();
	s.n_samples = calloc((size_t)m->n_contexts * (m->n_metrics ? m->n_metrics : 1),
			     sizeof *s.n_samples);
	find_activities(&s);
	bool ok = s.n_samples && find_guesses(&s) && make_workers(&s, n_workers);
	if (parts && comm_agree(parts->comm, ok ? STATUS_OK : STATUS_NO_MEMORY) != STATUS_OK)
		ok = false;
	if (ok && m->n_metrics)
		ok = parts ? sum_shared(&s, parts, n_workers) : sum_all(&s, n_workers);
	m->sums_overflow = atomic_load(&s.overflowed);
	free_workers(&s, n_workers);
	free(s.on_guess);
	free(s.guessed);
	free((void *)s.n_samples);
	return ok;
}
