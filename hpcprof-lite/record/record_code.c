/* SPDX-License-Identifier: BSD-3-Clause */
/* Code, metrics, the tree and its totals; see record.h. Test: tests/cli/sink/sink_agree.sh. */
#include "hpcprof-lite/record/record_build.h"
#include "hpcprof-lite/record/words.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_launch.h"
#include "hpcprof-lite/view/view_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- modules, files and functions ---- */

static struct value build_id_of(const struct record *r)
{
	enum { MOST_BYTES = 64 };
	static _Thread_local char text[2 * MOST_BYTES + 1];
	const struct model_module *x = r->at;
	text[0] = '\0';
	for (uint32_t i = 0; i < x->build_id_bytes && i < MOST_BYTES; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", x->build_id[i]);
	return value_text(text);
}

static const struct field module_fields[] = {
	KEY,
	WORD(model_module, structure, words_structure,
	     "What is known of its code: none, changed, symbols, lines"),
	GET(FIELD_TEXT, "build_id", build_id_of, "Of a GPU's code the hash of its content"),
	TEXT(model_module, path, "path", NULL),
	WORD(model_module, role, words_role, "program, interpreter, launch, start"),
	FLAG(model_module, is_gpu, "Its code ran on a GPU"),
	FLAG(model_module, is_python, "A file of Python source"),
};
static const struct field file_fields[] = {KEY, TEXT(model_file, path, "path", NULL)};

static struct value function_name(const struct record *r)
{
	return value_text(names_function(r->m, r->id));
}

static struct value placeholder_of(const struct record *r)
{
	const struct model_function *f = r->at;
	return value_text(f->wait       ? "wait"
			  : f->is_range ? "range"
			  : f->gpu_kind ? msr_gpu_kind_name(f->gpu_kind)
					: NULL);
}

static const struct field function_fields[] = {
	KEY,
	ID(model_function, module, "module", NULL),
	ID(model_function, file, "file", "Of the definition"),
	MEMBER(FIELD_LINE, model_function, line, "line", "0: unknown"),
	MEMBER(FIELD_ADDRESS, model_function, link_addr, "address", "0: unknown"),
	GET(FIELD_TEXT, "name", function_name, NULL),
	FLAG(model_function, is_launch, "Asks for GPU work"),
	GET(FIELD_WORD, "placeholder", placeholder_of,
	    "<gpu kernel>, <blocked: file>, <range x>: operations, waits, NVTX"),
};
static const struct field gpu_module_fields[] = {KEY};
static const struct field gpu_function_fields[] = {
	KEY,
	{.name = "kind", .kind = FIELD_WORD, .word = words_op, FIELD_AT(model_function, gpu_kind)},
};
static const struct record_kind record_module = {
	.name = "module", .table = "module", .json = "modules", .parent = &record_run,
	.meaning = "A load module, or code of a GPU", .sinks = RECORD_ALL, FIELDS(module_fields),
	.is_wanted = record_always};
static const struct record_kind record_file = {
	.name = "file", .table = "file", .json = "files", .parent = &record_run,
	.meaning = "A source file, as the debug information names it", .form = RECORD_VALUES,
	.sinks = RECORD_ALL, FIELDS(file_fields), .is_wanted = record_always};
static const struct record_kind record_function = {
	.name = "function", .table = "function", .json = "functions", .parent = &record_run,
	.meaning = "A function", .sinks = RECORD_ALL, FIELDS(function_fields),
	.is_wanted = record_always};
static const struct record_kind record_gpu_module = {
	.name = "gpu-module", .meaning = "A module with code that ran on GPUs",
	.sinks = RECORD_TEXT, FIELDS(gpu_module_fields)};
static const struct record_kind record_gpu_function = {
	.name = "gpu-function", .meaning = "A placeholder for operations of this kind",
	.sinks = RECORD_TEXT, FIELDS(gpu_function_fields)};

/* ---- metrics ---- */

static bool is_sampled(const struct record *r)
{
	return ((const struct model_metric *)r->at)->kind == MODEL_METRIC_SAMPLED;
}

static const char *unit_word(unsigned unit)
{
	return unit <= MODEL_PERCENT ? model_unit_name((enum model_unit)unit) : NULL;
}

static const struct field metric_fields[] = {
	KEY,
	WORD(model_metric, unit, unit_word, "count, sec, B, J, %"),
	COUNT(model_metric, period, "period", "The smallest of all processes"),
	{.name = "source",
	 .meaning = "Of the samples, in the first process",
	 .kind = FIELD_WORD,
	 .word = words_source,
	 .is_known = is_sampled,
	 FIELD_AT(model_metric, source)},
	TEXT(model_metric, event, "event", "As the user asked for it"),
	TEXT(model_metric, name, "name", "HPCToolkit's name, with its unit: CPUTIME (sec)"),
	TEXT(model_metric, description, "description", NULL),
	WORD(model_metric, kind, words_metric, "sampled, gpu-time, gpu-mean and so on"),
	WORD(model_metric, role, words_metric_role,
	     "What a metric of GPUs or MPI counts: kernel-time, mpi-wait and so on"),
	ID(model_metric, parent, "metric", "Contains this one"),
	ID(model_metric, divisor, "metric", "gpu-mean: people read value / value of the divisor"),
	COUNT(model_metric, period_most, "period_most", "The largest of all processes"),
	TEXT(model_metric, reason, "stall_reason", "Short name"),
	TEXT(model_metric, meaning, "meaning", "Of a stall reason"),
	TEXT(model_metric, hint, "hint", "What to look at"),
	FLAG(model_metric, apportioned, "Some of the samples were apportioned"),
};
/* "mean" of "gpu-mean". */
static const char *gpu_metric_kind(unsigned kind)
{
	return words_metric(kind) + strlen("gpu-");
}

static const struct field gpu_metric_fields[] = {
	KEY,
	WORD(model_metric, kind, gpu_metric_kind, "time, count, mean, samples, energy"),
	ID(model_metric, parent, NULL, NULL),
	ID(model_metric, divisor, NULL, NULL),
	FLAG(model_metric, apportioned, NULL),
};
static const struct field part_fields[] = {
	{.name = "metric", .kind = FIELD_KEY, .get = value_of_id},
	{.name = "parent", .kind = FIELD_ID, FIELD_AT(model_metric, parent)},
};
static const struct record_kind record_metric = {
	.name = "metric", .table = "metric", .json = "metrics", .parent = &record_run,
	.meaning = "A metric", .sinks = RECORD_ALL, FIELDS(metric_fields),
	.is_wanted = record_always};
static const struct record_kind record_guessed = {
	.name = "guessed", .meaning = "The part of the parent on paths with a guessed frame",
	.sinks = RECORD_TEXT, FIELDS(part_fields)};
static const struct record_kind record_activity = {
	.name = "activity", .meaning = "The part of the parent, a time, with this activity",
	.sinks = RECORD_TEXT, FIELDS(part_fields)};
static const struct record_kind record_gpu_metric = {
	.name = "gpu-metric", .meaning = "A metric of GPUs", .sinks = RECORD_TEXT,
	FIELDS(gpu_metric_fields)};

/* ---- contexts ---- */

static const struct model_context *context_of(const struct record *r)
{
	return r->at;
}

static bool is_entry(const struct record *r)
{
	return context_of(r)->kind == MODEL_CONTEXT_ENTRY;
}

static bool is_in_function(const struct record *r)
{
	return context_of(r)->kind >= MODEL_CONTEXT_FUNCTION;
}

static bool has_file(const struct record *r)
{
	return context_of(r)->file != MODEL_NONE;
}

static struct value path_end(const struct record *r)
{
	const struct model_context *c = context_of(r);
	if (!is_entry(r) || c->entry != MODEL_ENTRY_PARTIAL)
		return value_text(NULL);
	return value_text(c->end ? msr_path_end_name(c->end) : "unknown");
}

static struct value entry_name(const struct record *r)
{
	return value_text(is_entry(r) ? names_entry(context_of(r)) : NULL);
}

static struct value last_of(const struct record *r)
{
	return value_count(r->id + context_of(r)->subtree_n - 1);
}

static struct value is_kernel(const struct record *r)
{
	return value_count(view_is_kernel(r->m, r->id));
}

static struct value launch_site(const struct record *r)
{
	return value_id(view_is_kernel(r->m, r->id) ? view_launch_of(r->m, r->id).site
						    : MODEL_NONE);
}

/* `owner` has a bit for each enum view_by. */
static struct value is_outer_function(const struct record *r)
{
	return value_count(r->owner >> VIEW_BY_FUNCTION & 1);
}
static struct value is_outer_line(const struct record *r)
{
	return value_count(r->owner >> VIEW_BY_LINE & 1);
}
static struct value is_outer_module(const struct record *r)
{
	return value_count(r->owner >> VIEW_BY_MODULE & 1);
}

static const struct field context_fields[] = {
	KEY,
	ID(model_context, parent, "context", NULL),
	{.name = "subtree", .meaning = "Contexts in it, with this one", .kind = FIELD_COUNT,
	 .sinks = RECORD_TEXT | RECORD_JSON, FIELD_AT(model_context, subtree_n)},
	{.name = "last", .meaning = "The descendants are id + 1 to last", .kind = FIELD_ID,
	 .sinks = RECORD_SQL, .get = last_of},
	WORD(model_context, kind, words_context, "root, entry, function, loop, line, instruction"),
	WORD(model_context, relation, words_relation, "To the parent: lexical, call, inlined"),
	{.name = "guessed", .kind = FIELD_BOOL, .is_optional = true,
	 .meaning = "A heuristic found its frame", FIELD_AT(model_context, marked)},
	{.name = "function", .kind = FIELD_ID, .of = "function", .is_optional = true,
	 .is_known = is_in_function, FIELD_AT(model_context, function)},
	{.name = "module", .kind = FIELD_ID, .of = "module", .is_optional = true,
	 FIELD_AT(model_context, module)},
	{.name = "file", .kind = FIELD_ID, .of = "file", .is_optional = true,
	 FIELD_AT(model_context, file)},
	{.name = "line", .kind = FIELD_LINE, .is_optional = true, .is_known = has_file,
	 FIELD_AT(model_context, line)},
	{.name = "address", .kind = FIELD_ADDRESS, .is_optional = true,
	 FIELD_AT(model_context, link_addr)},
	{.name = "entry", .meaning = "main, thread, partial and so on", .kind = FIELD_WORD,
	 .is_optional = true, .word = words_entry, .is_known = is_entry,
	 FIELD_AT(model_context, entry)},
	{.name = "end", .meaning = "Why a partial path ends", .kind = FIELD_WORD,
	 .is_optional = true, .get = path_end},
	{.name = "name", .meaning = "Of an entry", .kind = FIELD_WORD, .is_optional = true,
	 .get = entry_name},
	{.name = "is_outer_function", .kind = FIELD_BOOL, .sinks = RECORD_SQL,
	 .meaning = "No context above is of the same function: sums of `execution` over these "
		    "count recursion once",
	 .get = is_outer_function},
	{.name = "is_outer_line", .meaning = "... of the same line", .kind = FIELD_BOOL,
	 .sinks = RECORD_SQL, .get = is_outer_line},
	{.name = "is_outer_module", .meaning = "... of the same module", .kind = FIELD_BOOL,
	 .sinks = RECORD_SQL, .get = is_outer_module},
	{.name = "is_kernel", .meaning = "A GPU kernel; its values count here",
	 .kind = FIELD_BOOL, .is_optional = true, .get = is_kernel},
	{.name = "launch_site", .meaning = "Of a kernel: the place in the program that launched it",
	 .kind = FIELD_ID, .of = "context", .is_optional = true, .get = launch_site},
};
static const struct record_kind record_context = {
	.name = "context", .table = "context", .json = "contexts", .parent = &record_run,
	.meaning = "The calling-context tree in preorder; 0 is the root", .sinks = RECORD_ALL,
	FIELDS(context_fields), .is_wanted = record_always};

/* ---- totals ---- */

#define SCOPES(array)                                                                              \
	REAL(model_total, array[MODEL_POINT], "point", "At the context itself"),                   \
		REAL(model_total, array[MODEL_FUNCTION], "function", "What is lexically inside"),  \
		REAL(model_total, array[MODEL_LEX_AWARE], "lex_aware", "... but inner loops"),     \
		REAL(model_total, array[MODEL_EXECUTION], "execution", "With all below")
#define SPREAD(array, scope, name_)                                                                \
	{.name = (name_), .kind = FIELD_REAL, .sinks = RECORD_TEXT,                                \
	 FIELD_AT(model_total, array[scope])}
#define SPREADS(array, name)                                                                       \
	SPREAD(array, MODEL_POINT, name "_point"),                                                 \
		SPREAD(array, MODEL_FUNCTION, name "_function"),                                   \
		SPREAD(array, MODEL_LEX_AWARE, name "_lex_aware"),                                 \
		SPREAD(array, MODEL_EXECUTION, name "_execution")

static const struct field total_fields[] = {
	ID(model_total, context, "context", NULL),
	ID(model_total, metric, "metric", NULL),
	COUNT(model_total, n_profiles, "profiles", "With a value"),
	COUNT(model_total, n_samples, "samples", "At the context itself"),
	SCOPES(sum),
	SPREADS(sum_of_squares, "squares"),
	SPREADS(min, "least"),
	SPREADS(max, "most"),
};
static const struct record_kind record_total = {
	.name = "total", .table = "total", .json = "totals", .parent = &record_run,
	.meaning = "Sums over all threads", .form = RECORD_TUPLES, .sinks = RECORD_ALL,
	FIELDS(total_fields), .is_wanted = record_always};

/* ---- visits ---- */

static void visit_code(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	for (uint32_t i = 0; i < m->n_modules; i++)
		record_visit(v, &r, &record_module, &m->modules[i], i);
	for (uint32_t i = 0; i < m->n_files; i++)
		record_visit(v, &r, &record_file, &m->files[i], i);
	for (uint32_t i = 0; i < m->n_functions; i++)
		record_visit(v, &r, &record_function, &m->functions[i], i);
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		record_visit(v, &r, &record_metric, k, i);
		if (k->kind == MODEL_METRIC_GUESSED)
			record_visit(v, &r, &record_guessed, k, i);
	}
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_ACTIVITY)
			record_visit(v, &r, &record_activity, &m->metrics[i], i);
}

