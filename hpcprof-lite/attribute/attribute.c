/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See attribute.h. attribute_run() has the order of the steps. Test: tests/unit/prof/test_order.c,
 * tests/unit/prof/test_ledger.c.
 */
#include "hpcprof-lite/attribute/attribute.h"

#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/attribute/attribute_steps.h"
#include "hpcprof-lite/attribute/describe/describe.h"
#include "hpcprof-lite/attribute/topics.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>

bool attribute_step(struct attribution *a, enum topic_step step)
{
	bool ok = true;
	for (size_t i = 0; ok && topics[i]; i++)
		if (topics[i]->steps[step])
			ok = topics[i]->steps[step](a->run.states[i], &a->run);
	return ok;
}

static bool open_topics(struct topic_run *r)
{
	size_t n = 0;
	while (topics[n])
		n++;
	r->topics = topics;
	r->states = calloc(n + 1, sizeof *r->states);
	bool ok = r->states;
	for (size_t i = 0; ok && i < n; i++)
		if (topics[i]->state_bytes)
			ok = (r->states[i] = calloc(1, topics[i]->state_bytes));
	return ok;
}

static void close_topics(struct topic_run *r)
{
	for (size_t i = 0; r->states && topics[i]; i++) {
		if (topics[i]->close && r->states[i])
			topics[i]->close(r->states[i]);
		free(r->states[i]);
	}
	free(r->states);
}

static void free_attribution(struct attribution *a)
{
	struct topic_run *r = &a->run;
	close_topics(r);
	for (size_t i = 0; r->module_of && i < r->job->files.n; i++)
		free(r->module_of[i]);
	free(r->module_of);
	attribute_free_trees(a);
	merge_free_modules(&a->modules);
	vec_free(&r->threads);
	free(r->first_thread);
	free(r->first_profile);
	expand_free(&a->expand);
}

static bool run_steps(struct attribution *a)
{
	return open_topics(&a->run) &&
	       attribute_step(a, TOPIC_OPEN) &&
	       attribute_unify(a) &&
	       attribute_step(a, TOPIC_NAME) &&
	       attribute_merge(a) &&
	       attribute_step(a, TOPIC_JOIN) &&
	       attribute_contexts(a) &&
	       attribute_profiles(a) &&
	       attribute_step(a, TOPIC_ATTRIBUTE) &&
	       attribute_sum(a) &&
	       attribute_instructions(a) &&
	       describe_whole(a->run.m, a->run.comm);
}

static void release_job(void *sources)
{
	load_job_close(sources);
	free(sources);
}

enum status attribute_run(struct load_job *job, const struct attribute_options *o,
			  struct model **out)
{
	struct model *m = model_new();
	struct load_job *own = calloc(1, sizeof *own);
	if (!m || !own) {
		model_free(m);
		free(own);
		log_error(NULL, "out of memory");
		return STATUS_NO_MEMORY;
	}
	*own = *job;
	*job = (struct load_job){0};
	m->private_->sources = own;
	m->private_->release = release_job;
	struct attribution a = {.o = o,
				.run = {.job = own,
					.m = m,
					.comm = o->comm,
					.n_workers = o->n_workers ? o->n_workers : pool_n_cpus(),
					.internals = o->internals,
					.ranges = o->ranges}};
	a.run.modules = &a.modules;
	a.run.expand = &a.expand;
	a.expand.strings = &m->private_->strings;
	const bool ok = run_steps(&a);
	free_attribution(&a);
	if (ok) {
		*out = m;
		return STATUS_OK;
	}
	model_free(m);
	if (o->comm && o->comm->failed == STATUS_DIFFERS)
		return STATUS_DIFFERS;
	log_error(NULL, "out of memory");
	return STATUS_NO_MEMORY;
}
