/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_ranks.h. Leader clustering (Hartigan 1975, chapter 3): one pass over the values, and one
 * over the ranks. Test: tests/cli/prof/prof_scale.sh. */
#include "hpcprof-lite/view/parallel/view_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_SLOTS = 17 }; /* the functions with the most time, and all others */
#define TOLERANCE 0.2  /* of the time of a rank */
#define NOISE 2.0      /* standard deviations of a count of samples */

struct ranks {
	const struct model *m;
	const struct view_values *v;
	uint32_t functions[N_SLOTS]; /* MODEL_NONE: the others */
	uint32_t *slot_of;           /* by function */
	uint32_t *first_of;          /* by process: the first one of its rank */
	double (*at)[N_SLOTS];       /* by first process of a rank */
	uint32_t *group_of;          /* the same; MODEL_NONE for other processes */
	uint32_t leaders[VIEW_RANKS_GROUPS]; /* processes */
	uint32_t n_leaders;
	double of_sample; /* weight of one sample */
};

/* True for the first process of a rank. Processes are sorted by rank. */
static bool is_first(const struct model *m, uint32_t process)
{
	const struct model_process *p = &m->processes[process];
	return p->rank >= 0 && (process == 0 || p[-1].rank != p->rank);
}

/* ---- times of ranks by function ---- */

static void choose_functions(struct ranks *r, const double *self)
{
	for (uint32_t s = 0; s < N_SLOTS; s++)
		r->functions[s] = MODEL_NONE;
	for (uint32_t f = 0; f < r->m->n_functions; f++) {
		uint32_t at = N_SLOTS - 1;
		for (; at && (r->functions[at - 1] == MODEL_NONE ||
			      self[f] > self[r->functions[at - 1]]);
		     at--)
			if (at < N_SLOTS - 1)
				r->functions[at] = r->functions[at - 1];
		if (at < N_SLOTS - 1 && self[f] > 0)
			r->functions[at] = f;
	}
	for (uint32_t f = 0; f < r->m->n_functions; f++)
		r->slot_of[f] = N_SLOTS - 1;
	for (uint32_t s = 0; s < N_SLOTS - 1; s++)
		if (r->functions[s] != MODEL_NONE)
			r->slot_of[r->functions[s]] = s;
}

static void add_profile(struct ranks *r, const struct model_profile *p)
{
	double *at = r->at[r->first_of[p->process]];
	for (size_t i = 0; i < p->n_values; i++) {
		const struct model_value *v = &p->values[i];
		const uint32_t f = r->m->contexts[v->context].function;
		if (v->metric == r->v->metric)
			at[f == MODEL_NONE ? N_SLOTS - 1 : r->slot_of[f]] += v->at[MODEL_POINT];
	}
	model_values_done(r->m, p->n_values);
}

static bool find_times(struct ranks *r)
{
	const struct model *m = r->m;
	double *self = calloc((size_t)m->n_functions + 1, sizeof *self);
	if (!self)
		return false;
	for (uint32_t c = 0; c < m->n_contexts; c++)
		if (m->contexts[c].function != MODEL_NONE)
			self[m->contexts[c].function] += r->v->self[c];
	choose_functions(r, self);
	free(self);
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const bool is_alone = m->processes[i].rank < 0 || is_first(m, i);
		r->first_of[i] = is_alone ? i : r->first_of[i - 1];
	}
	for (uint32_t i = 0; i < m->n_profiles; i++)
		add_profile(r, &m->profiles[i]);
	return true;
}

/* ---- groups ---- */

static bool are_alike(const struct ranks *r, const double *a, const double *b)
{
	double difference = 0, chance = 0, sum_a = 0, sum_b = 0;
	for (unsigned s = 0; s < N_SLOTS; s++) {
		difference += fabs(a[s] - b[s]);
		chance += NOISE * sqrt((a[s] + b[s]) * r->of_sample);
		sum_a += a[s];
		sum_b += b[s];
	}
	return difference <= TOLERANCE * fmax(sum_a, sum_b) + chance;
}

