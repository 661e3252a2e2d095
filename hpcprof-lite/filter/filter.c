/* SPDX-License-Identifier: BSD-3-Clause */
/* See filter.h. Test: tests/unit/prof/test_filter.c. */
#include "hpcprof-lite/filter/filter.h"

#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/attribute/describe/describe.h"
#include "hpcprof-lite/attribute/nccl/nccl_attribute.h"
#include "hpcprof-lite/filter/filter_part.h"
#include "hpcprof-lite/model/model_values.h"

#include <stdlib.h>

bool filter_is_empty(const struct filter *f)
{
	return !f->ranks && !f->threads && !f->processes && !f->time && !f->below;
}

/* An array of n ids, all MODEL_NONE. */
static uint32_t *new_ids(uint32_t n)
{
	uint32_t *ids = malloc(((size_t)n + 1) * sizeof *ids);
	for (uint32_t i = 0; ids && i < n; i++)
		ids[i] = MODEL_NONE;
	return ids;
}

static bool begin(struct filter_part *p)
{
	const struct model *m = p->from;
	p->process_to = new_ids(m->n_processes);
	p->profile_to = new_ids(m->n_profiles);
	p->context_to = new_ids(m->n_contexts);
	p->metric_to = new_ids(m->n_metrics);
	p->gpu_context_to = new_ids(m->n_gpu_contexts);
	p->device_to = new_ids(m->n_gpu_devices);
	p->queue_to = new_ids(m->n_gpu_queues);
	p->first_lane = new_ids(m->n_gpu_queues);
	p->first_thread = new_ids(m->n_processes);
	p->is_used = calloc((size_t)m->n_contexts + 1, sizeof *p->is_used);
	p->profiles = calloc((size_t)m->n_profiles + 1, sizeof *p->profiles);
	p->sums = calloc((size_t)m->n_metrics + 1, sizeof *p->sums);
	p->untimed = calloc((size_t)m->n_metrics + 1, sizeof *p->untimed);
	p->divisors = calloc((size_t)m->n_metrics + 1, sizeof *p->divisors);
	p->to = model_new();
	if (!p->process_to || !p->profile_to || !p->context_to || !p->metric_to ||
	    !p->gpu_context_to || !p->device_to || !p->queue_to || !p->first_lane ||
	    !p->first_thread || !p->is_used || !p->profiles || !p->sums || !p->untimed ||
	    !p->divisors || !p->to)
		return false;
	describe_divisors(m, p->divisors);
	for (uint32_t i = m->n_profiles; i-- > 0;) {
		const struct model_profile *t = &m->profiles[i];
		if (t->kind == MODEL_PROFILE_THREAD)
			p->first_thread[t->process] = i;
		else if (t->lane == 0)
			p->first_lane[t->queue] = i;
	}
	return true;
}

static void end(struct filter_part *p)
{
	uint32_t *ids[] = {p->process_to, p->profile_to,     p->context_to,
			   p->metric_to,  p->gpu_context_to, p->device_to,
			   p->queue_to,   p->first_lane,     p->first_thread};
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		free(ids[i]);
	for (uint32_t i = 0; p->profiles && i < p->from->n_profiles; i++)
		vec_free(&p->profiles[i].values);
	free(p->profiles);
	for (unsigned i = 0; p->first_value && i < p->n_workers; i++)
		free(p->first_value[i]);
	free(p->first_value);
	free(p->below);
	free(p->counts);
	free(p->threads_of);
	free((void *)p->is_used);
	free((void *)p->sums);
	free((void *)p->untimed);
	free(p->divisors);
	map_free(&p->op_index);
	vec_free(&p->ops);
	gpu_idle_free(&p->idle);
	gpu_energy_free(&p->energy);
	model_free(p->to);
}

/* Copies what every part shares with the whole; the new model will own the old one. */
static void share(const struct model *from, struct model *to)
{
	to->modules = from->modules;
	to->n_modules = from->n_modules;
	to->files = from->files;
	to->n_files = from->n_files;
	to->functions = from->functions;
	to->n_functions = from->n_functions;
	to->unmeasured = from->unmeasured;
	to->n_unmeasured = from->n_unmeasured;
	to->gpu_shapes = from->gpu_shapes;
	to->n_gpu_shapes = from->n_gpu_shapes;
	to->gpu_occupancies = from->gpu_occupancies;
	to->gpu_ledger = from->gpu_ledger;
	to->gpu_sampling = from->gpu_sampling;
	to->has_gpu = from->has_gpu;
	to->ledger = from->ledger;
	to->ledger_closes = from->ledger_closes;
	to->title = from->title;
	to->clock_error_ns = from->clock_error_ns;
}

static bool sum_part(struct filter_part *p)
{
	static const struct load_thread no_cells;
	struct model *to = p->to;
	struct sum_source *sources = calloc((size_t)to->n_profiles + 1, sizeof *sources);
	struct sum_list *lists = calloc((size_t)to->n_profiles + 1, sizeof *lists);
	double *divisors = calloc((size_t)to->n_metrics + 1, sizeof *divisors);
	bool ok = sources && lists && divisors;
	for (uint32_t i = 0; ok && i < p->from->n_profiles; i++) {
		struct filter_profile *f = &p->profiles[i];
		if (p->profile_to[i] == MODEL_NONE ||
		    p->from->profiles[i].kind != MODEL_PROFILE_THREAD)
			continue;
		for (size_t k = 0; k < f->values.n; k++) {
			f->values.at[k].context = p->context_to[f->values.at[k].context];
			f->values.at[k].metric = p->metric_to[f->values.at[k].metric];
		}
		struct sum_list *list = &lists[p->profile_to[i]];
		*list = (struct sum_list){f->values.at, f->values.n};
		sources[p->profile_to[i]] =
			(struct sum_source){.thread = &no_cells, .lists = list, .n_lists = 1};
	}
	if (ok) {
		describe_divisors(to, divisors);
		ok = sum_up(to, sources, divisors, NULL, p->n_workers);
		to->sums_overflow |= p->from->sums_overflow;
	}
	free(sources);
	free(lists);
	free(divisors);
	return ok;
}

/* Frees the values of the whole run: nothing needs them after recounting, and memory is short. */
static void drop_values(struct model *m)
{
	model_values_free(m);
	free(m->private_->totals);
	m->private_->totals = NULL;
	m->totals = NULL;
	m->n_totals = 0;
}

static bool make(struct filter_part *p, struct model *whole)
{
	share(p->from, p->to);
	if (!filter_describe(p) || !filter_recount(p) || !filter_make_metrics(p) ||
	    !filter_make_contexts(p) || !filter_make_processes(p) || !filter_make_queues(p) ||
	    !filter_make_profiles(p))
		return false;
	drop_values(whole);
	return sum_part(p) && describe_times(p->to) && nccl_attribute(p->to);
}

static void release_whole(void *whole)
{
	model_free(whole);
}

enum status filter_apply(struct model **m, const struct filter *f, unsigned n_workers)
{
	struct filter_part p = {
		.from = *m, .f = f, .n_workers = n_workers ? n_workers : pool_n_cpus()};
	enum status s = begin(&p) ? filter_choose(&p) : STATUS_NO_MEMORY;
	if (s == STATUS_OK && !make(&p, *m))
		s = STATUS_NO_MEMORY;
	if (s == STATUS_OK) {
		p.to->private_->sources = *m;
		p.to->private_->release = release_whole;
		*m = p.to;
		p.to = NULL;
	} else if (s == STATUS_NO_MEMORY) {
		log_error(NULL, "out of memory");
	}
	end(&p);
	return s;
}
