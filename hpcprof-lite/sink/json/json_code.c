/* SPDX-License-Identifier: BSD-3-Clause */
/* Code, the tree and its totals; see json.h. Test: tests/cli/sink/sink_json.sh. */
#include "hpcprof-lite/sink/json/json.h"

#include "hpcprof-lite/sink/names.h"

#include <stdio.h>

static void put_modules(struct json *j, const struct model *m)
{
	json_begin(j, "modules", '[');
	for (uint32_t i = 0; i < m->n_modules; i++) {
		const struct model_module *x = &m->modules[i];
		char id[2 * 64 + 1] = "";
		for (uint32_t k = 0; k < x->build_id_bytes && k < 64; k++)
			snprintf(id + 2 * (size_t)k, 3, "%02x", x->build_id[k]);
		json_begin(j, NULL, '{');
		json_text(j, "path", x->path);
		json_text(j, "build_id", id);
		json_text(j, "structure", words_structure(x->structure));
		json_text(j, "role", words_role((enum model_module_role)x->role));
		json_bool(j, "is_gpu", x->is_gpu);
		json_bool(j, "is_python", x->is_python);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_begin(j, "files", '[');
	for (uint32_t i = 0; i < m->n_files; i++)
		json_text(j, NULL, m->files[i].path);
	json_end(j, ']');
}

static void put_functions(struct json *j, const struct model *m)
{
	json_begin(j, "functions", '[');
	for (uint32_t i = 0; i < m->n_functions; i++) {
		const struct model_function *f = &m->functions[i];
		json_begin(j, NULL, '{');
		json_text(j, "name", names_function(m, i));
		json_id(j, "module", f->module);
		json_id(j, "file", f->file);
		json_u64(j, "line", f->line);
		json_hex(j, "address", f->link_addr);
		json_bool(j, "is_launch", f->is_launch);
		json_text(j, "placeholder",
			  f->wait       ? "wait"
			  : f->is_range ? "range"
			  : f->gpu_kind ? msr_gpu_kind_name((enum msr_gpu_kind)f->gpu_kind)
					: NULL);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_contexts(struct json *j, const struct model *m)
{
	json_begin(j, "contexts", '[');
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		bool is_entry = c->kind == MODEL_CONTEXT_ENTRY;
		json_begin(j, NULL, '{');
		json_id(j, "parent", c->parent);
		json_u64(j, "subtree", c->subtree_n);
		json_text(j, "kind", words_context((enum model_context_kind)c->kind));
		json_text(j, "relation", words_relation((enum model_relation)c->relation));
		if (is_entry) {
			json_text(j, "entry", words_entry((enum model_entry)c->entry));
			json_text(j, "name", names_entry(c));
		}
		if (c->function != MODEL_NONE && !is_entry && i)
			json_u64(j, "function", c->function);
		if (c->module != MODEL_NONE)
			json_u64(j, "module", c->module);
		if (c->file != MODEL_NONE) {
			json_u64(j, "file", c->file);
			json_u64(j, "line", c->line);
		}
		if (c->link_addr)
			json_hex(j, "address", c->link_addr);
		if (c->marked)
			json_bool(j, "guessed", true);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_metrics(struct json *j, const struct model *m)
{
	json_begin(j, "metrics", '[');
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		json_begin(j, NULL, '{');
		json_text(j, "name", k->name);
		json_text(j, "event", k->event);
		json_text(j, "unit", k->unit);
		json_text(j, "description", k->description);
		json_text(j, "kind", words_metric((enum model_metric_kind)k->kind));
		json_text(j, "role", words_metric_role((enum model_metric_role)k->role));
		json_id(j, "parent", k->parent);
		json_id(j, "divisor", k->divisor);
		json_u64(j, "period", k->period);
		json_u64(j, "period_most", k->period_most);
		json_text(j, "source",
			  k->kind == MODEL_METRIC_SAMPLED ? words_source(k->source) : NULL);
		json_text(j, "stall_reason", k->reason);
		json_text(j, "meaning", k->meaning);
		json_text(j, "hint", k->hint);
		json_bool(j, "apportioned", k->apportioned);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_totals(struct json *j, const struct model *m)
{
	json_begin(j, "totals", '[');
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		json_begin(j, NULL, '[');
		json_u64(j, NULL, t->context);
		json_u64(j, NULL, t->metric);
		json_u64(j, NULL, t->n_profiles);
		json_u64(j, NULL, t->n_samples);
		for (unsigned k = 0; k < MODEL_N_SCOPES; k++)
			json_real(j, NULL, t->sum[k]);
		json_end(j, ']');
	}
	json_end(j, ']');
}

void json_put_code(struct json *j, const struct model *m)
{
	put_modules(j, m);
	put_functions(j, m);
	put_metrics(j, m);
	put_contexts(j, m);
	put_totals(j, m);
}
