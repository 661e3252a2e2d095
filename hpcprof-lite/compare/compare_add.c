/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces one model to a run of a comparison: finds the nodes that its contexts are, and adds up
 * the values of contexts that are the same node. Test: tests/unit/compare/test_compare.c.
 */
#include "hpcprof-lite/compare/compare_adding.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/view/view_gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what contexts are ---- */

bool compare_is_inside(const struct compare *c, uint32_t parent, uint32_t function)
{
	for (uint32_t at = parent; at; at = c->nodes.at[at].parent)
		if (compare_function_of(c, at) == function)
			return true;
	return false;
}

static uint32_t add_node(struct compare *c, uint32_t parent, enum compare_node_kind kind,
			 uint32_t id)
{
	if (parent == MODEL_NONE || id == MODEL_NONE)
		return MODEL_NONE;
	uint64_t at = map_put(&c->node_ids, parent, (uint64_t)kind << 32 | id, c->nodes.n);
	if (at == c->nodes.n) {
		struct compare_node *n = vec_push(&c->nodes);
		if (!n)
			return MODEL_NONE;
		*n = (struct compare_node){.parent = parent, .kind = kind, .id = id};
		n->is_outermost = kind == COMPARE_FUNCTION && !compare_is_inside(c, parent, id);
	}
	return at == MAP_NONE ? MODEL_NONE : (uint32_t)at;
}

/*
 * A line is matched by its distance from the definition of its function, so code that moves inside
 * a file still matches. In another file than the definition it is matched by its number.
 */
static uint32_t add_line(struct compare_adding *a, const struct model_context *x, uint32_t function)
{
	struct compare *c = a->c;
	const struct model_function *f =
		x->function < a->m->n_functions ? &a->m->functions[x->function] : NULL;
	bool is_relative = f && f->line && f->file == x->file;
	uint32_t file = compare_add_file(a, x->file),
		 number = is_relative ? x->line - f->line : x->line;
	if (file == STRTAB_FAILED)
		return MODEL_NONE;
	uint64_t id = map_put(&c->line_ids, (uint64_t)function << 32 | file,
			      (uint64_t)is_relative << 32 | number, c->lines.n);
	if (id == MAP_NONE || (id == c->lines.n && !vec_push(&c->lines)))
		return MODEL_NONE;
	c->lines.at[id] =
		(struct compare_line){.function = function, .file = file, .line = x->line};
	return (uint32_t)id;
}

/* Finds the node that is the parent of a context's calls. False if memory is short. */
static bool find_node(struct compare_adding *a, uint32_t context)
{
	const struct model_context *x = &a->m->contexts[context];
	uint32_t *to = &a->node_of[context],
		 parent = x->parent == MODEL_NONE ? 0 : a->node_of[x->parent];
	*to = parent;
	if (x->kind == MODEL_CONTEXT_ENTRY) {
		uint32_t name = strtab_add_z(&a->c->strings, names_entry(x));
		*to = name == STRTAB_FAILED ? MODEL_NONE
					    : add_node(a->c, parent, COMPARE_ENTRY, name);
	} else if (x->kind == MODEL_CONTEXT_FUNCTION) {
		uint32_t f = compare_add_function(a, x->function);
		*to = add_node(a->c, parent, COMPARE_FUNCTION, f);
		if (*to != MODEL_NONE)
			a->c->functions.at[f].is_kernel |= view_is_kernel(a->m, context);
	}
	return *to != MODEL_NONE;
}

/* The node that the own values of a context count for; MODEL_NONE if memory is short. */
static uint32_t find_leaf(struct compare_adding *a, uint32_t context)
{
	const struct model_context *x = &a->m->contexts[context];
	uint32_t node = a->node_of[context], function = compare_function_of(a->c, node);
	if ((x->kind != MODEL_CONTEXT_LINE && x->kind != MODEL_CONTEXT_LOOP) || !x->line ||
	    function == MODEL_NONE)
		return node;
	return add_node(a->c, node, COMPARE_LINE, add_line(a, x, function));
}

/* ---- values ---- */

