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

bool view_quota_make(const struct model *m, struct view_quota *q)
{
	struct making w = {.hosts = calloc((size_t)m->n_processes + 1, sizeof *w.hosts),
			   .groups = calloc((size_t)m->n_processes + 1, sizeof *w.groups)};
	const bool ok = w.hosts && w.groups;
	bool known = ok;
	*q = (struct view_quota){0};
	for (uint32_t i = 0; known && i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		struct host *h = host_of(&w, p->host_id);
		known = p->processors && add_list(h->mask, p->processors);
		if (p->quota > 0)
			add_group(&w, p, h);
		else
			h->has_unlimited |= !p->is_blank;
	}
	for (size_t i = 0; known && i < w.n_hosts; i++) {
		const struct host *h = &w.hosts[i];
		const uint32_t n = count(h);
		const bool is_less = !h->has_unlimited && h->quota > 0 && h->quota < n;
		q->n_allowed += n;
		q->n_given += is_less ? h->quota : n;
		q->has_quota |= is_less;
	}
	for (size_t i = 0; known && !m->part && i < w.n_groups; i++)
		q->throttled += (double)(w.groups[i].last_ns - w.groups[i].first_ns) / 1e9;
	q->has_quota |= q->throttled > 0;
	free(w.hosts);
	free(w.groups);
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
