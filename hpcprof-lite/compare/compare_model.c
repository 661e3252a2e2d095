/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_model.h. Test: tests/unit/compare/test_compare.c. */
#include "hpcprof-lite/compare/compare_model.h"

#include "hpcprof-lite/view/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The model and everything that it owns; `m` comes first, so that one pointer frees all. */
struct made {
	struct model m;
	struct model_module *modules;
	struct model_file *files;
	struct model_function *functions;
	struct model_context *contexts;
	struct model_metric *metrics;
	struct model_process *processes;
	struct model_total *totals;
	char **names;          /* of the metrics, 2 for each */
	uint32_t *context_of;  /* by node */
	double *values;        /* [context * n_metrics + metric], then inclusive ones */
	struct map module_ids; /* string -> index */
	struct map file_ids;
	size_t n_cells;        /* contexts x metrics */
};

static void *get(size_t n, size_t bytes)
{
	return calloc(n ? n : 1, bytes);
}

void compare_model_free(struct model *m)
{
	struct made *d = (struct made *)m;
	if (!d)
		return;
	for (uint32_t i = 0; d->names && i < d->m.n_metrics; i++)
		free(d->names[i]);
	free(d->modules);
	free(d->files);
	free(d->functions);
	free(d->contexts);
	free(d->metrics);
	free(d->processes);
	free(d->totals);
	free(d->names);
	free(d->context_of);
	free(d->values);
	map_free(&d->module_ids);
	map_free(&d->file_ids);
	free(d);
}

uint32_t compare_model_context(const struct model *m, uint32_t node)
{
	return ((const struct made *)m)->context_of[node];
}

/* ---- functions, metrics, runs ---- */

static bool add_module(const struct compare *c, struct made *d, uint32_t name, bool is_gpu,
		       uint32_t *to)
{
	uint64_t id = map_put(&d->module_ids, name, is_gpu, d->m.n_modules);
	if (id == MAP_NONE)
		return false;
	if (id == d->m.n_modules) {
		d->modules[id].path = name ? compare_string(c, name) : "the program";
		d->modules[id].structure = MODEL_STRUCTURE_LINES;
		d->modules[id].is_gpu = is_gpu;
		d->m.n_modules++;
	}
	*to = (uint32_t)id;
	return true;
}

static bool add_file(const struct compare *c, struct made *d, uint32_t name, uint32_t *to)
{
	uint64_t id = name ? map_put(&d->file_ids, name, 0, d->m.n_files) : MODEL_NONE;
	if (id == MAP_NONE)
		return false;
	if (id == d->m.n_files)
		d->files[d->m.n_files++].path = compare_string(c, name);
	*to = (uint32_t)id;
	return true;
}

static bool add_functions(const struct compare *c, struct made *d)
{
	for (size_t i = 0; i < c->functions.n; i++) {
		const struct compare_function *from = &c->functions.at[i];
		struct model_function *f = &d->functions[i];
		f->name = compare_string(c, from->name);
		f->line = from->line;
		f->node_function = f->node_file = MODEL_NONE;
		if (!add_module(c, d, from->module, from->is_kernel, &f->module) ||
		    !add_file(c, d, from->file, &f->file))
			return false;
	}
	d->m.n_functions = (uint32_t)c->functions.n;
	return true;
}

static bool add_metrics(const struct compare *c, struct made *d)
{
	for (size_t i = 0; i < 2 * c->metrics.n; i++) {
		const struct compare_metric *from = &c->metrics.at[i / 2];
		struct model_metric *to = &d->metrics[i];
		if (asprintf(&d->names[i], "%s%s", compare_string(c, from->name),
			     i % 2 ? " before" : "") < 0) {
			d->names[i] = NULL;
			return false;
		}
		to->kind = from->kind;
		to->role = i % 2 ? MODEL_ROLE_NONE : from->role;
		to->idle = to->parent = MODEL_NONE;
		to->divisor = from->divisor == MODEL_NONE ? MODEL_NONE
							  : 2 * from->divisor + (uint32_t)(i % 2);
		to->name = d->names[i];
		to->event = compare_string(c, from->event);
		to->unit = (uint8_t)from->unit;
		to->is_of_pc_samples = from->is_of_pc_samples;
		to->description = "";
	}
	return true;
}

