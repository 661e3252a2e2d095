/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_gpu_idle.h. Test: tests/unit/prof_gpu/test_gpu_idle.c. */
#include "hpcprof-lite/view/view_gpu_idle.h"

#include "common/base/map.h"
#include "hpcprof-lite/view/view_values.h"

#include <stdlib.h>

/* ---- parts ---- */

static const struct {
	const char *words, *key;
} parts[VIEW_GPU_PARTS] = {
	[VIEW_GPU_KERNELS] = {"kernels ran", "kernels"},
	[VIEW_GPU_COPIES] = {"only copies or sets ran", "copies"},
	[VIEW_GPU_IDLE + MODEL_GPU_IDLE_BEFORE] = {"idle before the first operation", "before"},
	[VIEW_GPU_IDLE + MODEL_GPU_IDLE_NOTHING] = {"idle: nothing launched", "nothing"},
	[VIEW_GPU_IDLE + MODEL_GPU_IDLE_LAUNCH] = {"idle: launches came too slowly", "launch"},
	[VIEW_GPU_IDLE + MODEL_GPU_IDLE_SYNC] = {"idle: a thread had waited for it", "sync"},
	[VIEW_GPU_IDLE + MODEL_GPU_IDLE_QUEUED] = {"idle: launched, not started", "queued"},
	[VIEW_GPU_IDLE + MODEL_GPU_IDLE_AFTER] = {"idle after the last operation", "after"}};

const char *view_gpu_part_words(enum view_gpu_part p)
{
	return parts[p].words;
}

const char *view_gpu_part_key(enum view_gpu_part p)
{
	return parts[p].key;
}

uint64_t view_gpu_part_ns(const struct model_gpu_idle *i, enum view_gpu_part p)
{
	switch (p) {
	case VIEW_GPU_KERNELS: return i->kernel_ns;
	case VIEW_GPU_COPIES: return i->copy_ns - i->overlap_ns;
	default: return i->idle_ns[p - VIEW_GPU_IDLE];
	}
}

uint64_t view_gpu_idle_ns(const struct model_gpu_idle *i)
{
	uint64_t sum = 0;
	for (unsigned k = 0; k < MODEL_N_GPU_IDLE_CAUSES; k++)
		sum += i->idle_ns[k];
	return sum;
}

const struct model_gpu_idle *view_gpu_idle_of(const struct model *m, uint32_t device)
{
	return m->gpu_idle && m->gpu_idle[device].is_known ? &m->gpu_idle[device] : NULL;
}

/* ---- rows ---- */

/* The innermost context of a function or entry. */
static uint32_t function_around(const struct model *m, uint32_t context)
{
	while (m->contexts[context].kind != MODEL_CONTEXT_FUNCTION &&
	       m->contexts[context].kind != MODEL_CONTEXT_ENTRY &&
	       m->contexts[context].parent != MODEL_NONE)
		context = m->contexts[context].parent;
	return context;
}

uint32_t view_program_line(const struct model *m, uint32_t context)
{
	uint32_t python = model_find_python_line(m, context);
	if (python != MODEL_NONE)
		return python;
	for (; context != MODEL_NONE; context = m->contexts[context].parent) {
		const struct model_context *c = &m->contexts[context];
		bool is_stub = c->function < m->n_functions && m->functions[c->function].is_launch;
		if (c->kind == MODEL_CONTEXT_LINE && c->module < m->n_modules && !is_stub &&
		    m->modules[c->module].role == MODEL_MODULE_PROGRAM)
			return context;
	}
	return MODEL_NONE;
}

static struct view_idle_row place(const struct model *m, enum model_metric_role role,
				  uint32_t context)
{
	return (struct view_idle_row){.function = function_around(m, context),
				      .line = role == MODEL_ROLE_GPU_IDLE_CAUSE
						      ? view_program_line(m, context)
						      : MODEL_NONE};
}

/* Adds the time of one context to the row of its place. False if memory is short. */
static bool add_row(const struct model *m, enum model_metric_role role, struct map *index,
		    struct view_idle_rows *r, const struct model_total *t)
{
	struct view_idle_row row = place(m, role, t->context);
	const struct model_context *function = &m->contexts[row.function],
				   *line = row.line != MODEL_NONE ? &m->contexts[row.line] : NULL;
	bool is_entry = function->kind != MODEL_CONTEXT_FUNCTION;
	uint64_t id = map_put(index,
			      line       ? (uint64_t)line->function
			      : is_entry ? UINT64_MAX - row.function
					 : (uint64_t)function->function,
			      line ? (uint64_t)line->file << 32 | line->line : UINT64_MAX, r->n);
	if (id == MAP_NONE)
		return false;
	if (id == r->n)
		r->at[r->n++] = row;
	r->at[id].seconds += t->sum[MODEL_POINT];
	return true;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct view_idle_row *a = pa, *b = pb;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

bool view_idle_rows_make(const struct model *m, enum model_metric_role role,
			 struct view_idle_rows *r)
{
	uint32_t metric = view_find_metric(m, role);
	struct map index = {0};
	*r = (struct view_idle_rows){.at = calloc((size_t)m->n_contexts + 1, sizeof *r->at)};
	bool ok = r->at;
	for (size_t i = 0; ok && metric != MODEL_NONE && i < m->n_totals; i++)
		if (m->totals[i].metric == metric && m->totals[i].sum[MODEL_POINT] > 0)
			ok = add_row(m, role, &index, r, &m->totals[i]);
	map_free(&index);
	if (!ok)
		view_idle_rows_free(r);
	else if (r->n)
		qsort(r->at, r->n, sizeof *r->at, compare_rows);
	return ok;
}

void view_idle_rows_free(struct view_idle_rows *r)
{
	free(r->at);
	*r = (struct view_idle_rows){0};
}
