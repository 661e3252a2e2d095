/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up the values of all profiles, including those of topics. See attribute_steps.h. */
#include "hpcprof-lite/attribute/attribute_steps.h"
#include "hpcprof-lite/attribute/describe/describe.h"
#include "hpcprof-lite/attribute/sum/sum.h"
#include "hpcprof-lite/model/model_hash.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>

/* The input of the sums. Each thread has one list of values for each topic that has values. */
struct sources {
	struct sum_source *of; /* by profile */
	struct sum_list *lists;
	size_t n_lists; /* for each thread */
	double *divisors;
};

static bool make_sources(const struct topic_run *r, struct sources *s)
{
	*s = (struct sources){0};
	for (size_t i = 0; r->topics[i]; i++)
		s->n_lists += r->topics[i]->values != NULL;
	s->of = calloc((size_t)r->m->n_profiles + 1, sizeof *s->of);
	s->lists = calloc(r->threads.n * s->n_lists + 1, sizeof *s->lists);
	s->divisors = calloc(r->m->n_metrics + 1, sizeof *s->divisors);
	return s->of && s->lists && s->divisors;
}

static void free_sources(struct sources *s)
{
	free(s->of);
	free(s->lists);
	free(s->divisors);
}

static void list_values(const struct topic_run *r, const struct topic_thread *t,
			struct sum_list *list)
{
	for (size_t i = 0; r->topics[i]; i++) {
		if (!r->topics[i]->values)
			continue;
		list->at = r->topics[i]->values(r->states[i], t, &list->n);
		list++;
	}
}

static void fill_sources(const struct topic_run *r, struct sources *s)
{
	for (size_t i = 0; i < r->threads.n; i++) {
		const struct topic_thread *t = &r->threads.at[i];
		if (r->job->is_split && !load_is_own(r->job, t->file))
			continue; /* another part sums it up */
		struct sum_list *lists = &s->lists[i * s->n_lists];
		list_values(r, t, lists);
		s->of[t->profile] = (struct sum_source){.file = &r->job->files.at[t->file],
							.thread = topic_thread(r, i),
							.lists = lists,
							.n_lists = s->n_lists};
	}
	describe_divisors(r->m, s->divisors);
}

/*
 * The first profile of each part, with an end entry. Needed if parts do not have each other's trees
 * and values. NULL if memory is short.
 */
static uint64_t *first_profiles(const struct topic_run *r)
{
	const int n_parts = r->comm->n_parts;
	uint64_t *first = calloc((size_t)n_parts + 1, sizeof *first);
	for (int i = 0; first && i <= n_parts; i++) {
		const uint32_t thread = r->first_thread[r->job->first_file[i]];
		first[i] = thread < r->threads.n ? r->threads.at[thread].profile : r->m->n_profiles;
	}
	return first;
}

static bool sum_shared(const struct topic_run *r, const struct sources *s)
{
	uint64_t *first = r->job->is_split ? first_profiles(r) : NULL;
	const struct sum_parts parts = {r->comm, first};
	const bool ok =
		topic_agree_on(r, first || !r->job->is_split, model_hash) &&
		sum_up(r->m, s->of, s->divisors, r->m->n_metrics ? &parts : NULL, r->n_workers);
	free(first);
	return ok;
}

bool attribute_sum(struct attribution *a)
{
	const struct topic_run *r = &a->run;
	struct sources s;
	bool ok = make_sources(r, &s);
	if (r->comm)
		ok = comm_agree(r->comm, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	if (ok) {
		fill_sources(r, &s);
		ok = r->comm ? sum_shared(r, &s)
			     : sum_up(r->m, s.of, s.divisors, NULL, r->n_workers);
	}
	free_sources(&s);
	return ok;
}
