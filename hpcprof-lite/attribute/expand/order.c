/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See order.h. Every comparison below is a total order over distinct things, so it does not matter
 * that qsort is unstable. Test: tests/unit/prof/test_order.c.
 */
#include "hpcprof-lite/attribute/expand/order.h"

#include "hpcprof-lite/attribute/expand/omp_regions.h"
#include "hpcprof-lite/attribute/known/known_code.h"

#include <stdlib.h>
#include <string.h>

struct sorter {
	struct model *m;
	struct expand *e;
	const struct order_module
		*modules; /* n_modules + 1: the last is code outside every module */
	uint32_t n_modules;
	uint32_t *module_rank, *file_rank, *function_rank; /* final id by old one */
};

static const struct order_module outside = {.path = "<no module>"};

static const struct order_module *get_module(const struct sorter *s, uint32_t id)
{
	return id < s->n_modules ? &s->modules[id] : &outside;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_build_ids(const struct order_module *a, const struct order_module *b)
{
	int c = compare_u64(a->build_id_bytes, b->build_id_bytes);
	return c == 0 && a->build_id_bytes ? memcmp(a->build_id, b->build_id, a->build_id_bytes)
					   : c;
}

/*
 * Code objects of a GPU come last, sorted by content, so that the path of the measurement directory
 * does not matter.
 */
static int compare_modules(const void *pa, const void *pb, void *arg)
{
	const struct sorter *s = arg;
	const struct order_module *a = get_module(s, *(const uint32_t *)pa),
				  *b = get_module(s, *(const uint32_t *)pb);
	int c = a->is_gpu - b->is_gpu;
	if (c == 0 && a->is_gpu)
		c = compare_build_ids(a, b);
	if (c == 0)
		c = strcmp(a->path, b->path);
	if (c == 0)
		c = compare_build_ids(a, b);
	return c ? c : compare_u64(a->file_bytes, b->file_bytes);
}

static const char *get_string(const struct sorter *s, uint32_t id)
{
	return strtab_get(s->e->strings, id);
}

static int compare_files(const void *pa, const void *pb, void *arg)
{
	const struct sorter *s = arg;
	return strcmp(get_string(s, s->e->files.at[*(const uint32_t *)pa]),
		      get_string(s, s->e->files.at[*(const uint32_t *)pb]));
}

static uint32_t file_rank(const struct sorter *s, uint32_t file)
{
	return file == MODEL_NONE ? MODEL_NONE : s->file_rank[file];
}

static uint32_t module_rank(const struct sorter *s, uint32_t module)
{
	return module == MODEL_NONE ? MODEL_NONE : s->module_rank[module];
}

static int compare_functions(const void *pa, const void *pb, void *arg)
{
	const struct sorter *s = arg;
	const struct expand_function *a = &s->e->functions.at[*(const uint32_t *)pa],
				     *b = &s->e->functions.at[*(const uint32_t *)pb];
	int c = a->name == b->name ? 0 : strcmp(get_string(s, a->name), get_string(s, b->name));
	if (c == 0)
		c = compare_u64(module_rank(s, a->module), module_rank(s, b->module));
	if (c == 0)
		c = compare_u64(file_rank(s, a->file), file_rank(s, b->file));
	if (c == 0)
		c = compare_u64(a->line, b->line);
	if (c == 0)
		c = compare_u64(a->link_addr, b->link_addr);
	if (c == 0)
		c = strcmp(get_string(s, a->linkage_name), get_string(s, b->linkage_name));
	if (c == 0)
		c = compare_u64(a->gpu_kind, b->gpu_kind);
	return c ? c : compare_u64(a->definition, b->definition);
}

/* Ranks of 0 .. n-1 under `compare`; NULL if memory is short. */
static uint32_t *rank_of(struct sorter *s, uint32_t n,
			 int (*compare)(const void *, const void *, void *))
{
	uint32_t *order = malloc((n ? n : 1) * sizeof *order),
		 *rank = malloc((n ? n : 1) * sizeof *rank);
	if (order && rank) {
		for (uint32_t i = 0; i < n; i++)
			order[i] = i;
		qsort_r(order, n, sizeof *order, compare, s);
		for (uint32_t i = 0; i < n; i++)
			rank[order[i]] = i;
	} else {
		free(rank);
		rank = NULL;
	}
	free(order);
	return rank;
}

/* Leaves out modules without a function and renumbers the others. */
static bool put_modules(struct sorter *s)
{
	uint32_t n = s->n_modules + 1, n_used = 0;
	uint32_t *rank = s->module_rank = rank_of(s, n, compare_modules);
	uint32_t *old = calloc(n, sizeof *old);
	bool *used = calloc(n, sizeof *used);
	struct model_module *out = calloc(n, sizeof *out);
	if (!rank || !old || !used || !out) {
		free(old);
		free(used);
		free(out);
		return false;
	}
	for (size_t i = 0; i < s->e->functions.n; i++)
		if (s->e->functions.at[i].module != MODEL_NONE)
			used[s->e->functions.at[i].module] = true;
	for (uint32_t i = 0; i < n; i++)
		old[rank[i]] = i;
	for (uint32_t r = 0; r < n; r++) {
		if (!used[old[r]]) {
			rank[old[r]] = MODEL_NONE;
			continue;
		}
		const struct order_module *m = get_module(s, old[r]);
		out[n_used] = (struct model_module){
			.path = m->path,
			.build_id = m->build_id,
			.build_id_bytes = m->build_id_bytes,
			.structure = m->structure,
			.is_gpu = m->is_gpu,
			.is_python = m->is_python,
			.is_outside = m == &outside,
			.code = m->code,
			.record = m->record,
			.role = m->is_gpu || m->is_python ? MODEL_MODULE_PROGRAM
							  : (uint8_t)known_module(m->path)};
		rank[old[r]] = n_used++;
	}
	s->m->modules = s->m->private_->modules = out;
	s->m->n_modules = n_used;
	free(old);
	free(used);
	return true;
}

static bool put_files(struct sorter *s)
{
	uint32_t n = (uint32_t)s->e->files.n;
	struct model_file *out = calloc(n + 1, sizeof *out);
	s->file_rank = rank_of(s, n, compare_files);
	s->m->files = s->m->private_->files = out;
	if (!out || !s->file_rank)
		return false;
	for (uint32_t i = 0; i < n; i++)
		out[s->file_rank[i]].path = get_string(s, s->e->files.at[i]);
	s->m->n_files = n;
	return true;
}

static bool put_functions(struct sorter *s)
{
	uint32_t n = (uint32_t)s->e->functions.n;
	struct model_function *out = calloc(n + 1, sizeof *out);
	s->function_rank = rank_of(s, n, compare_functions);
	s->m->functions = s->m->private_->functions = out;
	if (!out || !s->function_rank)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct expand_function *f = &s->e->functions.at[i];
		out[s->function_rank[i]] =
			(struct model_function){.name = get_string(s, f->name),
						.module = module_rank(s, f->module),
						.file = file_rank(s, f->file),
						.line = f->line,
						.link_addr = f->link_addr,
						.gpu_kind = f->gpu_kind,
						.wait = f->wait,
						.is_unnamed = f->is_unnamed,
						.is_operator = f->is_operator,
						.is_range = f->is_range,
						.is_torch_module = f->is_torch_module,
						.is_launch = known_launch(get_string(s, f->name)),
						.is_node = f->is_node};
		if (!f->is_node)
			continue;
		struct model_function *node = &out[s->function_rank[i]];
		node->node_function = s->function_rank[f->node_function];
		node->node_file = file_rank(s, f->node_file);
		node->node_line = f->node_line;
	}
	s->m->n_functions = n;
	return true;
}

