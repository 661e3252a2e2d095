/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_regions.h. Test: tests/unit/prof/test_view_regions.c. */
#include "hpcprof-lite/view/parallel/view_regions.h"

#include "common/format/measurement.h"
#include "hpcprof-lite/view/parallel/view_quota.h"
#include "hpcprof-lite/view/parallel/view_regions_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums from the OpenMP runtime ---- */

struct summing {
	const struct model *m;
	struct view_regions *out;
	struct map regions;       /* (functions, place) -> region of the output */
	struct region_sums *sums; /* by region of the output */
	uint32_t *index;          /* by region of the model: that of the output */
	double *processors;       /* by process: those that it may use; 0: unknown */
	double *forks;            /* by process: time in regions that are not nested */
};

/* Returns MAP_NONE if memory is short. */
static uint64_t find_region(struct summing *s, const struct model_omp_region *r)
{
	const uint64_t functions = (uint64_t)r->function << 32 | r->call_function,
		       place = region_place(r->file, r->line, r->call_addr),
		       i = map_put(&s->regions, functions, place, s->out->n);
	if (i == s->out->n) {
		s->out->at[s->out->n++] = (struct view_region){.function = r->function,
							       .call_function = r->call_function,
							       .file = r->file,
							       .line = r->line,
							       .loop_file = MODEL_NONE,
							       .least_threads = UINT32_MAX};
		s->sums[i].last_process = MODEL_NONE;
		s->sums[i].schedule = r->schedule;
		s->sums[i].place = place;
	}
	if (i != MAP_NONE)
		s->sums[i].schedule = msr_omp_schedule_of_both(s->sums[i].schedule, r->schedule);
	return i;
}

static bool add_region(struct summing *s, uint32_t region)
{
	const struct model_omp_region *r = &s->m->omp_regions[region];
	const uint64_t i = find_region(s, r);
	if (i == MAP_NONE)
		return false;
	struct view_region *to = &s->out->at[i];
	struct region_sums *sums = &s->sums[i];
	const double elapsed = (double)r->elapsed_ns / 1e9;
	s->index[region] = (uint32_t)i;
	to->n_processes += sums->last_process != r->process;
	sums->last_process = r->process;
	to->least_threads = r->n_threads < to->least_threads ? r->n_threads : to->least_threads;
	to->most_threads = r->n_threads > to->most_threads ? r->n_threads : to->most_threads;
	to->instances += r->instances;
	to->capacity += elapsed * r->n_threads;
	sums->forks += elapsed;
	sums->busy += (double)r->busy_ns / 1e9;
	sums->most += (double)r->max_ns / 1e9;
	if (r->n_timed)
		sums->mean += (double)r->busy_ns / 1e9 * (double)r->instances / (double)r->n_timed;
	return true;
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

/* ---- the whole ---- */

/* Regions that run at the same time fork for longer than the process lives. */
static double concurrency(const struct summing *s, uint32_t process, double forks)
{
	const struct model_process *p = &s->m->processes[process];
	const double life =
		process < s->m->n_processes ? (double)(p->end_ns - p->start_ns) / 1e9 : 0;
	return life > 0 && forks > life ? forks / life : 1;
}

/*
 * Adds the elapsed time of a region in a process, and the time of processors that its threads could
 * have used.
 */
static void share_time(const struct summing *s, uint32_t region, double *usable)
{
	const struct model_omp_region *r = &s->m->omp_regions[region];
	const uint32_t i = s->index[region];
	const struct region_sums *sums = &s->sums[i];
	const double forks = (double)r->elapsed_ns / 1e9,
		     at_once = concurrency(s, r->process,
					   sums->nested < 0.5 ? s->forks[r->process] : forks),
		     threads = sums->forks > 0 ? s->out->at[i].capacity / sums->forks : 0,
		     processors = s->processors[r->process] / at_once;
	s->out->at[i].seconds += forks / at_once;
	usable[i] += forks * (processors > 0 && processors < threads ? processors : threads);
}

static void conclude(struct view_region *r, const struct region_sums *s, double usable)
{
	for (unsigned i = 0; i < MODEL_N_ACTIVITIES; i++)
		r->is_known |= r->activity[i] > 0;
	r->work = r->activity[MODEL_WORK] < r->capacity ? r->activity[MODEL_WORK] : r->capacity;
	r->imbalance = s->most > s->mean ? (s->most - s->mean) / s->most : 0;
	r->efficiency = r->capacity > 0 ? r->work / r->capacity : 0;
	r->seconds /= r->n_processes ? r->n_processes : 1;
	if (r->is_known && usable > r->work)
		r->gain = r->seconds * (1 - r->work / usable);
}

static double gain_at_most(const struct view_region *r)
{
	return r->is_known ? r->gain : r->seconds;
}

static int compare_regions(const void *pa, const void *pb)
{
	const struct view_region *a = pa, *b = pb;
	const double ga = gain_at_most(a), gb = gain_at_most(b);
	if (ga != gb)
		return ga < gb ? 1 : -1;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static bool make(struct summing *s, double *usable)
{
	const struct model *m = s->m;
	struct view_regions *r = s->out;
	for (uint32_t i = 0; i < m->n_omp_regions; i++)
		if (!add_region(s, i))
			return false;
	if (!regions_find_contexts(m, r, s->sums) || !view_quota_of_processes(m, s->processors))
		return false;
	for (uint32_t i = 0; i < m->n_omp_regions; i++)
		if (s->sums[s->index[i]].nested < 0.5)
			s->forks[m->omp_regions[i].process] +=
				(double)m->omp_regions[i].elapsed_ns / 1e9;
	for (uint32_t i = 0; i < m->n_omp_regions; i++)
		share_time(s, i, usable);
	for (size_t i = 0; i < r->n; i++) {
		put_schedule(&r->at[i], s->sums[i].schedule);
		conclude(&r->at[i], &s->sums[i], usable[i]);
		r->seconds += s->sums[i].nested < 0.5 ? r->at[i].seconds : 0;
	}
	if (r->n)
		qsort(r->at, r->n, sizeof *r->at, compare_regions);
	return true;
}

bool view_regions_make(const struct model *m, struct view_regions *r)
{
	const size_t n = (size_t)m->n_omp_regions + 1, n_processes = (size_t)m->n_processes + 1;
	*r = (struct view_regions){.at = calloc(n, sizeof *r->at)};
	struct summing s = {.m = m,
			    .out = r,
			    .sums = calloc(n, sizeof *s.sums),
			    .index = calloc(n, sizeof *s.index),
			    .processors = calloc(n_processes, sizeof *s.processors),
			    .forks = calloc(n_processes, sizeof *s.forks)};
	double *usable = calloc(n, sizeof *usable);
	const bool ok =
		r->at && s.sums && s.index && s.processors && s.forks && usable && make(&s, usable);
	free(s.sums);
	free(s.index);
	free(s.processors);
	free(s.forks);
	map_free(&s.regions);
	free(usable);
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
	while (n < r->n && gain_at_most(&r->at[n]) >= least)
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