static bool add_metric(struct compare_adding *a, uint32_t metric)
{
	struct compare *c = a->c;
	const struct model_metric *from = &a->m->metrics[metric];
	uint32_t name = strtab_add_z(&c->strings, from->name),
		 event = strtab_add_z(&c->strings, from->event ? from->event : "");
	size_t i = 0;
	if (name == STRTAB_FAILED || event == STRTAB_FAILED)
		return false;
	while (i < c->metrics.n && c->metrics.at[i].name != name)
		i++;
	if (i == c->metrics.n) {
		struct compare_metric *to = vec_push(&c->metrics);
		if (!to)
			return false;
		*to = (struct compare_metric){.name = name,
					      .event = event,
					      .unit = (enum model_unit)from->unit,
					      .is_of_pc_samples = from->is_of_pc_samples,
					      .kind = from->kind,
					      .role = from->role,
					      .divisor = MODEL_NONE};
	}
	c->metrics.at[i].n_runs++;
	a->metric_of[metric] = (uint32_t)i;
	return true;
}

static bool read_operations(struct compare_adding *a)
{
	const struct model *m = a->m;
	if (!m->n_gpu_queues)
		return true;
	if (!(a->operations = calloc(m->n_contexts, sizeof *a->operations)))
		return false;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		struct model_gpu_cursor cursor = {0};
		struct model_gpu_op some[256];
		if (m->profiles[p].kind != MODEL_PROFILE_QUEUE)
			continue;
		for (size_t n; (n = model_gpu_read(m, p, &cursor, some, 256)) > 0;)
			for (size_t i = 0; i < n; i++) {
				struct compare_operations *o = &a->operations[some[i].context];
				double t = (double)(some[i].end_ns - some[i].start_ns) * 1e-9;
				o->n++;
				o->sum += t;
				o->squares += t * t;
			}
	}
	return true;
}

/*
 * Of a sampled allocation of x bytes, with the probability p and the weight 1 / p: (1 - p) / p^2,
 * times x^2 for bytes, where 1 - p = exp(-x / period), and x is more than x / p - period.
 */
static double memory_variance(const struct model *m, const struct model_metric *metric, double mean)
{
	const uint32_t of = metric->kind == MODEL_METRIC_MEMORY ? metric->parent : MODEL_NONE;
	const double period = (double)(of == MODEL_NONE ? metric : &m->metrics[of])->period_most;
	if (metric->unit == MODEL_COUNT)
		return mean * (mean - 1);
	return period <= 1 ? 0 : mean * mean * (1 + expm1(-fmax(mean / period - 1, 0)));
}

/*
 * The variance of a sum of n values. Samples are a Poisson process: n times the square of the mean
 * weight. Times of GPU operations vary like those of the operations with a record; a single
 * operation does not show how, and counts like a sample. Counts are exact.
 */
static double variance_of(const struct compare_adding *a, const struct model_total *t)
{
	const struct model_metric *metric = &a->m->metrics[t->metric];
	double sum = t->sum[MODEL_POINT], n = (double)t->n_samples;
	if (metric->is_of_pc_samples)
		return fabs(sum);
	const struct compare_operations *o = a->operations ? &a->operations[t->context] : NULL;
	if (metric->kind == MODEL_METRIC_GPU_COUNT || metric->kind == MODEL_METRIC_GPU_MEAN ||
	    metric->kind == MODEL_METRIC_MPI_COUNT)
		return 0;
	if (metric->kind == MODEL_METRIC_MEMORY || metric->measures == MODEL_EVENT_MEMORY)
		return n > 0 ? memory_variance(a->m, metric, sum / n) * n : sum * sum;
	if (metric->kind == MODEL_METRIC_GPU_TIME && o && o->n > 1) {
		double spread = o->squares - o->sum * o->sum / (double)o->n;
		return spread > 0 ? n * spread / (double)(o->n - 1) : 0;
	}
	return n > 0 ? sum * sum / n : sum * sum;
}

static bool add_value(struct compare_adding *a, const struct model_total *t)
{
	uint32_t node = find_leaf(a, t->context), metric = a->metric_of[t->metric];
	if (node == MODEL_NONE)
		return false;
	uint64_t at = map_put(&a->cell_of, node, metric, a->run->cells.n);
	if (at == MAP_NONE || (at == a->run->cells.n && !vec_push(&a->run->cells)))
		return false;
	struct compare_cell *cell = &a->run->cells.at[at];
	cell->node = node;
	cell->metric = metric;
	cell->sum += t->sum[MODEL_POINT];
	cell->variance += variance_of(a, t);
	cell->n += t->n_samples;
	return true;
}

