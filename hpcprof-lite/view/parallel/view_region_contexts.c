/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contexts of parallel regions; see view_regions_internal.h. Test:
 * tests/unit/prof/test_view_regions.c.
 *
 * The path of a worker goes on from the call that forked the region, and so do those of tasks. All
 * that is below this call belongs to the region: a compiler may have ended the region's function or
 * a task with a jump, which leaves no frame, and libomp does not say which function it calls.
 */
#include "hpcprof-lite/view/parallel/view_regions_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples ---- */

static double value(const struct model *m, uint32_t context, uint32_t metric)
{
	const struct model_total *t = model_find_total(m, context, metric);
	return t ? t->sum[MODEL_EXECUTION] : 0;
}

static void add_samples(const struct model *m, uint32_t context, struct view_region *r)
{
	bool any = false;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_ACTIVITY) {
			r->activity[m->metrics[i].activity] += value(m, context, i);
			any = true;
		}
	for (uint32_t i = 0; i < m->n_metrics && !any; i++)
		if (m->metrics[i].is_time)
			r->activity[MODEL_WORK] += value(m, context, i);
}

/* The loop, if it is the only outermost one of the region's function. */
static void find_loop(const struct model *m, uint32_t function, struct view_region *r)
{
	uint32_t end = function + m->contexts[function].subtree_n;
	for (uint32_t c = function + 1; c < end;) {
		const struct model_context *x = &m->contexts[c];
		/*
		 * clang inlines the body, which also has an outlined name, into the outlined
		 * function
		 */
		if (x->kind == MODEL_CONTEXT_FUNCTION &&
		    (x->relation == MODEL_CALL || x->function >= m->n_functions ||
		     !model_is_outlined(m->functions[x->function].name))) {
			c += x->subtree_n;
			continue;
		}
		if (x->kind != MODEL_CONTEXT_LOOP) {
			c++;
			continue;
		}
		bool is_other = r->loop_file != MODEL_NONE &&
				(r->loop_file != x->file || r->loop_line != x->line);
		r->loop_file = x->file;
		r->loop_line = is_other || x->file == MODEL_NONE ? UINT32_MAX : x->line;
		c += x->subtree_n;
	}
}

/* ---- schedules ---- */

