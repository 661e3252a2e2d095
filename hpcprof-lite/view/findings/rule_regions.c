/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel regions of OpenMP that lose time: unequal work, barriers inside, short regions, small
 * tasks. Time that threads wait for locks is that of rule_locks.c. Doc: doc/findings.md#regions.
 * Test: tests/unit/prof/test_findings_regions.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A fork and join of a few threads takes some microseconds, or more if they slept. */
#define SHORT_REGION 200e-6
#define MANY_REGIONS 500
/* (most - mean) / most of the threads' work; less is within what samples leave to chance */
#define UNEQUAL 0.08

/* (most - mean) / most of the threads' work over the whole run */
#define SYSTEMATIC 0.05
/* samples know the work of a region so well */
#define IN_TURN 1.03
/* a share of the elapsed time; jitter makes threads of short pieces wait for less */
#define CHANCE 0.15

enum kind { UNEQUAL_WORK, BARRIERS, SHORT_REGIONS, SMALL_TASKS };
static const struct {
	const char *key, *title, *cure;
} kinds[] = {
	[UNEQUAL_WORK] = {"imbalance", "threads of a parallel region with unequal work",
			  "schedule(dynamic) or schedule(guided), smaller pieces, or tasks"},
	[BARRIERS] = {"barrier", "threads that wait at barriers inside of a parallel region",
		      "do more work between barriers; nowait where the next loop does not need "
		      "the result; divide what single and master do"},
	[SHORT_REGIONS] = {"short-regions", "parallel regions that are too short",
			   "join regions, parallelise a loop further out, or use one thread for "
			   "small sizes (if clause)"},
	[SMALL_TASKS] = {"small-tasks", "tasks that are too small",
			 "give each task more work: taskloop grainsize, or no tasks below a size"},
};

static double loss_of(const struct view_region *x)
{
	return x->capacity - x->work;
}

/* Time in and below functions of the run time that handle tasks. */
static double task_seconds(const struct finding_run *r)
{
	double seconds = 0;
	for (uint32_t c = 1; c < r->m->n_contexts; c++) {
		const struct model_context *x = &r->m->contexts[c];
		if (r->self[c] > 0 && x->activity >= MODEL_OMP_BARRIER &&
		    x->activity <= MODEL_OMP_IDLE &&
		    strstr(finding_function(r->m, c), "task"))
			seconds += r->self[c];
	}
	return seconds;
}

static enum kind kind_of(const struct finding_run *r, const struct view_region *x)
{
	const double tasks = x->activity[MODEL_OMP_TASKWAIT] + x->activity[MODEL_OMP_OVERHEAD];
	if (tasks > 0.3 * loss_of(x) && task_seconds(r) > 0.3 * loss_of(x))
		return SMALL_TASKS;
	if (x->instances >= MANY_REGIONS &&
	    x->seconds * x->n_processes < SHORT_REGION * (double)x->instances)
		return SHORT_REGIONS;
	return x->has_imbalance && x->imbalance >= UNEQUAL ? UNEQUAL_WORK : BARRIERS;
}

static void name_region(const struct model *m, const struct view_region *x, struct finding *f)
{
	char place[160] = "";
	if (x->file < m->n_files && x->line) {
		const char *path = m->files[x->file].path, *slash = strrchr(path, '/');
		snprintf(place, sizeof place, "%.120s:%" PRIu32, slash ? slash + 1 : path, x->line);
	}
	view_region_name(m, x, place, f->subject, sizeof f->subject);
}

static void put_facts(const struct view_region *x, enum kind kind, double unequal,
		      struct finding *f)
{
	finding_fact(f, "efficiency", MODEL_SHARE, x->efficiency);
	if (kind == UNEQUAL_WORK)
		finding_fact(f, "mean work of the threads below the most", MODEL_SHARE,
			     x->has_imbalance && x->imbalance > unequal ? x->imbalance : unequal);
	if (x->activity[MODEL_OMP_BARRIER] > 0)
		finding_fact(f, "time at barriers and ends", MODEL_SHARE,
			     x->activity[MODEL_OMP_BARRIER] / x->capacity);
	finding_fact(f, "regions", MODEL_COUNT, (double)x->instances);
	if (kind == SHORT_REGIONS)
		finding_fact(f, "one takes", MODEL_SECONDS,
			     x->seconds * x->n_processes / (double)x->instances);
	if (kind == SMALL_TASKS)
		finding_fact(f, "time in the run time for tasks", MODEL_SHARE,
			     (x->activity[MODEL_OMP_TASKWAIT] + x->activity[MODEL_OMP_OVERHEAD]) /
				     x->capacity);
}

/* By context: it is below the call that forked the region, or in its function. NULL: no memory. */
static bool *find_contexts(const struct model *m, const struct view_region *x)
{
	bool *in = calloc((size_t)m->n_contexts + 1, sizeof *in);
	uint32_t end = 0;
	for (uint32_t c = 1; in && c < m->n_contexts; c++) {
		const struct model_context *at = &m->contexts[c];
		const bool is_fork = at->kind == MODEL_CONTEXT_LINE && at->file == x->file &&
				     at->line == x->line && x->line;
		if (c >= end && (is_fork || (at->kind == MODEL_CONTEXT_FUNCTION &&
					     at->function == x->function)))
			end = c + at->subtree_n;
		in[c] = c < end;
	}
	return in;
}

