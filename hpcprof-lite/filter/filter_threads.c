/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which threads count, and how many matter at one time. Both follow from whole threads, so a part
 * by time or function keeps what the whole run says. Otherwise the accounts of two halves would be
 * of different threads and not add up. Test: tests/unit/prof/test_filter.c.
 */
#include "hpcprof-lite/filter/filter_part.h"
#include "hpcprof-lite/filter/filter_text.h"
#include "hpcprof-lite/view/parallel/view_processors.h"

#include <stdlib.h>

/* Of the model `chosen`: all threads that the filters by rank, process and thread leave. */
static bool count(struct filter_part *p, const struct model *chosen)
{
	uint32_t most, all;
	if (!view_count_threads(chosen, 0, chosen->n_profiles, &most, &all))
		return false;
	p->to->part_all_threads = chosen->n_profiles;
	p->to->part_most_threads = most;
	for (uint32_t i = 0, next; i < chosen->n_profiles; i = next) {
		const uint32_t process = chosen->profiles[i].process;
		next = i;
		while (next < chosen->n_profiles && chosen->profiles[next].process == process)
			next++;
		if (!view_count_threads(chosen, i, next, &p->threads_of[process], &all))
			return false;
	}
	return true;
}

bool filter_keep_threads(struct filter_part *p, const bool *wanted)
{
	const struct model *m = p->from;
	if (!p->has_time && !p->f->below)
		return true;
	struct model chosen = *m;
	struct model_profile *threads = calloc((size_t)m->n_profiles + 1, sizeof *threads);
	p->counts = calloc((size_t)m->n_profiles + 1, sizeof *p->counts);
	p->threads_of = calloc((size_t)m->n_processes + 1, sizeof *p->threads_of);
	bool ok = threads && p->counts && p->threads_of;
	chosen.profiles = threads;
	chosen.n_profiles = 0;
	for (uint32_t i = 0; ok && i < m->n_profiles; i++) {
		const struct model_profile *t = &m->profiles[i];
		p->counts[i] = view_is_used_thread(m, t) ? MODEL_COUNTS : MODEL_COUNTS_NOT;
		if (t->kind != MODEL_PROFILE_THREAD || !wanted[t->process] ||
		    (p->f->threads && !filter_list_has(p->f->threads, t->thread)))
			continue;
		threads[chosen.n_profiles] = *t;
		threads[chosen.n_profiles++].counts = p->counts[i];
	}
	ok = ok && count(p, &chosen);
	free(threads);
	return ok;
}