/* "dynamic" of GOMP_loop_ull_nonmonotonic_dynamic_next; NULL: no function that starts a loop. */
static const char *schedule_of(const char *name)
{
	static const char *const of[] = {"static", "dynamic", "guided", "runtime"};
	if (!strncmp(name, "__kmpc_for_static_init", 22))
		return "static";
	if (!strncmp(name, "__kmpc_dispatch_", 16))
		return "dynamic or guided";
	if (strncmp(name, "GOMP_loop_", 10) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		if (strstr(name, of[i]))
			return of[i];
	return NULL;
}

/*
 * Finds how the loops of the region are scheduled, from samples in the OpenMP runtime. Only the
 * region's own functions and what they call directly count, because other functions may have other
 * loops.
 */
static void find_schedule(const struct model *m, uint32_t function, struct view_region *r)
{
	const uint32_t end = function + m->contexts[function].subtree_n;
	for (uint32_t c = function + 1; c < end;) {
		const struct model_context *x = &m->contexts[c];
		if (x->kind != MODEL_CONTEXT_FUNCTION || x->function >= m->n_functions) {
			c++;
			continue;
		}
		const char *name = m->functions[x->function].name, *found = schedule_of(name);
		if (found && *r->schedule && strcmp(r->schedule, found) != 0)
			found = "several";
		if (found)
			snprintf(r->schedule, sizeof r->schedule, "%s", found);
		c += x->relation == MODEL_CALL && !model_is_outlined(name) ? x->subtree_n : 1;
	}
}

/* ---- contexts ---- */

enum { SEVERAL = INT32_MAX }; /* regions have this body */

struct finding {
	const struct model *m;
	struct view_regions *r;
	struct region_sums *sums;
	uint32_t *of_function;     /* by function: the region that it is the body of, or SEVERAL */
	struct map forks;          /* (function, region_place()) -> its first region */
	uint32_t *region_of;       /* by context: the region whose outermost context it is */
	uint32_t *around;          /* by context: the nearest such context, or itself; 0: none */
};

/* The region that the context is the fork or the body of. MODEL_NONE: none, or one of several. */
static uint32_t find_region(const struct finding *f, uint32_t context)
{
	const struct model_context *c = &f->m->contexts[context];
	if (c->function >= f->m->n_functions)
		return MODEL_NONE;
	if (c->kind == MODEL_CONTEXT_FUNCTION) {
		const uint32_t of = f->of_function[c->function];
		return of == SEVERAL ? MODEL_NONE : of;
	}
	const uint64_t place = c->kind == MODEL_CONTEXT_LINE ? region_place(c->file, c->line, 0)
			       : c->kind == MODEL_CONTEXT_INSTRUCTION
				       ? region_place(MODEL_NONE, 0, c->link_addr)
				       : 0,
		       fork = place ? map_get(&f->forks, c->function, place) : MAP_NONE;
	return fork == MAP_NONE || f->sums[fork].shares_fork ? MODEL_NONE : (uint32_t)fork;
}

/* The context above of the same region; 0: none. */
static uint32_t find_same_above(const struct finding *f, uint32_t context, uint32_t region)
{
	uint32_t at = f->around[f->m->contexts[context].parent];
	while (at && f->region_of[at] != region)
		at = f->around[f->m->contexts[at].parent];
	return at;
}

/* The body is a compiler's function that is called at the fork. */
static bool is_body(const struct finding *f, uint32_t context, uint32_t region)
{
	const struct model_context *c = &f->m->contexts[context];
	const uint32_t of = f->r->at[region].function;
	return c->kind == MODEL_CONTEXT_FUNCTION && c->function < f->m->n_functions &&
	       (of == MODEL_NONE ? model_is_outlined(f->m->functions[c->function].name)
				 : of == c->function);
}

static void find_bodies(const struct finding *f, uint32_t context, uint32_t region)
{
	struct view_region *r = &f->r->at[region], body = {0};
	const uint32_t end = context + f->m->contexts[context].subtree_n;
	const bool is_function = f->m->contexts[context].kind == MODEL_CONTEXT_FUNCTION;
	for (uint32_t c = context + !is_function; c < end; c += f->m->contexts[c].subtree_n)
		if (is_body(f, c, region)) {
			add_samples(f->m, c, &body);
			find_loop(f->m, c, r);
			find_schedule(f->m, c, r);
		}
	f->sums[region].body_work += body.activity[MODEL_WORK];
}

static void enter(struct finding *f, uint32_t context)
{
	const uint32_t region = find_region(f, context);
	f->around[context] = f->around[f->m->contexts[context].parent];
	if (region == MODEL_NONE || find_same_above(f, context, region))
		return; /* a region that calls itself counts once */
	f->around[context] = context;
	f->region_of[context] = region;
	add_samples(f->m, context, &f->r->at[region]);
	find_bodies(f, context, region);
}

static double sampled(const struct view_region *r)
{
	double sum = 0;
	for (unsigned i = 0; i < MODEL_N_ACTIVITIES; i++)
		sum += r->activity[i];
	return sum;
}

static double sampled_at(const struct model *m, uint32_t context)
{
	struct view_region r = {0};
	add_samples(m, context, &r);
	return sampled(&r);
}

/*
 * A thread of a region that forks another brings this one's other threads with it. How often it
 * does is known by the share of the samples.
 */
static void add_nested(const struct finding *f, const double *capacity)
{
	for (uint32_t c = 1; c < f->m->n_contexts; c++) {
		if (f->around[c] != c)
			continue;
		const uint32_t inner = f->region_of[c];
		const double all = sampled(&f->r->at[inner]);
		uint32_t at = f->around[f->m->contexts[c].parent];
		if (!at || all <= 0)
			continue;
		const double share = sampled_at(f->m, c) / all;
		f->sums[inner].nested += share;
		for (; at; at = f->around[f->m->contexts[at].parent])
			f->r->at[f->region_of[at]].capacity +=
				share * (capacity[inner] - f->sums[inner].forks);
	}
}

/* Notes how contexts show regions. False if memory is short. */
static bool index_regions(struct finding *f)
{
	for (uint32_t i = 0; i < f->m->n_functions; i++)
		f->of_function[i] = MODEL_NONE;
	for (uint32_t i = 0; i < f->r->n; i++) {
		const struct view_region *r = &f->r->at[i];
		const uint64_t place = f->sums[i].place;
		if (r->function < f->m->n_functions)
			f->of_function[r->function] =
				f->of_function[r->function] == MODEL_NONE ? i : SEVERAL;
		if (!place)
			continue;
		const uint64_t first = map_put(&f->forks, r->call_function, place, i);
		if (first == MAP_NONE)
			return false;
		f->sums[first].shares_fork |= first != i;
	}
	return true;
}

static bool find(struct finding *f)
{
	double *capacity = calloc(f->r->n + 1, sizeof *capacity);
	const bool ok = capacity && index_regions(f);
	for (uint32_t i = 0; ok && i < f->r->n; i++)
		capacity[i] = f->r->at[i].capacity;
	for (uint32_t c = 1; ok && c < f->m->n_contexts; c++)
		enter(f, c);
	if (ok)
		add_nested(f, capacity);
	free(capacity);
	return ok;
}

/* ---- imbalance ---- */

/* Samples of fewer periods say little of how threads differ. */
enum { LEAST_PERIODS = 200 };
/* Look-ups of threads by contexts, of all regions together. */
static const double MOST_LOOK_UPS = 4e6;

static double work_at(const struct model *m, uint32_t profile, uint32_t context)
{
	double work = 0, time = 0;
	bool has_activities = false;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		const bool is_work = k->kind == MODEL_METRIC_ACTIVITY && k->activity == MODEL_WORK;
		has_activities |= k->kind == MODEL_METRIC_ACTIVITY;
		if (!is_work && !k->is_time)
			continue;
		const struct model_value *v = model_find_value(m, profile, context, i);
		*(is_work ? &work : &time) += v ? v->at[MODEL_EXECUTION] : 0;
	}
	return has_activities ? work : time;
}

