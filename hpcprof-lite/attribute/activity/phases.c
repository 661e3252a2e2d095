/* SPDX-License-Identifier: BSD-3-Clause */
/* See phases.h. Test: tests/unit/prof_parallel/test_view_phases.c. */
#include "hpcprof-lite/attribute/activity/phases.h"

#include "common/base/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place at which phases begin, while they are collected. */
struct place {
	uint32_t context;
	uint64_t first_ns;
	uint32_t phase;
};

struct collecting {
	struct model *m;
	VEC(struct place) places;
	struct map place_of;            /* index */
	VEC(struct model_range) ranges; /* `phase` is the index of a place */
};

/* Returns the caller of the function of libhpctoolkit.a if that function is on the path. */
static uint32_t find_caller(const struct model *m, uint32_t context)
{
	for (uint32_t c = context; c && c != MODEL_NONE; c = m->contexts[c].parent) {
		const struct model_context *x = &m->contexts[c];
		if (x->kind == MODEL_CONTEXT_FUNCTION && x->function < m->n_functions &&
		    strncmp(m->functions[x->function].name, "hpctoolkit_sampling_", 20) == 0)
			context = x->parent;
	}
	if (m->contexts[context].file != MODEL_NONE)
		return context;
	const uint32_t python = model_find_python_line(m, context);
	return python == MODEL_NONE ? context : python;
}

/* Contexts of the same line are one place, whoever their callers are. */
static struct place *place_of(struct collecting *c, uint32_t context)
{
	const struct model_context *x = &c->m->contexts[context];
	const uint64_t i = map_put(&c->place_of, (uint64_t)x->function << 32 | x->line,
				   x->file != MODEL_NONE ? x->file : ~x->link_addr, c->places.n);
	if (i == MAP_NONE)
		return NULL;
	if (i < c->places.n)
		return &c->places.at[i];
	struct place *new = vec_push(&c->places);
	if (new)
		*new = (struct place){context, UINT64_MAX, (uint32_t)i};
	return new;
}

static bool add(struct collecting *c, uint32_t context, const struct model_range *range)
{
	struct place *p = place_of(c, context);
	struct model_range *r = p ? vec_push(&c->ranges) : NULL;
	if (!r)
		return false;
	if (range->enter_ns < p->first_ns)
		p->first_ns = range->enter_ns;
	*r = *range;
	r->phase = p->phase;
	return true;
}

static bool collect(struct collecting *c, const struct load_job *job,
		    const struct topic_where *where)
{
	for (uint32_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		const uint64_t to_real = f->header.start_real_ns - f->header.start_mono_ns,
			       end_ns = c->m->processes[i].end_ns;
		for (size_t k = 0; k < f->phases.n; k++) {
			const struct load_phase *p = &f->phases.at[k];
			struct model_range r = {.process = i,
						.profile = MODEL_NONE,
						.mpi_ns = p->mpi_ns,
						.enter_ns = p->enter_ns + to_real,
						.leave_ns = p->leave_ns ? p->leave_ns + to_real
									: end_ns};
			uint32_t context =
				p->node ? where->context(where->arg, i, p->thread, p->node) : 0;
			context = context == MODEL_NONE ? 0 : find_caller(c->m, context);
			if (r.leave_ns > r.enter_ns && !add(c, context, &r))
				return false;
		}
	}
	return true;
}

static int compare_places(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;
	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	return (a->phase > b->phase) - (a->phase < b->phase);
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct model_range *a = pa, *b = pb;
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->enter_ns > b->enter_ns) - (a->enter_ns < b->enter_ns);
}

void phases_sort(struct model_range *ranges, size_t n)
{
	if (n)
		qsort(ranges, n, sizeof *ranges, compare_ranges);
}

static const char *make_name(struct model *m, uint32_t number, uint32_t context)
{
	char name[512];
	const struct model_context *c = &m->contexts[context];
	const char *path = c->file < m->n_files ? m->files[c->file].path : NULL,
		   *slash = path ? strrchr(path, '/') : NULL;
	if (path && c->line)
		snprintf(name, sizeof name, "phase %" PRIu32 ": %s:%" PRIu32, number,
			 slash ? slash + 1 : path, c->line);
	else if (context && c->function < m->n_functions)
		snprintf(name, sizeof name, "phase %" PRIu32 ": %s", number,
			 m->functions[c->function].name);
	else
		snprintf(name, sizeof name, "phase %" PRIu32, number);
	return model_own(m, strdup(name));
}

/* Numbers the phases by their first range. */
static bool give(struct collecting *c)
{
	struct model *m = c->m;
	struct model_phase *phases = calloc(c->places.n, sizeof *phases);
	uint32_t *number_of = calloc(c->places.n, sizeof *number_of);
	bool ok = model_own(m, phases) && number_of;
	if (c->places.n > 1)
		qsort(c->places.at, c->places.n, sizeof *c->places.at, compare_places);
	for (uint32_t i = 0; ok && i < c->places.n; i++) {
		number_of[c->places.at[i].phase] = i;
		phases[i].context = c->places.at[i].context;
		phases[i].name = make_name(m, i + 1, phases[i].context);
		ok = phases[i].name;
	}
	for (size_t i = 0; ok && i < c->ranges.n; i++)
		c->ranges.at[i].phase = number_of[c->ranges.at[i].phase];
	free(number_of);
	if (!ok)
		return false;
	phases_sort(c->ranges.at, c->ranges.n);
	m->phases = phases;
	m->n_phases = (uint32_t)c->places.n;
	m->n_ranges = c->ranges.n;
	m->ranges = model_own(m, c->ranges.at);
	c->ranges.at = NULL;
	return m->ranges;
}

static bool attribute(void *none, struct topic_run *r)
{
	const struct topic_where where = topic_where(r);
	struct collecting c = {.m = r->m};
	(void)none;
	if (r->comm) /* phases appear only in reports, and parts do not write reports */
		return true;
	bool ok = collect(&c, r->job, &where) && (!c.ranges.n || give(&c));
	map_free(&c.place_of);
	vec_free(&c.places);
	vec_free(&c.ranges);
	return ok;
}

const struct topic_ops topic_phases = {.steps = {[TOPIC_ATTRIBUTE] = attribute}};