/* The group of a rank: the first whose leader is like it, or a new one while there is room. */
static uint32_t find_group(struct ranks *r, uint32_t process)
{
	for (uint32_t g = 0; g < r->n_leaders; g++)
		if (are_alike(r, r->at[process], r->at[r->leaders[g]]))
			return g;
	if (r->n_leaders == VIEW_RANKS_GROUPS)
		return VIEW_RANKS_GROUPS;
	r->leaders[r->n_leaders] = process;
	return r->n_leaders++;
}

struct sums {
	uint32_t group, n;
	double at[N_SLOTS];
};

/* The largest first; the mixed group last. */
static int compare_sums(const void *pa, const void *pb)
{
	const struct sums *a = pa, *b = pb;
	const bool mixed_a = a->group == VIEW_RANKS_GROUPS, mixed_b = b->group == VIEW_RANKS_GROUPS;
	if (mixed_a != mixed_b)
		return mixed_a - mixed_b;
	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->group > b->group) - (a->group < b->group);
}

static void describe(const struct ranks *r, const struct sums *s, const struct sums *largest,
		     struct view_rank_group *g)
{
	double most = -1;
	g->n = s->n;
	g->function = MODEL_NONE;
	g->is_mixed = s->group == VIEW_RANKS_GROUPS;
	for (unsigned k = 0; k < N_SLOTS; k++) {
		const double here = s->at[k] / s->n, there = largest->at[k] / largest->n;
		g->mean += here;
		if (s == largest || r->functions[k] == MODEL_NONE || fabs(here - there) <= most)
			continue;
		most = fabs(here - there);
		g->function = r->functions[k];
		g->here = here;
		g->there = there;
	}
}

/* Lists the groups by size, and their ranks. */
static void list_groups(const struct ranks *r, struct view_ranks *out)
{
	struct sums sums[VIEW_RANKS_GROUPS + 1] = {{0}};
	for (uint32_t g = 0; g <= VIEW_RANKS_GROUPS; g++)
		sums[g].group = g;
	for (uint32_t i = 0; i < r->m->n_processes; i++) {
		if (r->group_of[i] == MODEL_NONE)
			continue;
		sums[r->group_of[i]].n++;
		for (unsigned k = 0; k < N_SLOTS; k++)
			sums[r->group_of[i]].at[k] += r->at[i][k];
	}
	qsort(sums, VIEW_RANKS_GROUPS + 1, sizeof *sums, compare_sums);
	for (uint32_t g = 0; g <= VIEW_RANKS_GROUPS; g++) {
		if (!sums[g].n)
			continue;
		struct view_rank_group *to = &out->groups[out->n_groups++];
		describe(r, &sums[g], &sums[0], to);
		to->first = out->n;
		for (uint32_t i = 0; i < r->m->n_processes; i++)
			if (r->group_of[i] == sums[g].group)
				out->processes[out->n++] = i;
	}
}

static void make_groups(struct ranks *r, struct view_ranks *out)
{
	for (uint32_t i = 0; i < r->m->n_processes; i++)
		r->group_of[i] = is_first(r->m, i) ? find_group(r, i) : MODEL_NONE;
	list_groups(r, out);
}

bool view_ranks_make(const struct model *m, const struct view_values *v, struct view_ranks *out)
{
	struct ranks r = {
		.m = m, .v = v, .of_sample = v->n_all ? v->whole / (double)v->n_all : 0};
	uint32_t n = 0;
	*out = (struct view_ranks){0};
	for (uint32_t i = 0; i < m->n_processes; i++)
		n += is_first(m, i);
	if (n < VIEW_RANKS_LEAST)
		return true;
	r.first_of = calloc(m->n_processes, sizeof *r.first_of);
	r.at = calloc(m->n_processes, sizeof *r.at);
	r.group_of = calloc(m->n_processes, sizeof *r.group_of);
	r.slot_of = calloc((size_t)m->n_functions + 1, sizeof *r.slot_of);
	out->processes = calloc(n, sizeof *out->processes);
	const bool ok = r.first_of && r.at && r.group_of && r.slot_of && out->processes &&
			find_times(&r);
	if (ok)
		make_groups(&r, out);
	else
		view_ranks_free(out);
	free(r.first_of);
	free(r.at);
	free(r.group_of);
	free(r.slot_of);
	return ok;
}

void view_ranks_free(struct view_ranks *r)
{
	free(r->processes);
	*r = (struct view_ranks){0};
}