static void add_runs(const struct compare *c, struct made *d)
{
	for (size_t i = 0; i < c->runs.n; i++) {
		const struct compare_run *run = &c->runs.at[i];
		struct model_process *p = &d->processes[i];
		p->path = p->command = p->command_line = compare_string(c, run->path);
		p->host = p->executable = "";
		p->rank = -1;
		p->exec_seq = run->side; /* which side the page shows it on */
		p->exit_kind = MSR_EXIT_RETURN;
	}
	d->m.n_processes = (uint32_t)c->runs.n;
}

/* ---- contexts ---- */

/* Makes the context the entry with this name, as names_entry() gave it. */
static void set_entry(struct model_context *x, const char *name)
{
	x->kind = MODEL_CONTEXT_ENTRY;
	for (x->entry = MODEL_ENTRY_MAIN; x->entry < MODEL_N_ENTRIES; x->entry++)
		for (x->end = 0; x->end < MSR_N_PATH_ENDS; x->end++)
			if (strcmp(names_entry(x), name) == 0)
				return;
	x->entry = MODEL_ENTRY_PARTIAL; /* of an unknown cause */
	x->end = UINT8_MAX;
}

static void fill_context(const struct compare *c, const struct made *d, uint32_t node,
			 uint32_t parent, struct model_context *x)
{
	const struct compare_node *n = &c->nodes.at[node];
	*x = (struct model_context){.parent = parent,
				    .subtree_n = 1,
				    .function = MODEL_NONE,
				    .module = MODEL_NONE,
				    .file = MODEL_NONE};
	if (n->kind == COMPARE_ENTRY) {
		set_entry(x, compare_string(c, n->id));
	} else if (n->kind == COMPARE_FUNCTION || n->kind == COMPARE_LINE) {
		uint32_t f = n->kind == COMPARE_LINE ? c->lines.at[n->id].function : n->id;
		x->kind = n->kind == COMPARE_LINE ? MODEL_CONTEXT_LINE : MODEL_CONTEXT_FUNCTION;
		x->relation = n->kind == COMPARE_LINE ? MODEL_LEXICAL : MODEL_CALL;
		x->function = f;
		x->module = d->functions[f].module;
	}
}

/* Numbers the nodes in preorder. `first` and `next` link the children of each node. */
static void number_nodes(const struct compare *c, struct made *d, const uint32_t *first,
			 const uint32_t *next)
{
	uint32_t node = 0;
	for (;;) {
		uint32_t id = d->m.n_contexts++;
		d->context_of[node] = id;
		fill_context(c, d, node,
			     node ? d->context_of[c->nodes.at[node].parent] : MODEL_NONE,
			     &d->contexts[id]);
		if (first[node] != MODEL_NONE) {
			node = first[node];
			continue;
		}
		while (node && next[node] == MODEL_NONE)
			node = c->nodes.at[node].parent;
		if (!node)
			break;
		node = next[node];
	}
	for (uint32_t i = d->m.n_contexts; i-- > 1;)
		d->contexts[d->contexts[i].parent].subtree_n += d->contexts[i].subtree_n;
}

static bool add_contexts(const struct compare *c, struct made *d)
{
	uint32_t *first = get(c->nodes.n, sizeof *first), *next = get(c->nodes.n, sizeof *next);
	bool ok = first && next;
	if (ok) {
		memset(first, 0xff, c->nodes.n * sizeof *first);
		memset(next, 0xff, c->nodes.n * sizeof *next);
		for (size_t i = c->nodes.n; i-- > 1;) {
			next[i] = first[c->nodes.at[i].parent];
			first[c->nodes.at[i].parent] = (uint32_t)i;
		}
		number_nodes(c, d, first, next);
		for (size_t i = 1; ok && i < c->nodes.n; i++) {
			const struct compare_node *n = &c->nodes.at[i];
			struct model_context *x = &d->contexts[d->context_of[i]];
			if (n->kind != COMPARE_LINE)
				continue;
			x->line = c->lines.at[n->id].line;
			ok = add_file(c, d, c->lines.at[n->id].file, &x->file);
		}
	}
	free(first);
	free(next);
	return ok;
}