static bool is_of_gpu(const struct model_metric *k)
{
	return k->kind == MODEL_METRIC_GPU_TIME || k->kind == MODEL_METRIC_GPU_COUNT ||
	       k->kind == MODEL_METRIC_GPU_MEAN || k->kind == MODEL_METRIC_GPU_SAMPLES ||
	       k->kind == MODEL_METRIC_GPU_ENERGY;
}

/* Visits the code that belongs to GPUs. */
static void visit_gpu_code(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	for (uint32_t i = 0; i < m->n_modules; i++)
		if (m->modules[i].is_gpu)
			record_visit(v, &r, &record_gpu_module, &m->modules[i], i);
	for (uint32_t i = 0; i < m->n_functions; i++)
		if (view_is_placeholder(m, i))
			record_visit(v, &r, &record_gpu_function, &m->functions[i], i);
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (is_of_gpu(&m->metrics[i]))
			record_visit(v, &r, &record_gpu_metric, &m->metrics[i], i);
}

static bool visit_contexts(const struct model *m, struct record_visitor *v)
{
	bool *outer = NULL;
	bool is_sql = v->sink == RECORD_SQL;
	uint8_t *all = is_sql ? calloc(m->n_contexts + 1, 1) : NULL;
	bool ok = !is_sql || all;
	for (unsigned by = VIEW_BY_FUNCTION; is_sql && ok && by <= VIEW_BY_MODULE; by++) {
		outer = calloc(m->n_contexts + 1, sizeof *outer);
		ok = outer && view_find_outermost(m, (enum view_by)by, outer);
		for (uint32_t i = 0; ok && i < m->n_contexts; i++)
			all[i] = (uint8_t)(all[i] | outer[i] << by);
		free(outer);
	}
	for (uint32_t i = 0; ok && i < m->n_contexts; i++) {
		const struct record r = {.m = m, .owner = all ? all[i] : 0};
		record_visit(v, &r, &record_context, &m->contexts[i], i);
	}
	free(all);
	return ok;
}

static bool visit_all(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	visit_code(m, v);
	if (m->has_gpu)
		visit_gpu_code(m, v);
	if (!visit_contexts(m, v))
		return false;
	for (size_t i = 0; i < m->n_totals && !v->is_done; i++)
		record_visit(v, &r, &record_total, &m->totals[i], (uint32_t)i);
	return true;
}

static const struct record_kind *const kinds[] = {
	&record_module, &record_file, &record_function, &record_gpu_module, &record_gpu_function,
	&record_metric, &record_guessed, &record_activity, &record_gpu_metric, &record_context,
	&record_total};
const struct record_part record_part_code = {KINDS(kinds), visit_all};
