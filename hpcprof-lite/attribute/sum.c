/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See sum.h. A profile costs time and memory for the contexts it touches and their ancestors, not for all contexts; a worker keeps four bytes and a bit
 * for each context. Test: tests/unit/test_sum.c compares with a plain oracle.
 */
#include "hpcprof-lite/attribute/sum.h"

#include "common/base/pool.h"

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
	VEC(struct sums) sums; /* by place, then metric */
};

struct summing {
	struct model *m;
	const struct sum_source *sources;
	const double *divisors;
	struct worker *workers;
	_Atomic uint64_t *n_samples; /* by context, then metric */
	atomic_bool failed;
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
	const struct sum_source *source;
	const struct model_timeline *line;
	size_t part, cell;
};

/* The next sound cell with its context and metric; NULL at the end. */
static const struct msr_cell *next_cell(struct cell_iterator *it, uint32_t *context, uint32_t *metric)
{
	const struct load_thread *t = it->source->thread;
	for (; it->part < t->cells.n; it->part++, it->cell = 0) {
		const struct msr_cell *cells = (const void *)t->cells.at[it->part].content;
		while (it->cell < t->cells.at[it->part].n_bytes / sizeof *cells) {
			const struct msr_cell *c = &cells[it->cell++];
			if (c->node >= it->line->n_nodes || it->line->context_of[c->node] == MODEL_NONE || c->metric >= 16
				|| it->line->metric_of[c->metric] == MODEL_NONE)
				continue;
			*context = it->line->context_of[c->node];
			*metric = it->line->metric_of[c->metric];
			return c;
		}
	}
	return NULL;
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
 * What a child adds to its parent, by scope. Children come before their parents here, so theirs are complete. Until a context is done, its
 * MODEL_LEX_AWARE holds the sum without loops, whatever it is.
 */
static void add_to_parent(const struct model_context *child, const struct sums *from, struct sums *to)
{
	to->at[MODEL_EXECUTION] += from->at[MODEL_EXECUTION];
	if (child->relation != MODEL_LEXICAL)
		return;
	to->at[MODEL_FUNCTION] += from->at[MODEL_FUNCTION];
	if (child->kind != MODEL_CONTEXT_LOOP)
		to->at[MODEL_LEX_AWARE] += from->at[MODEL_LEX_AWARE];
}

static void propagate(const struct model *m, struct worker *w)
{
	uint32_t n_metrics = m->n_metrics;
	for (size_t i = w->list.n; i-- > 0;) {
		const struct model_context *c = &m->contexts[w->list.at[i]];
		struct sums *own = &w->sums.at[i * n_metrics];
		struct sums *up = i ? &w->sums.at[(size_t)w->index_of[c->parent] * n_metrics] : NULL;
		for (uint32_t k = 0; k < n_metrics; k++) {
			if (up)
				add_to_parent(c, &own[k], &up[k]);
			if (c->kind != MODEL_CONTEXT_LOOP)
				own[k].at[MODEL_LEX_AWARE] = own[k].at[MODEL_FUNCTION];
		}
	}
}

static bool keep_values(const struct summing *s, const struct worker *w, struct model_profile *p)
{
	size_t n = 0;
	for (size_t i = 0; i < w->sums.n; i++)
		n += w->sums.at[i].at[MODEL_EXECUTION] != 0;
	struct model_value *values = malloc((n ? n : 1) * sizeof *values), *v = values;
	if (!values)
		return false;
	for (size_t i = 0; i < w->sums.n; i++) {
		const struct sums *from = &w->sums.at[i];
		uint32_t metric = (uint32_t)(i % s->m->n_metrics);
		if (!from->at[MODEL_EXECUTION])
			continue;
		v->context = w->list.at[i / s->m->n_metrics];
		v->metric = metric;
		for (unsigned scope = 0; scope < MODEL_N_SCOPES; scope++)
			v->at[scope] = (double)from->at[scope] / s->divisors[metric];
		v++;
	}
	p->values = values;
	p->n_values = n;
	return true;
}

static bool sum_profile(struct summing *s, size_t i, struct worker *w)
{
	const struct model *m = s->m;
	const struct sum_source *source = &s->sources[i];
	uint32_t context, metric;
	const struct msr_cell *c;
	struct cell_iterator it = {.source = source, .line = &m->private_->timelines[i]};
	while ((c = next_cell(&it, &context, &metric)))
		if (c->count || c->sum)
			touch(m, w, context);
	vec_clear(&w->sums);
	if (!list_touched(m, w) || (w->list.n && !vec_extend(&w->sums, w->list.n * m->n_metrics)))
		return false;
	it = (struct cell_iterator){.source = source, .line = &m->private_->timelines[i]};
	while ((c = next_cell(&it, &context, &metric))) {
		if (!c->count && !c->sum)
			continue;
		struct sums *at = &w->sums.at[(size_t)w->index_of[context] * m->n_metrics + metric];
		for (unsigned scope = 0; scope < MODEL_N_SCOPES; scope++)
			at->at[scope] += c->sum;
		/* relaxed: a plain sum, read after the threads were joined */
		atomic_fetch_add_explicit(&s->n_samples[(size_t)context * m->n_metrics + metric], c->count, memory_order_relaxed);
	}
	for (size_t p = 0; p < source->thread->cells.n; p++)
		load_release(source->file, source->thread->cells.at[p].n_bytes);
	propagate(m, w);
	return keep_values(s, w, &m->private_->profiles[i]);
}

static void sum_job(void *arg, size_t i, unsigned worker)
{
	struct summing *s = arg;
	if (!atomic_load(&s->failed) && !sum_profile(s, i, &s->workers[worker]))
		atomic_store(&s->failed, true);
}

/* ---- totals ---- */

enum { CHUNKS_A_WORKER = 16, LEAST_CHUNK = 2048 };

struct chunk {
	VEC(struct model_total) totals;
};

struct totalling {
	struct summing *s;
	struct chunk *chunks;
	uint32_t chunk_contexts; /* few enough to share the work, many enough that finding a chunk in each profile costs nothing */
};

static const struct model_value *first_at(const struct model_profile *p, uint32_t context)
{
	const struct model_value *low = p->values, *high = p->values + p->n_values;
	while (low < high) {
		const struct model_value *middle = low + (high - low) / 2;
		if (middle->context < context)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_value(struct model_total *t, const struct model_value *v)
{
	for (unsigned k = 0; k < MODEL_N_SCOPES; k++) {
		t->sum[k] += v->at[k];
		t->sum_of_squares[k] += v->at[k] * v->at[k];
		if (!t->n_profiles || v->at[k] < t->min[k])
			t->min[k] = v->at[k];
		if (v->at[k] > t->max[k])
			t->max[k] = v->at[k];
	}
	t->n_profiles++;
}

static void total_job(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct totalling *t = arg;
	const struct model *m = t->s->m;
	uint32_t begin = (uint32_t)i * t->chunk_contexts, n_metrics = m->n_metrics;
	uint32_t end = m->n_contexts - begin < t->chunk_contexts ? m->n_contexts : begin + t->chunk_contexts;
	struct chunk *c = &t->chunks[i];
	if (!vec_extend(&c->totals, (size_t)(end - begin) * n_metrics)) {
		atomic_store(&t->s->failed, true);
		return;
	}
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		const struct model_profile *profile = &m->profiles[p];
		const struct model_value *last = profile->values + profile->n_values;
		for (const struct model_value *v = first_at(profile, begin); v < last && v->context < end; v++)
			add_value(&c->totals.at[(size_t)(v->context - begin) * n_metrics + v->metric], v);
	}
	size_t kept = 0;
	for (size_t k = 0; k < c->totals.n; k++) {
		if (!c->totals.at[k].n_profiles)
			continue;
		c->totals.at[kept] = c->totals.at[k];
		c->totals.at[kept].context = begin + (uint32_t)(k / n_metrics);
		c->totals.at[kept].metric = (uint32_t)(k % n_metrics);
		c->totals.at[kept].n_samples = t->s->n_samples[(size_t)begin * n_metrics + k];
		kept++;
	}
	c->totals.n = kept;
	struct model_total *fitting = realloc(c->totals.at, (kept ? kept : 1) * sizeof *fitting);
	if (fitting) {
		c->totals.at = fitting;
		c->totals.capacity = kept;
	}
}

static bool total_up(struct summing *s, unsigned n_workers)
{
	struct model *m = s->m;
	uint32_t chunk = m->n_contexts / (n_workers * CHUNKS_A_WORKER);
	chunk = chunk < LEAST_CHUNK ? LEAST_CHUNK : chunk;
	size_t n_chunks = ((size_t)m->n_contexts + chunk - 1) / chunk, n = 0;
	struct totalling t = {s, calloc(n_chunks, sizeof *t.chunks), chunk};
	if (!t.chunks)
		return false;
	pool_run(n_chunks, n_workers, total_job, &t);
	for (size_t i = 0; i < n_chunks; i++)
		n += t.chunks[i].totals.n;
	struct model_total *all = malloc((n ? n : 1) * sizeof *all);
	if (all && !atomic_load(&s->failed)) {
		m->totals = m->private_->totals = all;
		for (size_t i = 0; i < n_chunks; i++) {
			if (t.chunks[i].totals.n)
				memcpy(all + m->n_totals, t.chunks[i].totals.at, t.chunks[i].totals.n * sizeof *all);
			m->n_totals += t.chunks[i].totals.n;
			vec_free(&t.chunks[i].totals);
		}
	} else {
		free(all);
		atomic_store(&s->failed, true);
	}
	for (size_t i = 0; i < n_chunks; i++)
		vec_free(&t.chunks[i].totals);
	free(t.chunks);
	return !atomic_load(&s->failed);
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
	}
	free(s->workers);
}

bool sum_up(struct model *m, const struct sum_source *sources, const double *divisors, unsigned n_workers)
{
	struct summing s = {.m = m, .sources = sources, .divisors = divisors};
	if (n_workers == 0)
		n_workers = pool_n_cpus();
	s.n_samples = calloc((size_t)m->n_contexts * (m->n_metrics ? m->n_metrics : 1), sizeof *s.n_samples);
	bool ok = s.n_samples && make_workers(&s, n_workers);
	if (ok && m->n_metrics) {
		pool_run(m->n_profiles, n_workers, sum_job, &s);
		ok = !atomic_load(&s.failed) && total_up(&s, n_workers);
	}
	free_workers(&s, n_workers);
	free((void *)s.n_samples);
	return ok;
}