static double longest_period(const struct model *m)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].is_time && m->metrics[i].period_most > most)
			most = m->metrics[i].period_most;
	return (double)most / 1e9;
}

/* The most and mean work of a thread, summed over processes. */
static void compare_threads(const struct finding *f, uint32_t region, const uint32_t *contexts,
			    size_t n)
{
	const struct model *m = f->m;
	struct region_sums *s = &f->sums[region];
	const uint32_t threads = f->r->at[region].most_threads;
	s->most = s->mean = 0;
	for (uint32_t i = 0, end; i < m->n_profiles; i = end) {
		double most = 0, sum = 0;
		for (end = i;
		     end < m->n_profiles && m->profiles[end].process == m->profiles[i].process;
		     end++) {
			double work = 0;
			for (size_t k = 0; k < n; k++)
				work += work_at(m, end, contexts[k]);
			most = work > most ? work : most;
			sum += work;
		}
		s->most += most;
		s->mean += threads ? sum / threads : 0;
	}
}

/* Outermost contexts by region; those of region i end at ends[i]. NULL: no memory. */
static uint32_t *sort_contexts(const struct finding *f, size_t *ends)
{
	uint32_t *sorted = malloc(((size_t)f->m->n_contexts + 1) * sizeof *sorted);
	size_t at = 0;
	for (uint32_t c = 1; c < f->m->n_contexts; c++)
		ends[f->region_of[c]] += f->around[c] == c;
	for (size_t i = 0; i < f->r->n; i++) {
		at += ends[i];
		ends[i] = at - ends[i];
	}
	for (uint32_t c = 1; sorted && c < f->m->n_contexts; c++)
		if (f->around[c] == c)
			sorted[ends[f->region_of[c]]++] = c;
	return sorted;
}

/*
 * Time in the region's function says how threads share the work, unless they do much of it
 * elsewhere, as tasks in the barrier at the end.
 */
static bool judge_threads(const struct finding *f)
{
	const struct model *m = f->m;
	size_t *ends = calloc(f->r->n + 1, sizeof *ends);
	uint32_t *contexts = ends ? sort_contexts(f, ends) : NULL;
	double left = MOST_LOOK_UPS;
	for (uint32_t i = 0; contexts && i < f->r->n; i++) {
		struct view_region *r = &f->r->at[i];
		const double work = r->activity[MODEL_WORK];
		const size_t begin = i ? ends[i - 1] : 0, n = ends[i] - begin;
		r->has_imbalance = f->sums[i].most > 0;
		if (work - f->sums[i].body_work <= 0.1 * work)
			continue;
		left -= (double)n * m->n_profiles;
		r->has_imbalance = work >= LEAST_PERIODS * longest_period(m) && left >= 0;
		if (r->has_imbalance)
			compare_threads(f, i, contexts + begin, n);
	}
	const bool ok = contexts != NULL;
	free(contexts);
	free(ends);
	return ok;
}

/* ---- the whole ---- */

bool regions_find_contexts(const struct model *m, struct view_regions *r, struct region_sums *sums)
{
	struct finding f = {.m = m,
			    .r = r,
			    .sums = sums,
			    .of_function = malloc(((size_t)m->n_functions + 1) * sizeof(uint32_t)),
			    .region_of = calloc((size_t)m->n_contexts + 1, sizeof(uint32_t)),
			    .around = calloc((size_t)m->n_contexts + 1, sizeof(uint32_t))};
	const bool ok = f.of_function && f.region_of && f.around && find(&f) && judge_threads(&f);
	free(f.of_function);
	map_free(&f.forks);
	free(f.region_of);
	free(f.around);
	for (size_t i = 0; ok && i < r->n; i++)
		if (r->at[i].loop_line == UINT32_MAX) {
			r->at[i].loop_file = MODEL_NONE;
			r->at[i].loop_line = 0;
		}
	return ok;
}