/* ---- contexts ---- */

static int compare_contexts(const void *pa, const void *pb, void *arg)
{
	const struct model_context *all = arg;
	const struct model_context *a = &all[*(const uint32_t *)pa],
				   *b = &all[*(const uint32_t *)pb];
	const uint64_t ka[] = {a->kind,     a->entry, a->end,  a->function,
			       a->relation, a->file,  a->line, a->link_addr};
	const uint64_t kb[] = {b->kind,     b->entry, b->end,  b->function,
			       b->relation, b->file,  b->line, b->link_addr};
	int c = 0;
	for (size_t i = 0; i < sizeof ka / sizeof *ka && c == 0; i++)
		c = compare_u64(ka[i], kb[i]);
	return c;
}

static void rename_in_contexts(struct sorter *s)
{
	for (size_t i = 0; i < s->e->contexts.n; i++) {
		struct model_context *c = &s->e->contexts.at[i];
		if (c->function != MODEL_NONE) {
			c->module = s->m->functions[s->function_rank[c->function]].module;
			c->function = s->function_rank[c->function];
		}
		c->file = file_rank(s, c->file);
		c->subtree_n = 1;
	}
	for (size_t i = s->e->contexts.n; i-- > 1;)
		s->e->contexts.at[s->e->contexts.at[i].parent].subtree_n +=
			s->e->contexts.at[i].subtree_n;
}

