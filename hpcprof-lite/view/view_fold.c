/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See view_fold.h. Folds only frames of the interpreter, and of libc below an entry. Test:
 * tests/unit/prof/test_view_fold.c, tests/cli/python/python_report.sh.
 */
#include "hpcprof-lite/view/view_fold.h"

#include <stdlib.h>

/* Where the chain of interpreter frames that ends at a context began. */
struct state {
	uint32_t from;  /* line of a Python function, or entry; MODEL_NONE: no chain */
	bool is_native; /* a frame of the chain, or part of one */
};

static bool is_python(const struct model *m, uint32_t module)
{
	return module < m->n_modules && m->modules[module].is_python;
}

static struct state state_of(const struct model *m, const struct state *all, uint32_t c)
{
	const struct model_context *x = &m->contexts[c];
	const struct state none = {MODEL_NONE, false},
			   parent = x->parent == MODEL_NONE ? none : all[x->parent];
	switch (x->kind) {
	case MODEL_CONTEXT_ENTRY: return (struct state){c, false};
	case MODEL_CONTEXT_FUNCTION: {
		uint32_t module = m->functions[x->function].module;
		if (m->functions[x->function].is_torch_module)
			return (struct state){c, false};
		unsigned role =
			module < m->n_modules ? m->modules[module].role : MODEL_MODULE_PROGRAM;
		bool at_start = parent.from != MODEL_NONE &&
				m->contexts[parent.from].kind == MODEL_CONTEXT_ENTRY;
		bool goes_on =
			parent.from != MODEL_NONE && (role == MODEL_MODULE_INTERPRETER ||
						      (role == MODEL_MODULE_START && at_start));
		return goes_on ? (struct state){parent.from, true} : none;
	}
	case MODEL_CONTEXT_LINE: return is_python(m, x->module) ? (struct state){c, false} : parent;
	default: return parent;
	}
}

/* True for a Python function or operator that a chain of at least one interpreter frame calls. */
static bool is_moved(const struct model *m, const struct state *all, uint32_t c)
{
	const struct model_context *x = &m->contexts[c];
	return x->kind == MODEL_CONTEXT_FUNCTION && x->parent != MODEL_NONE &&
	       all[x->parent].is_native &&
	       (is_python(m, m->functions[x->function].module) ||
		m->functions[x->function].is_operator);
}

static void move(const struct model *m, const struct state *all, uint32_t c, struct view_fold *f)
{
	f->caller[c] = all[m->contexts[c].parent].from;
	for (uint32_t at = m->contexts[c].parent; at != f->caller[c] && !f->is_folded[at];
	     at = m->contexts[at].parent)
		f->is_folded[at] = true;
}

bool view_fold_open(const struct model *m, struct view_fold *f)
{
	*f = (struct view_fold){0};
	bool any = false;
	for (uint32_t i = 0; i < m->n_modules; i++)
		any = any || m->modules[i].is_python;
	if (!any)
		return true;
	struct state *all = calloc(m->n_contexts, sizeof *all);
	f->caller = calloc(m->n_contexts, sizeof *f->caller);
	f->is_folded = calloc(m->n_contexts, sizeof *f->is_folded);
	bool good = all && f->caller && f->is_folded;
	for (uint32_t c = 0; good && c < m->n_contexts; c++) {
		all[c] = state_of(m, all, c);
		f->caller[c] = MODEL_NONE;
		if (is_moved(m, all, c))
			move(m, all, c, f);
	}
	free(all);
	return good;
}

/* Sums up again from the leaves, instead of subtracting, so that no rounding errors remain. */
void view_fold_apply(const struct model *m, const struct view_fold *f, struct view_values *t)
{
	if (!f->caller || !t->total)
		return;
	for (uint32_t c = m->n_contexts; c-- > 0;) {
		if (!f->is_folded[c])
			continue;
		t->total[c] = t->self[c];
		for (uint32_t child = c + 1; child < c + m->contexts[c].subtree_n;
		     child += m->contexts[child].subtree_n)
			t->total[c] += f->caller[child] == MODEL_NONE ? t->total[child] : 0;
	}
}

void view_fold_close(struct view_fold *f)
{
	free(f->caller);
	free(f->is_folded);
}