/* ---- values ---- */

/* The number of runs of a side that the mean is taken over. */
static uint32_t count_side(const struct compare *c, unsigned side)
{
	uint32_t n = compare_count_runs(c, side);
	return n ? n : 1;
}

static void add_own_values(const struct compare *c, struct made *d)
{
	for (size_t i = 0; i < c->runs.n; i++) {
		const struct compare_run *run = &c->runs.at[i];
		uint32_t before = run->side == COMPARE_BASE, n = count_side(c, run->side);
		for (size_t k = 0; k < run->cells.n; k++) {
			const struct compare_cell *cell = &run->cells.at[k];
			d->values[(size_t)d->context_of[cell->node] * d->m.n_metrics +
				  2 * cell->metric + before] += cell->sum / n;
		}
	}
}

/* Makes the totals that are not 0. */
static bool add_totals(struct made *d, const double *inclusive)
{
	uint32_t n_metrics = d->m.n_metrics;
	size_t n_totals = 0;
	for (size_t i = 0; i < d->n_cells; i++)
		n_totals += inclusive[i] != 0;
	d->totals = get(n_totals, sizeof *d->totals);
	if (!d->totals)
		return false;
	for (size_t i = 0; i < d->n_cells; i++) {
		if (inclusive[i] == 0)
			continue;
		struct model_total *t = &d->totals[d->m.n_totals++];
		t->context = (uint32_t)(i / n_metrics);
		t->metric = (uint32_t)(i % n_metrics);
		t->sum[MODEL_POINT] = d->values[i];
		t->sum[MODEL_EXECUTION] = inclusive[i];
	}
	return true;
}

static bool add_values(const struct compare *c, struct made *d)
{
	uint32_t n_metrics = d->m.n_metrics;
	double *inclusive = d->values + d->n_cells;
	add_own_values(c, d);
	memcpy(inclusive, d->values, d->n_cells * sizeof *inclusive);
	for (uint32_t i = d->m.n_contexts; i-- > 1;)
		for (uint32_t k = 0; k < n_metrics; k++)
			inclusive[(size_t)d->contexts[i].parent * n_metrics + k] +=
				inclusive[(size_t)i * n_metrics + k];
	return add_totals(d, inclusive);
}

static bool allocate(const struct compare *c, struct made *d)
{
	size_t n_nodes = c->nodes.n, n_metrics = 2 * c->metrics.n;
	d->n_cells = n_nodes * n_metrics;
	d->modules = get(c->functions.n + 1, sizeof *d->modules);
	d->files = get(c->functions.n + c->lines.n + 1, sizeof *d->files);
	d->functions = get(c->functions.n, sizeof *d->functions);
	d->contexts = get(n_nodes, sizeof *d->contexts);
	d->metrics = get(n_metrics, sizeof *d->metrics);
	d->processes = get(c->runs.n, sizeof *d->processes);
	d->names = get(n_metrics, sizeof *d->names);
	d->context_of = get(n_nodes, sizeof *d->context_of);
	d->values = get(2 * d->n_cells, sizeof *d->values);
	d->m.n_metrics = (uint32_t)n_metrics;
	return d->modules && d->files && d->functions && d->contexts && d->metrics &&
	       d->processes && d->names && d->context_of && d->values;
}

struct model *compare_model_make(const struct compare *c)
{
	struct made *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	if (!allocate(c, d) || !add_functions(c, d) || !add_metrics(c, d) ||
	    !add_contexts(c, d) || !add_values(c, d)) {
		compare_model_free(&d->m);
		return NULL;
	}
	add_runs(c, d);
	d->m.modules = d->modules;
	d->m.files = d->files;
	d->m.functions = d->functions;
	d->m.contexts = d->contexts;
	d->m.metrics = d->metrics;
	d->m.processes = d->processes;
	d->m.totals = d->totals;
	d->m.title = "comparison";
	d->m.ledger_closes = true;
	return &d->m;
}