/* Where the threads of the region wait. */
static bool put_places(const struct finding_run *r, const bool *in, struct finding *f)
{
	const struct model *m = r->m;
	double *weights = finding_weights(m);
	if (!weights)
		return false;
	for (uint32_t c = 1; c < m->n_contexts; c++)
		if (in[c] && m->contexts[c].activity >= MODEL_OMP_BARRIER &&
		    m->contexts[c].activity <= MODEL_OMP_IDLE)
			weights[c] = r->self[c];
	finding_places(r, f, weights);
	free(weights);
	return true;
}

/* The work of a thread in the region. */
static double work_in(const struct model *m, const struct model_profile *t, const bool *in)
{
	double work = 0;
	for (size_t i = 0; i < t->n_values; i++) {
		const struct model_value *v = &t->values[i];
		if (in[v->context] && m->metrics[v->metric].is_time &&
		    m->contexts[v->context].activity == MODEL_WORK)
			work += v->at[MODEL_POINT];
	}
	return work;
}

/*
 * (most - mean) / most of the threads' work in the region over the whole run, where threads of one
 * process are compared. If it is small, unequal work of single instances may be chance: a thread
 * that was slowed down for a moment.
 */
static double unequal_over_run(const struct model *m, const struct view_region *x, const bool *in)
{
	double all_most = 0, all_mean = 0;
	for (uint32_t p = 0, end; p < m->n_profiles; p = end) {
		double most = 0, sum = 0;
		uint32_t n = 0;
		for (end = p;
		     end < m->n_profiles && m->profiles[end].process == m->profiles[p].process;
		     end++) {
			const double work = work_in(m, &m->profiles[end], in);
			n += work > 0;
			sum += work;
			most = work > most ? work : most;
		}
		n = n < x->least_threads ? x->least_threads : n;
		all_most += most;
		all_mean += n ? sum / n : 0;
	}
	return all_most > 0 ? (all_most - all_mean) / all_most : 0;
}

/*
 * One thread at a time works, as in `single`: all work together takes no longer than the region.
 * Which thread does how much of it does not matter then, unless one does nearly all.
 */
static bool is_in_turn(const struct view_region *x, double unequal)
{
	const double threads = x->most_threads;
	return x->work < IN_TURN * x->seconds * x->n_processes && unequal < 0.9 * (1 - 1 / threads);
}

/*
 * The part of the loss that is that of the region: waits for locks, for files and for a processor
 * are other findings. Without OFFCPU, threads that sleep at barriers have no samples. `late`:
 * seconds in which workers were not there yet.
 */
static double share_of(const struct finding_run *r, const struct view_region *x, double late)
{
	double own = x->activity[MODEL_OMP_BARRIER] + x->activity[MODEL_OMP_TASKWAIT] +
		     x->activity[MODEL_OMP_OVERHEAD] + x->activity[MODEL_OMP_IDLE] + late,
	       known = 0;
	for (unsigned k = 0; k < MODEL_N_ACTIVITIES; k++)
		known += x->activity[k];
	if (r->account.lacks_offcpu && x->capacity > known + late)
		own += x->capacity - known - late;
	return loss_of(x) > own ? own / loss_of(x) : loss_of(x) > 0;
}

/* Workers of short regions are idle until they have seen the fork. */
static double find_late(const struct finding_run *r, const struct view_region *x)
{
	const double idle = r->account.seconds[MODEL_OMP_IDLE] - r->by_regions * r->lanes;
	double missing = x->capacity;
	for (unsigned k = 0; k < MODEL_N_ACTIVITIES; k++)
		missing -= x->activity[k];
	missing = missing < idle ? missing : idle;
	return missing > 0 && kind_of(r, x) == SHORT_REGIONS ? missing : 0;
}

static bool add(struct finding_run *r, const struct view_region *x, struct findings *to)
{
	const double late = find_late(r, x), gain = x->gain * share_of(r, x, late);
	enum kind kind = kind_of(r, x);
	if (!x->is_known || !finding_is_own(r, gain))
		return true;
	bool *in = find_contexts(r->m, x);
	if (!in)
		return false;
	const double unequal = unequal_over_run(r->m, x, in);
	const bool is_chance = kind <= BARRIERS && gain < CHANCE * r->elapsed &&
			       unequal < SYSTEMATIC;
	kind = kind == BARRIERS && unequal >= UNEQUAL && !is_in_turn(x, unequal) ? UNEQUAL_WORK
										 : kind;
	struct finding f = finding_begin(kinds[kind].key, kinds[kind].title, kinds[kind].cure);
	name_region(r->m, x, &f);
	put_facts(x, kind, unequal, &f);
	f.function = x->call_function;
	r->by_regions += is_chance ? 0 : late / r->lanes;
	/* a cure also ends what tasks cost where they work */
	const double high = kind == SMALL_TASKS ? 1.2 * gain : gain;
	const bool ok = put_places(r, in, &f) &&
			(is_chance || finding_add(r, to, &f, gain, gain / 2,
						  kind == BARRIERS ? 0.9 * gain : gain, high));
	free(in);
	return ok;
}

bool rule_regions(struct finding_run *r, struct findings *to)
{
	bool ok = true;
	for (size_t i = 0; ok && i < r->regions.n; i++)
		ok = add(r, &r->regions.at[i], to);
	return ok;
}