/* Children of each context, sorted: start[i] .. start[i + 1] in `children`. */
static void list_children(struct model_context *all, uint32_t n, uint32_t *start,
			  uint32_t *children)
{
	memset(start, 0, (n + 2) * sizeof *start);
	for (uint32_t i = 1; i < n; i++)
		start[all[i].parent + 2]++;
	for (uint32_t i = 0; i < n; i++)
		start[i + 1] += start[i]; /* one place ahead; filling moves it back */
	for (uint32_t i = 1; i < n; i++)
		children[start[all[i].parent + 1]++] = i;
	for (uint32_t i = 0; i < n; i++)
		if (start[i + 1] - start[i] > 1)
			qsort_r(children + start[i], start[i + 1] - start[i], sizeof *children,
				compare_contexts, all);
}

static bool put_contexts(struct sorter *s, size_t n_nodes)
{
	struct model_context *all = s->e->contexts.at;
	uint32_t n = (uint32_t)s->e->contexts.n;
	struct model_context *out = malloc(n * sizeof *out);
	uint32_t *start = malloc((n + 2) * sizeof *start),
		 *children = malloc((n + 1) * sizeof *children), *id = malloc(n * sizeof *id);
	bool ok = out && start && children && id;
	if (ok) {
		rename_in_contexts(s);
		list_children(all, n, start, children);
		id[0] = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t next = id[i] + 1;
			for (uint32_t c = start[i]; c < start[i + 1]; c++) {
				id[children[c]] = next;
				next += all[children[c]].subtree_n;
			}
			out[id[i]] = all[i];
			if (i)
				out[id[i]].parent = id[all[i].parent];
		}
		for (size_t i = 0; i < n_nodes; i++)
			s->e->context_of[i] = id[s->e->context_of[i]];
		s->m->contexts = s->m->private_->contexts = out;
		s->m->n_contexts = n;
		s->e->final_of = id;
	} else {
		free(out);
		free(id);
	}
	free(start);
	free(children);
	return ok;
}

bool order_contexts(struct model *m, struct expand *e, size_t n_nodes,
		    const struct order_module *modules, uint32_t n_modules)
{
	struct sorter s = {.m = m, .e = e, .modules = modules, .n_modules = n_modules};
	bool ok = put_modules(&s) && put_files(&s) && put_functions(&s) &&
		  put_contexts(&s, n_nodes) &&
		  omp_regions_put(m, e, s.function_rank, s.file_rank);
	e->module_of = s.module_rank;
	free(s.file_rank);
	free(s.function_rank);
	return ok;
}
