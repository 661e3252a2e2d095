/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See sum.h. Sums up all profiles, in one process or in several parts. A worker keeps four bytes
 * and a bit for each context. Test: tests/unit/prof/test_sum.c compares with a plain oracle.
 */
#include "hpcprof-lite/attribute/sum/sum.h"

#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/base/sorted.h"
#include "hpcprof-lite/attribute/sum/share_values.h"
#include "hpcprof-lite/attribute/sum/sum_run.h"
#include "hpcprof-lite/attribute/sum/totals.h"

#include <stdatomic.h>
#include <stdlib.h>

static void sum_job(void *arg, size_t i, unsigned worker)
{
	struct sum_run *s = arg;
	if (!atomic_load(&s->failed) && !sum_profile(s, s->first + i, &s->workers[worker]))
		atomic_store(&s->failed, true);
	log_progress("adding up threads", atomic_fetch_add(&s->n_done, 1) + 1, s->m->n_profiles);
}

/* Small enough that totals find the values in caches, and large enough to share out. */
enum { BATCH = 512 };

/* Sums up profiles first .. end - 1. t NULL: computes no totals. */
static bool sum_range(struct sum_run *s, unsigned n_workers, uint64_t first, uint64_t end,
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

static bool sum_all(struct sum_run *s, unsigned n_workers)
{
	struct totals *t = totals_begin(s->m, n_workers);
	bool ok = t && sum_range(s, n_workers, 0, s->m->n_profiles, t) &&
		  totals_keep(t, s->m, s->n_samples);
	totals_free(t);
	return ok;
}

/* ---- several parts: each sums up some profiles, then some contexts ---- */

/* An estimate of the work to sum up a profile. */
static uint64_t weight(const struct sum_source *s)
{
	enum { EMPTY = 256 }; /* an empty profile costs as much as this many bytes of cells */
	uint64_t n_bytes = EMPTY;
	for (size_t i = 0; s->thread && i < s->thread->cells.n; i++)
		n_bytes += s->thread->cells.at[i].n_bytes;
	return n_bytes;
}

static bool share_out(struct sum_run *s, const struct sum_parts *parts)
{
	uint64_t *weights = calloc((size_t)s->m->n_profiles + 1, sizeof *weights);
	for (uint32_t i = 0; weights && i < s->m->n_profiles; i++)
		weights[i] = weight(&s->sources[i]);
	const bool ok = weights &&
			share_profiles(s->m, parts->comm, weights, parts->first_profile);
	free(weights);
	return ok;
}

static bool add_totals(struct sum_run *s, unsigned n_workers)
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

enum { COUNTS = 8192 }; /* counts to add at once */

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
 * Adds the counts of samples of all parts. They are integers that stop at their maximum, so the
 * order does not matter. If no part has counts in a block, its pages stay untouched: most metrics
 * have few contexts. False: some part has no memory.
 */
static bool add_counts(struct sum_run *s, struct comm *c)
{
	const size_t n = (size_t)s->m->n_contexts * s->m->n_metrics;
	uint64_t *counts = (uint64_t *)(uintptr_t)s->n_samples; /* no thread is running */
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

static bool sum_shared(struct sum_run *s, const struct sum_parts *parts, unsigned n_workers)
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

static bool make_workers(struct sum_run *s, unsigned n)
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

static void free_workers(struct sum_run *s, unsigned n)
{
	for (unsigned i = 0; s->workers && i < n; i++) {
		free(s->workers[i].touched);
		free(s->workers[i].index_of);
		vec_free(&s->workers[i].list);
		vec_free(&s->workers[i].sums);
		vec_free(&s->workers[i].values);
		vec_free(&s->workers[i].groups);
	}
	free(s->workers);
}

/* Sets on_guess and guessed, if there is a metric of guessed paths. */
static bool find_guesses(struct sum_run *s)
{
	const struct model *m = s->m;
	s->guessed = malloc((m->n_metrics + 1) * sizeof *s->guessed);
	bool any = false;
	for (uint32_t i = 0; s->guessed && i < m->n_metrics; i++) {
		s->guessed[i] = MODEL_NONE;
		if (m->metrics[i].kind != MODEL_METRIC_GUESSED)
			continue;
		s->guessed[m->metrics[i].parent] = i; /* the parent comes before its part */
		any = true;
	}
	if (!s->guessed || !any)
		return s->guessed != NULL;
	s->on_guess = calloc(m->n_contexts, sizeof *s->on_guess);
	for (uint32_t c = 0; s->on_guess && c < m->n_contexts; c++)
		s->on_guess[c] = m->contexts[c].marked || (c && s->on_guess[m->contexts[c].parent]);
	return s->on_guess != NULL;
}

static void find_activities(struct sum_run *s)
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
	struct sum_run s = {.m = m, .sources = sources, .divisors = divisors};
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