/* Begins the values of a rank. */
static bool add_rank(struct compare_adding *a, int32_t rank)
{
	struct compare *c = a->c;
	uint64_t id = map_put(&c->rank_ids, (uint32_t)rank, 0, c->ranks.n);
	bool is_new = id == c->ranks.n;
	int32_t *new = is_new ? vec_push(&c->ranks) : NULL;
	struct compare_rank *values = vec_extend(&a->run->ranks, a->m->n_metrics);
	if (id == MAP_NONE || (is_new && !new) || !values)
		return false;
	if (new)
		*new = rank;
	for (uint32_t k = 0; k < a->m->n_metrics; k++)
		values[k] = (struct compare_rank){(uint32_t)id, a->metric_of[k], 0};
	a->run->n_ranks++;
	return true;
}

/* Profiles are sorted by rank, so the values of a rank follow each other. */
static bool add_ranks(struct compare_adding *a)
{
	const struct model *m = a->m;
	int32_t last = -1;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		int32_t rank = m->processes[m->profiles[p].process].rank;
		if (rank < 0 || m->n_metrics == 0)
			continue;
		if (rank != last && !add_rank(a, rank))
			return false;
		last = rank;
		for (uint32_t k = 0; k < m->n_metrics; k++) {
			const struct model_value *v = model_find_value(m, p, 0, k);
			if (v)
				a->run->ranks.at[a->run->ranks.n - m->n_metrics + k].sum +=
					v->at[MODEL_EXECUTION];
		}
	}
	return true;
}

static bool add_all(struct compare_adding *a)
{
	const struct model *m = a->m;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (!add_metric(a, i))
			return false;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].divisor < m->n_metrics)
			a->c->metrics.at[a->metric_of[i]].divisor =
				a->metric_of[m->metrics[i].divisor];
	if (!compare_add_functions(a))
		return false;
	for (uint32_t i = 0; i < m->n_contexts; i++)
		if (!find_node(a, i))
			return false;
	if (!read_operations(a))
		return false;
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->totals[i].sum[MODEL_POINT] != 0 && !add_value(a, &m->totals[i]))
			return false;
	return add_ranks(a);
}

static void describe(struct compare_run *run, const struct model *m)
{
	run->n_processes = m->n_processes;
	run->n_threads = model_count_threads(m);
	run->elapsed_ns = m->elapsed_ns;
	run->has_gpu = m->has_gpu;
	run->is_complete = m->ledger_closes && !m->sums_overflow;
	for (uint32_t i = 0; i < m->n_processes; i++)
		run->is_complete &= !m->processes[i].is_live;
	for (uint32_t i = 0; i < m->n_modules; i++)
		run->lacks_names |= m->modules[i].structure == MODEL_STRUCTURE_CHANGED &&
				    m->modules[i].role == MODEL_MODULE_PROGRAM;
}

/* The command line of the first process that wrote it; "" if all were killed early. */
static const char *command_line(const struct model *m)
{
	const char *command = "";
	for (uint32_t i = 0; i < m->n_processes && !*command; i++)
		if (m->processes[i].command_line)
			command = m->processes[i].command_line;
	return command;
}

bool compare_add(struct compare *c, enum compare_side side, const char *path, const struct model *m)
{
	struct compare_adding a = {.c = c, .m = m, .side = side};
	a.run = vec_push(&c->runs);
	a.function_of = calloc((size_t)m->n_functions + 1, sizeof *a.function_of);
	a.metric_of = calloc((size_t)m->n_metrics + 1, sizeof *a.metric_of);
	a.node_of = calloc((size_t)m->n_contexts + 1, sizeof *a.node_of);
	bool ok = a.run && a.function_of && a.metric_of && a.node_of;
	if (ok) {
		a.run->side = (uint8_t)side;
		a.run->path = strtab_add_z(&c->strings, path);
		describe(a.run, m);
		a.run->program = strtab_add_z(&c->strings, m->title ? m->title : "");
		a.run->command = strtab_add_z(&c->strings, command_line(m));
		ok = a.run->path != STRTAB_FAILED && a.run->program != STRTAB_FAILED &&
		     a.run->command != STRTAB_FAILED && add_all(&a);
	}
	free(a.function_of);
	free(a.metric_of);
	free(a.node_of);
	free(a.operations);
	map_free(&a.cell_of);
	return ok;
}
