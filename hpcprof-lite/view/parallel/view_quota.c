/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_quota.h. Test: tests/unit/prof/test_view_processors.c. */
#include "hpcprof-lite/view/parallel/view_quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROCESSORS = 4096 };

struct host {
	uint64_t id;
	uint64_t mask[MOST_PROCESSORS / 64];
	double quota;       /* sum over its cgroups */
	bool has_unlimited; /* a process without a quota */
};

/* A cgroup with a quota. */
struct group {
	uint64_t host, id;
	double quota;
	uint64_t first_ns, last_ns; /* throttled time at the first and the last reading */
};

struct making {
	struct host *hosts;
	struct group *groups;
	size_t n_hosts, n_groups;
};

/* Adds "0-3,8-8" to the mask. False if it is not a list. */
static bool add_list(uint64_t *mask, const char *list)
{
	for (const char *at = list; *at;) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;
		if (end == at || *end != '-')
			return false;
		at = end + 1;
		last = strtoul(at, &end, 10);
		if (end == at || last < first || last >= MOST_PROCESSORS)
			return false;
		for (unsigned long i = first; i <= last; i++)
			mask[i / 64] |= UINT64_C(1) << i % 64;
		at = end + (*end == ',');
	}
	return *list;
}

static struct host *host_of(struct making *w, uint64_t id)
{
	size_t h = 0;
	while (h < w->n_hosts && w->hosts[h].id != id)
		h++;
	w->n_hosts += h == w->n_hosts;
	w->hosts[h].id = id;
	return &w->hosts[h];
}

static void add_group(struct making *w, const struct model_process *p, struct host *h)
{
	size_t g = 0;
	while (g < w->n_groups &&
	       (w->groups[g].host != p->host_id || w->groups[g].id != p->quota_id))
		g++;
	struct group *to = &w->groups[g];
	if (g == w->n_groups) {
		*to = (struct group){p->host_id, p->quota_id, p->quota, p->throttled_start_ns,
				     p->throttled_end_ns};
		h->quota += p->quota;
		w->n_groups++;
	}
	if (p->throttled_start_ns < to->first_ns)
		to->first_ns = p->throttled_start_ns;
	if (p->throttled_end_ns > to->last_ns)
		to->last_ns = p->throttled_end_ns;
}

static uint32_t count(const struct host *h)
{
	uint32_t n = 0;
	for (unsigned i = 0; i < MOST_PROCESSORS / 64; i++)
		n += (uint32_t)__builtin_popcountll(h->mask[i]);
	return n;
}

/* Collects hosts and their cgroups. False: the processors of a process are unknown. */
static bool collect(const struct model *m, struct making *w)
{
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		struct host *h = host_of(w, p->host_id);
		if (!p->processors || !add_list(h->mask, p->processors))
			return false;
		if (p->quota > 0)
			add_group(w, p, h);
		else
			h->has_unlimited |= !p->is_blank;
	}
	return true;
}

static struct making making_begin(const struct model *m)
{
	return (struct making){.hosts = calloc((size_t)m->n_processes + 1, sizeof(struct host)),
			       .groups = calloc((size_t)m->n_processes + 1, sizeof(struct group))};
}

static void making_end(struct making *w)
{
	free(w->hosts);
	free(w->groups);
}

static bool is_limited(const struct host *h)
{
	return !h->has_unlimited && h->quota > 0 && h->quota < count(h);
}

bool view_quota_make(const struct model *m, struct view_quota *q)
{
	struct making w = making_begin(m);
	const bool ok = w.hosts && w.groups, known = ok && collect(m, &w);
	*q = (struct view_quota){0};
	for (size_t i = 0; known && i < w.n_hosts; i++) {
		const struct host *h = &w.hosts[i];
		q->n_allowed += count(h);
		q->n_given += is_limited(h) ? h->quota : count(h);
		q->has_quota |= is_limited(h);
	}
	for (size_t i = 0; known && !m->part && i < w.n_groups; i++)
		q->throttled += (double)(w.groups[i].last_ns - w.groups[i].first_ns) / 1e9;
	q->has_quota |= q->throttled > 0;
	making_end(&w);
	return ok;
}

/* A process with regions of OpenMP starts or ends. */
struct change {
	uint64_t host, time_ns;
	int step; /* 1 or -1 */
};

static int compare_changes(const void *pa, const void *pb)
{
	const struct change *a = pa, *b = pb;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->step - b->step; /* ends first */
}

/* The most processes with regions that lived at the same time on the host. */
static uint32_t count_teams(const struct change *at, size_t n, uint64_t host)
{
	uint32_t now = 0, most = 1;
	for (size_t i = 0; i < n; i++) {
		if (at[i].host != host)
			continue;
		now += (uint32_t)at[i].step;
		most = now > most ? now : most;
	}
	return most;
}

static void set_processors(const struct model *m, const struct making *w,
			   const struct change *changes, size_t n, double *processors)
{
	for (size_t h = 0; h < w->n_hosts; h++) {
		const struct host *x = &w->hosts[h];
		const double given = is_limited(x) ? x->quota : count(x),
			     each = given / count_teams(changes, n, x->id);
		for (uint32_t i = 0; i < m->n_processes; i++) {
			struct host own = {0};
			const struct model_process *p = &m->processes[i];
			if (p->host_id != x->id || !add_list(own.mask, p->processors))
				continue;
			const double most =
				p->quota > 0 && p->quota < count(&own) ? p->quota : count(&own);
			processors[i] = each < most ? each : most;
		}
	}
}

bool view_quota_of_processes(const struct model *m, double *processors)
{
	struct making w = making_begin(m);
	struct change *changes = malloc((2 * (size_t)m->n_processes + 1) * sizeof *changes);
	const bool ok = w.hosts && w.groups && changes;
	size_t n = 0;
	for (uint32_t i = 0; ok && i < m->n_processes; i++)
		processors[i] = 0;
	for (uint32_t i = 0; ok && i < m->n_omp_regions; i++)
		processors[m->omp_regions[i].process] = 1;
	for (uint32_t i = 0; ok && i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		if (!processors[i])
			continue;
		/* a process without duration lived at its moment */
		const uint64_t start_ns = p->start_ns - (p->start_ns == UINT64_MAX);
		changes[n++] = (struct change){p->host_id, start_ns, 1};
		changes[n++] = (struct change){p->host_id, p->end_ns + (p->end_ns == start_ns), -1};
		processors[i] = 0;
	}
	if (n)
		qsort(changes, n, sizeof *changes, compare_changes);
	if (ok && collect(m, &w))
		set_processors(m, &w, changes, n, processors);
	free(changes);
	making_end(&w);
	return ok;
}

const char *view_quota_text(double processors, char to[VIEW_QUOTA_TEXT])
{
	snprintf(to, VIEW_QUOTA_TEXT, "%.2f", processors);
	char *end = to + strlen(to);
	while (end[-1] == '0')
		*--end = 0;
	if (end[-1] == '.')
		end[-1] = 0;
	return to;
}
