/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_regions.h. Test: tests/unit/prof/test_view_regions.c. */
#include "hpcprof-lite/view/parallel/view_regions.h"

#include "common/format/measurement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums from the OpenMP runtime ---- */

struct summing {
	const struct model *m;
	struct view_regions *out;
	/* by region of the output: sums over instances, for the imbalance */
	double *most, *mean;
	uint32_t *last_process, *schedule;
};

static bool is_same(const struct view_region *a, const struct model_omp_region *b)
{
	return a->function == b->function && a->call_function == b->call_function &&
	       a->file == b->file && a->line == b->line;
}

static size_t find_region(struct summing *s, const struct model_omp_region *r)
{
	size_t i = 0;
	while (i < s->out->n && !is_same(&s->out->at[i], r))
		i++;
	if (i == s->out->n) {
		s->out->at[s->out->n++] = (struct view_region){.function = r->function,
							       .call_function = r->call_function,
							       .file = r->file,
							       .line = r->line,
							       .loop_file = MODEL_NONE,
							       .least_threads = UINT32_MAX};
		s->last_process[i] = MODEL_NONE;
		s->schedule[i] = r->schedule;
	}
	s->schedule[i] = msr_omp_schedule_of_both(s->schedule[i], r->schedule);
	return i;
}

static void add_region(struct summing *s, const struct model_omp_region *r)
{
	size_t i = find_region(s, r);
	struct view_region *to = &s->out->at[i];
	double elapsed = (double)r->elapsed_ns / 1e9;
	to->n_processes += s->last_process[i] != r->process;
	s->last_process[i] = r->process;
	to->least_threads = r->n_threads < to->least_threads ? r->n_threads : to->least_threads;
	to->most_threads = r->n_threads > to->most_threads ? r->n_threads : to->most_threads;
	to->instances += r->instances;
	to->seconds += elapsed; /* a sum, until it is divided by the processes */
	to->capacity += elapsed * r->n_threads;
	to->busy += (double)r->busy_ns / 1e9;
	s->most[i] += (double)r->max_ns / 1e9;
	if (r->n_timed)
		s->mean[i] += (double)r->busy_ns / 1e9 * (double)r->instances / (double)r->n_timed;
}

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

/*
 * Uses the schedule that the OpenMP runtime reported, which is more exact than what samples show.
 */
static void put_schedule(struct view_region *r, uint32_t schedule)
{
	static const char *const name[MSR_N_OMP_SCHEDULES] = {
		[MSR_OMP_STATIC] = "static",   [MSR_OMP_DYNAMIC] = "dynamic",
		[MSR_OMP_GUIDED] = "guided",   [MSR_OMP_RUNTIME] = "runtime",
		[MSR_OMP_SECTIONS] = "sections", [MSR_OMP_SEVERAL] = "several"};
	const uint32_t kind = schedule & ((1u << MSR_OMP_CHUNK_SHIFT) - 1),
		       chunk = schedule >> MSR_OMP_CHUNK_SHIFT;
	if (kind >= MSR_N_OMP_SCHEDULES || !name[kind])
		return;
	if (chunk)
		snprintf(r->schedule, sizeof r->schedule, "%s %" PRIu32, name[kind], chunk);
	else
		snprintf(r->schedule, sizeof r->schedule, "%s", name[kind]);
}

/* ---- contexts ---- */

/* True if a context above belongs to the same function: nested regions count once. */
static bool is_inside(const struct model *m, uint32_t context)
{
	uint32_t function = m->contexts[context].function;
	for (uint32_t c = m->contexts[context].parent; c != MODEL_NONE; c = m->contexts[c].parent)
		if (m->contexts[c].kind == MODEL_CONTEXT_FUNCTION &&
		    m->contexts[c].function == function)
			return true;
	return false;
}

/*
 * The region of a task, which is next to the function of the region. GCC names both after the same
 * function. MODEL_NONE: not found.
 */
static uint32_t find_region_of_task(const struct model *m, const uint32_t *region_of, uint32_t task)
{
	const char *name = m->functions[m->contexts[task].function].name;
	size_t n = strcspn(name, ".");
	uint32_t above = m->contexts[task].parent, found = MODEL_NONE;
	bool is_ambiguous = false;
	for (uint32_t c = above + 1; c < above + m->contexts[above].subtree_n;
	     c += m->contexts[c].subtree_n) {
		uint32_t f = m->contexts[c].function;
		if (m->contexts[c].kind != MODEL_CONTEXT_FUNCTION || f >= m->n_functions ||
		    region_of[f] == MODEL_NONE)
			continue;
		const char *other = m->functions[f].name;
		if (n && strncmp(other, name, n) == 0 && other[n] == '.')
			return region_of[f];
		is_ambiguous |= found != MODEL_NONE && found != region_of[f];
		found = region_of[f];
	}
	return n || is_ambiguous ? MODEL_NONE : found;
}

