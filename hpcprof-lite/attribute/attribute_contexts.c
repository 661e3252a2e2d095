/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns call paths into the contexts of the model. See attribute_steps.h. */
#include "common/base/log.h"
#include "hpcprof-lite/attribute/attribute_steps.h"
#include "hpcprof-lite/attribute/expand/order.h"
#include "hpcprof-lite/attribute/merge/jit_names.h"
#include "hpcprof-lite/attribute/merge/python_frames.h"
#include "hpcprof-lite/load/structures.h"

#include <stdlib.h>

/* ---- the structures of modules ---- */

/* What is known about the modules; all arrays are by module. */
struct modules {
	size_t n;
	bool *needed;
	const struct structure **structures;
	enum model_structure *states;
	struct expand_module *in;
	struct order_module *out;
};

static bool make_modules(struct modules *s, size_t n)
{
	*s = (struct modules){.n = n,
			      .needed = calloc(n + 1, sizeof *s->needed),
			      .structures = calloc(n + 1, sizeof *s->structures),
			      .states = calloc(n + 1, sizeof *s->states),
			      .in = calloc(n + 1, sizeof *s->in),
			      .out = calloc(n + 1, sizeof *s->out)};
	return s->needed && s->structures && s->states && s->in && s->out;
}

static void free_modules(struct modules *s)
{
	free(s->needed);
	free(s->structures);
	free(s->states);
	free(s->in);
	free(s->out);
}

static bool is_python(const struct merge_module *m)
{
	return m->flags & (PYTHON_MODULE | MSR_MODULE_PYTHON);
}

static bool is_jit(const struct merge_module *m)
{
	return m->flags & JIT_MODULE;
}

/*
 * Lists the frames that are in a module, and marks as needed those of their modules that are native
 * code.
 */
static size_t list_frames(const struct attribution *a, struct modules *s,
			  struct attribute_frame *frames)
{
	size_t n = 0;
	for (size_t i = 0; i < a->trees[0].nodes.n; i++) {
		const struct merge_node *node = &a->trees[0].nodes.at[i];
		if (node->module >= s->n)
			continue;
		const struct merge_module *m = &a->modules.list.at[node->module];
		s->needed[node->module] = !is_python(m) && !is_jit(m);
		frames[n++] = (struct attribute_frame){node->module, node->link_addr};
	}
	return n;
}

static bool ask_topics(const struct topic_run *r, bool *needed, size_t n)
{
	bool ok = true;
	for (size_t i = 0; ok && r->topics[i]; i++)
		if (r->topics[i]->need)
			ok = r->topics[i]->need(r->states[i], r, needed, n);
	return ok;
}

static bool find_structures(struct attribution *a, struct modules *s)
{
	struct attribute_frame *frames = calloc(a->trees[0].nodes.n + 1, sizeof *frames);
	const size_t n = frames ? list_frames(a, s, frames) : 0;
	const bool ok = frames && ask_topics(&a->run, s->needed, s->n);
	if (ok && a->o->find_structures)
		a->o->find_structures(a->o->arg, &a->modules, s->needed, frames, n, s->structures,
				      s->states);
	free(frames);
	return ok;
}

static void describe_modules(const struct attribution *a, struct modules *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct merge_module *m = &a->modules.list.at[i];
		s->in[i] =
			(struct expand_module){m->path, s->structures[i], is_python(m), is_jit(m)};
		s->out[i] = (struct order_module){
			m->path,
			m->record->build_id,
			m->record->build_id_bytes,
			m->record->file_bytes,
			is_python(m) || is_jit(m) ? MODEL_STRUCTURE_LINES : s->states[i],
			(m->flags & LOAD_MODULE_GPU) != 0,
			is_python(m),
			a->o->instructions ? s->structures[i] : NULL,
			m->record};
	}
}

/* ---- contexts ---- */

static bool expand(struct attribution *a, const struct modules *s)
{
	struct topic_run *r = &a->run;
	const uint32_t n = (uint32_t)s->n;
	a->expand.python = a->modules.python;
	a->expand.n_python = a->modules.n_python;
	a->expand.jit = a->modules.jit;
	a->expand.n_jit = a->modules.n_jit;
	if (!expand_tree(&a->expand, &a->trees[0], s->in, n, !r->internals))
		return false;
	r->context_of = a->expand.context_of;
	r->expand_modules = s->in;
	const bool ok = attribute_step(a, TOPIC_EXPAND);
	r->expand_modules = NULL;
	return ok && order_contexts(r->m, &a->expand, a->trees[0].nodes.n, s->out, n);
}

bool attribute_contexts(struct attribution *a)
{
	struct modules s;
	log_progress("functions and lines", 0, 0);
	bool ok = make_modules(&s, a->modules.list.n) && find_structures(a, &s);
	if (ok) {
		describe_modules(a, &s);
		ok = expand(a, &s);
	}
	log_progress(NULL, 0, 0);
	free_modules(&s);
	/* from here on, only context_of is needed; memory limits this program, so free the rest */
	merge_free(&a->trees[0]);
	expand_shrink(&a->expand);
	return ok;
}
