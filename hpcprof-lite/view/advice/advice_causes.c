/* SPDX-License-Identifier: BSD-3-Clause */
/* See advice_causes.h. Test: tests/unit/prof_gpu/test_advice.c. */
#include "hpcprof-lite/view/advice/advice_causes.h"

#include <math.h>

double advice_idle_of(const struct advice_samples *s, struct advice_reasons r)
{
	double both = advice_idle(s, r.first);
	return r.second == r.first ? both : both + advice_idle(s, r.second);
}

double advice_stalled_of(const struct advice_samples *s, struct advice_reasons r)
{
	return r.second == r.first ? s->stalled[r.first]
				   : s->stalled[r.first] + s->stalled[r.second];
}

static bool is_of(struct advice_reasons r, enum advice_reason reason)
{
	return reason == r.first || reason == r.second;
}

/* False if the causes of most samples are unknown. */
bool advice_sum_causes(const struct advice_kernel *k, struct advice_reasons r,
		       struct advice_causes *c)
{
	*c = (struct advice_causes){0};
	for (size_t i = 0; i < k->n_causes; i++) {
		const struct advice_cause *one = &k->causes[i];
		if (!is_of(r, one->reason) || one->operation == ADVICE_PATHS)
			continue;
		c->all += one->samples;
		c->of[one->operation] += one->samples;
		c->issued += one->issued;
		c->issued_of[one->operation] += one->issued;
		c->sized += one->bytes > 0 ? one->issued : 0;
		c->bytes += one->bytes;
		c->cycles += one->cycles;
		c->in_loop += one->in_loop;
	}
	c->cycles /= fmax(c->all, 1);
	c->in_loop /= fmax(c->all, 1);
	return c->all > 0 && c->all >= k->samples.stalled[r.first] / 2;
}

double advice_special_of(const double of[ADVICE_N_OPERATIONS])
{
	return of[ADVICE_SPECIAL] + of[ADVICE_CONVERSION] + of[ADVICE_DIVISION];
}

/* Adds a line to those with the largest shares. */
void advice_add_place(struct view_advice *a, uint32_t context, double share)
{
	unsigned at = a->n_places;
	if (share < ADVICE_LEAST_SHARE)
		return;
	while (at > 0 && a->places[at - 1].share < share)
		at--;
	if (at == VIEW_PLACES)
		return;
	a->n_places += a->n_places < VIEW_PLACES;
	for (unsigned to = a->n_places - 1; to > at; to--)
		a->places[to] = a->places[to - 1];
	a->places[at] = (struct view_place){context, share};
}

/* Adds the lines that have most of the waiting. */
void advice_add_places(const struct advice_kernel *k, struct advice_reasons r,
		       struct view_advice *a)
{
	double whole = advice_stalled_of(&k->samples, r);
	for (size_t i = 0; i < k->n_lines && whole > 0; i++)
		advice_add_place(a, k->lines[i].context,
				 advice_stalled_of(&k->lines[i].samples, r) / whole);
}

/*
 * Adds the lines that warps waited for. `operation`: ADVICE_N_OPERATIONS means any. If the causes
 * are unknown, adds the waiting lines.
 */
void advice_add_cause_places(const struct advice_kernel *k, struct advice_reasons r,
			     enum advice_operation operation, struct view_advice *a)
{
	struct advice_causes c;
	if (!advice_sum_causes(k, r, &c)) {
		advice_add_places(k, r, a);
		return;
	}
	double whole = operation < ADVICE_N_OPERATIONS ? c.of[operation] : c.all;
	for (size_t i = 0; i < k->n_causes; i++)
		if (is_of(r, k->causes[i].reason) &&
		    (operation == ADVICE_N_OPERATIONS || operation == k->causes[i].operation))
			advice_add_place(a, k->causes[i].context, k->causes[i].samples / whole);
}

/*
 * Adds up the waiting samples of the lines that often wait for these reasons, and what they issue.
 */
void advice_sum_lines(const struct advice_kernel *k, struct advice_reasons r, double *stalled,
		      double *issued)
{
	*stalled = *issued = 0;
	for (size_t i = 0; i < k->n_lines; i++) {
		const struct advice_samples *s = &k->lines[i].samples;
		double here = advice_stalled_of(s, r);
		if (here < 0.2 * s->all)
			continue;
		*stalled += here;
		*issued += s->issued;
	}
}

/*
 * A warp has one sample "issued" for each sampled cycle in which it issues. So the waiting samples,
 * divided by the samples that issued an access, are the cycles that a warp waits for each access.
 */
double advice_cycles_of_access(const struct advice_kernel *k, struct advice_reasons r,
			       double issued)
{
	double stalled = advice_stalled_of(&k->samples, r);
	if (issued <= 0) {
		advice_sum_lines(k, r, &stalled, &issued);
		issued /= INSTRUCTIONS_OF_ACCESS;
	}
	return stalled / fmax(issued, 0.5);
}