/* Finds the contexts of the functions of regions. */
static bool find_contexts(const struct model *m, struct view_regions *r)
{
	uint32_t *region_of = malloc(((size_t)m->n_functions + 1) * sizeof *region_of);
	if (!region_of)
		return false;
	for (uint32_t i = 0; i < m->n_functions; i++)
		region_of[i] = MODEL_NONE;
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].function < m->n_functions)
			region_of[r->at[i].function] = (uint32_t)i;
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		const struct model_context *x = &m->contexts[c];
		if (x->kind != MODEL_CONTEXT_FUNCTION || x->function >= m->n_functions ||
		    !model_is_outlined(m->functions[x->function].name) || is_inside(m, c))
			continue;
		bool is_task = region_of[x->function] == MODEL_NONE && x->relation == MODEL_CALL;
		uint32_t region = is_task ? find_region_of_task(m, region_of, c)
					  : region_of[x->function];
		if (region == MODEL_NONE)
			continue;
		add_samples(m, c, &r->at[region]);
		if (is_task)
			continue;
		find_loop(m, c, &r->at[region]);
		find_schedule(m, c, &r->at[region]);
	}
	free(region_of);
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].loop_line == UINT32_MAX) {
			r->at[i].loop_file = MODEL_NONE;
			r->at[i].loop_line = 0;
		}
	return true;
}

/* ---- the whole ---- */

static void conclude(struct view_region *r, double most, double mean)
{
	double n = r->n_processes ? r->n_processes : 1;
	for (unsigned i = 0; i < MODEL_N_ACTIVITIES; i++)
		r->has_samples |= r->activity[i] > 0;
	r->work = r->has_samples ? r->activity[MODEL_WORK] : r->busy;
	r->work = r->work < r->capacity ? r->work : r->capacity;
	r->imbalance = most > mean ? (most - mean) / most : 0;
	r->efficiency = r->capacity > 0 ? r->work / r->capacity : 0;
	r->seconds /= n;
	r->gain = r->seconds * (1 - r->efficiency);
}

static int compare_regions(const void *pa, const void *pb)
{
	const struct view_region *a = pa, *b = pb;
	if (a->gain != b->gain)
		return a->gain < b->gain ? 1 : -1;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

bool view_regions_make(const struct model *m, struct view_regions *r)
{
	size_t n = m->n_omp_regions;
	*r = (struct view_regions){.at = calloc(n + 1, sizeof *r->at)};
	struct summing s = {.m = m,
			    .out = r,
			    .most = calloc(n + 1, sizeof *s.most),
			    .mean = calloc(n + 1, sizeof *s.mean),
			    .last_process = calloc(n + 1, sizeof *s.last_process),
			    .schedule = calloc(n + 1, sizeof *s.schedule)};
	bool ok = r->at && s.most && s.mean && s.last_process && s.schedule;
	for (size_t i = 0; ok && i < n; i++)
		add_region(&s, &m->omp_regions[i]);
	ok = ok && find_contexts(m, r);
	for (size_t i = 0; ok && i < r->n; i++) {
		put_schedule(&r->at[i], s.schedule[i]);
		conclude(&r->at[i], s.most[i], s.mean[i]);
		r->seconds += r->at[i].seconds;
	}
	if (ok && r->n)
		qsort(r->at, r->n, sizeof *r->at, compare_regions);
	free(s.most);
	free(s.mean);
	free(s.last_process);
	free(s.schedule);
	if (!ok)
		view_regions_free(r);
	return ok;
}

void view_regions_free(struct view_regions *r)
{
	free(r->at);
	*r = (struct view_regions){0};
}

size_t view_regions_count_worth(const struct model *m, const struct view_regions *r, double share)
{
	const double least = share * (double)m->elapsed_ns / 1e9;
	size_t n = 0;
	while (n < r->n && r->at[n].gain >= least)
		n++;
	return n;
}

bool view_regions_have_teams(const struct view_regions *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].most_threads != 1)
			return true;
	return false;
}

const char *view_region_name(const struct model *m, const struct view_region *r, const char *place,
			     char *name, size_t n_bytes)
{
	const char *outlined = r->function < m->n_functions ? m->functions[r->function].name : "",
		   *caller = r->call_function < m->n_functions
				     ? m->functions[r->call_function].name
				     : "";
	const char *end = strstr(outlined, "._omp_fn.");
	end = end ? end : strstr(outlined, "..omp_par");
	const char *at = *place ? " at " : "", *is = *r->schedule ? ", " : "";
	if (end && end > outlined)
		snprintf(name, n_bytes, "%.*s, parallel region%s%s%s%s", (int)(end - outlined),
			 outlined, at, place, is, r->schedule);
	else
		snprintf(name, n_bytes, "%s%sparallel region%s%s%s%s", caller,
			 *caller ? ", " : "", at, place, is, r->schedule);
	return name;
}
