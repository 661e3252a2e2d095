/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of a rank that ran one after the other, as a job script starts them, are one process:
 * their times add up. Processes that ran at the same time stay apart. Test:
 * tests/unit/prof_parallel/test_view_ranks.c.
 */
#include "hpcprof-lite/view/parallel/view_pop_internal.h"

#include "hpcprof-lite/view/parallel/view_processors.h"

#include <stdlib.h>

/* A chosen process. */
struct life {
	uint64_t start_ns, end_ns;
	uint32_t process;
};

static int compare_lives(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

/*
 * Joins each of the n lives to the first one that ended before it began. If there is none, it is a
 * whole of its own.
 */
static void join_lives(struct pop *p, struct life *lives, size_t n)
{
	/* these are the first lives; end_ns is that of the last process joined */
	size_t n_joined = 0;
	qsort(lives, n, sizeof *lives, compare_lives);
	for (size_t i = 0; i < n; i++) {
		const struct life x = lives[i];
		size_t k = 0;
		while (k < n_joined && lives[k].end_ns > x.start_ns)
			k++;
		if (k == n_joined)
			lives[n_joined++] = x;
		else
			lives[k].end_ns = x.end_ns;
		p->whole[x.process] = lives[k].process;
	}
}

/* Makes the process with the most lanes the whole, so that each lane has a place there. */
static bool move_wholes(struct pop *p)
{
	const struct model *m = p->m;
	uint32_t *n_used = calloc((size_t)m->n_processes + 1, sizeof *n_used),
		 *best = malloc(((size_t)m->n_processes + 1) * sizeof *best);
	bool ok = n_used && best;
	for (uint32_t i = 0; ok && i < m->n_profiles; i++)
		n_used[m->profiles[i].process] += p->lane[i] == i;
	for (uint32_t i = 0; ok && i < m->n_processes; i++)
		best[i] = i;
	for (uint32_t i = 0; ok && i < m->n_processes; i++)
		if (p->whole[i] != MODEL_NONE && n_used[i] > n_used[best[p->whole[i]]])
			best[p->whole[i]] = i;
	for (uint32_t i = 0; ok && i < m->n_processes; i++)
		if (p->whole[i] != MODEL_NONE)
			p->whole[i] = best[p->whole[i]];
	free(n_used);
	free(best);
	return ok;
}

bool pop_join_processes(struct pop *p)
{
	const struct model *m = p->m;
	struct life *lives = malloc(((size_t)m->n_processes + 1) * sizeof *lives);
	for (uint32_t i = 0, next; lives && i < m->n_processes; i = next) {
		size_t n = 0;
		for (next = i;
		     next < m->n_processes && m->processes[next].rank == m->processes[i].rank;
		     next++)
			if (p->is_chosen[next])
				lives[n++] = (struct life){m->processes[next].start_ns,
							   m->processes[next].end_ns, next};
		join_lives(p, lives, n);
	}
	const bool ok = lives && move_wholes(p);
	free(lives);
	for (uint32_t i = 0; ok && i < m->n_processes; i++) {
		const uint32_t n = p->n_threads[i], to = p->whole[i];
		if (to != MODEL_NONE && p->n_threads[to] < n)
			p->n_threads[to] = n;
	}
	return ok;
}

/* The next lane of the process, from profile `i` on. */
static uint32_t next_lane(const struct pop *p, uint32_t i, uint32_t process)
{
	const struct model *m = p->m;
	while (i < m->n_profiles && m->profiles[i].process == process && p->lane[i] != i)
		i++;
	return i;
}

static void move(double *at, uint32_t from, uint32_t to)
{
	at[to] += at[from];
	at[from] = 0;
}

/* Adds the first lane to the first one of the whole, and so on. */
static void add_lanes(const struct pop *p, uint32_t from, uint32_t to, struct pop_times *t)
{
	const struct model *m = p->m;
	uint32_t i = p->first_profile[from], k = p->first_profile[to];
	for (;; i++, k++) {
		i = next_lane(p, i, from);
		k = next_lane(p, k, to);
		if (i >= m->n_profiles || m->profiles[i].process != from || k >= m->n_profiles ||
		    m->profiles[k].process != to)
			return;
		move(t->useful, i, k);
		move(t->gpu_wait, i, k);
	}
}

void pop_join_times(const struct pop *p, struct pop_times *t)
{
	for (uint32_t i = 0; i < p->m->n_profiles; i++) {
		const uint32_t lane = p->lane[i];
		if (lane == MODEL_NONE || lane == i)
			continue;
		move(t->useful, i, lane);
		move(t->gpu_wait, i, lane);
	}
	for (uint32_t i = 0; i < p->m->n_processes; i++) {
		const uint32_t to = p->whole[i];
		if (to == MODEL_NONE || to == i)
			continue;
		move(t->elapsed, i, to);
		move(t->setup, i, to);
		move(t->mpi, i, to);
		add_lanes(p, i, to, t);
	}
}
