/* SPDX-License-Identifier: BSD-3-Clause */
/* See torch_fold.h. Test: tests/unit/prof_torch/test_torch_fold.c. */
#include "hpcprof-lite/attribute/expand/torch_fold.h"

#include "hpcprof-lite/attribute/known/known_code.h"
#include "hpcprof-lite/attribute/known/known_torch.h"
#include "hpcprof-lite/attribute/merge/python_frames.h"

#include <stdlib.h>

/* The state of a path after a frame. */
enum state {
	ELSEWHERE,
	IN_OPERATOR, /* in an operator or node, with only glue below it */
	IN_ENGINE
};

struct torch_fold {
	struct expand_run *r;
	const struct merge_tree *tree;
	bool *is_torch;   /* by module */
	bool *is_binding; /* by module: the part of PyTorch that Python calls */
	bool *is_interpreter; /* by module */
	uint8_t *kind;    /* by node: enum torch_kind */
	uint8_t *state;   /* by node: enum state */
	/* by node: an unnamed frame of PyTorch from which only such frames lead to a known one */
	bool *leads;
	/* by node: the context of the module that it calls or is a part of; 0: none */
	uint32_t *module;
};

/* The name of the function at a frame; NULL: it has none. */
static const char *find_name(const struct torch_fold *f, const struct merge_node *n)
{
	const struct structure *s = f->r->modules[n->module].structure;
	struct structure_place place;
	if (!s || !structure_lookup(s, n->link_addr, &place) || place.scope == STRUCTURE_NONE)
		return NULL;
	struct structure_scope scope = structure_get_scope(s, place.scope);
	while (scope.parent != STRUCTURE_NONE)
		scope = structure_get_scope(s, scope.parent);
	return scope.origin == STRUCTURE_FROM_EH_FRAME ? NULL : scope.name;
}

static bool is_native(const struct torch_fold *f, const struct merge_node *n)
{
	return n->module < f->r->n_modules && !f->r->modules[n->module].is_python &&
	       !f->r->modules[n->module].is_jit;
}

/* Goes from the leaves up, because `leads` of a node depends on its children. */
static void find_kinds(struct torch_fold *f)
{
	for (size_t i = f->tree->nodes.n; i-- > 1;) {
		const struct merge_node *n = &f->tree->nodes.at[i];
		char ignored[TORCH_NAME_BYTES];
		if (!is_native(f, n))
			continue;
		const char *name = find_name(f, n);
		if (name)
			f->kind[i] = (uint8_t)known_torch(name, ignored);
		if (f->kind[i] == TORCH_GLUE && !f->is_torch[n->module])
			/* a template instantiated by an extension */
			f->kind[i] = TORCH_OTHER;
		if (name || !f->is_torch[n->module])
			f->leads[i] = false;
		if (f->leads[i] || f->kind[i] != TORCH_OTHER)
			f->leads[n->parent] = true;
	}
}

/* Returns NULL if the frame is not Python's. */
static const struct python_function *find_python(const struct torch_fold *f,
						 const struct merge_node *n)
{
	if (n->module >= f->r->n_modules || !f->r->modules[n->module].is_python)
		return NULL;
	const uint64_t number = n->link_addr >> PYTHON_LINE_BITS;
	return number < f->r->e->n_python ? &f->r->e->python[number] : NULL;
}

/*
 * A module of PyTorch and its forward() share one context: lines of forward() are lines of the
 * module. False: the frame is neither.
 */
static bool enter_python(struct torch_fold *f, uint32_t i, uint32_t above, uint32_t *context)
{
	const struct merge_node *n = &f->tree->nodes.at[i];
	const struct python_function *p = find_python(f, n);
	const uint32_t module = f->module[n->parent], line = n->link_addr & PYTHON_LINE_MAX;
	if (!p)
		return false;
	if (p->is_torch_module) {
		*context = expand_enter_frame(f->r, above, n);
		f->module[i] = *context;
		return true;
	}
	if (p->file && known_torch_wrapper(p->file, p->name)) {
		f->module[i] = module;
		return true;
	}
	if (!module || !p->file || !known_torch_forward(p->file, p->name))
		return false;
	f->module[i] = module;
	*context = line ? expand_enter_line(f->r, module, MODEL_CONTEXT_LINE,
					    expand_intern_file(f->r, p->file), line)
			: module;
	return true;
}

static uint32_t enter_named(struct torch_fold *f, const struct merge_node *n, uint32_t above,
			    const char *name)
{
	struct expand_run *r = f->r;
	const uint32_t function = expand_find_named(
		r, (struct expand_function){.name = expand_intern_name(r, name, n->marked),
					    .linkage_name = strtab_add_z(r->e->strings, ""),
					    .module = n->module,
					    .file = MODEL_NONE,
					    .definition = MODEL_NONE,
					    .is_operator = true,
					    .guessed = n->marked});
	return r->failed ? 0 : expand_enter_function(r, above, function, MODEL_CALL);
}

bool torch_fold_enter(struct torch_fold *f, uint32_t i, uint32_t above, uint32_t *context)
{
	const struct merge_node *n = &f->tree->nodes.at[i];
	const uint8_t outer = f->state[n->parent];
	char name[TORCH_NAME_BYTES];
	*context = above;
	if (enter_python(f, i, above, context))
		return true;
	if (!is_native(f, n))
		return false;
	if (f->is_interpreter[n->module]) /* may call forward() */
		f->module[i] = f->module[n->parent];
	switch (f->kind[i]) {
	case TORCH_OPERATOR:
	case TORCH_NODE:
		known_torch(find_name(f, n), name);
		f->state[i] = IN_OPERATOR;
		*context = enter_named(f, n, above, name);
		if (!f->is_torch[n->module] && !f->r->failed)
			*context = expand_enter_frame(f->r, *context, n); /* CppNode<...> */
		return true;
	case TORCH_ENGINE:
		f->state[i] = IN_ENGINE;
		if (outer != IN_ENGINE)
			*context = enter_named(f, n, above, "autograd engine");
		return true;
	case TORCH_GLUE: f->state[i] = outer; return true;
	default: break;
	}
	if (!f->leads[i])
		return false;
	/* static functions of a stripped library that lead to a frame with a name */
	f->state[i] = outer;
	return outer != ELSEWHERE || f->is_binding[n->module];
}

/*
 * Below "backward", as below "autograd engine", frames of the engine are left out up to the node.
 */
uint32_t torch_fold_backward(struct expand_run *r, uint32_t i, uint32_t above)
{
	const uint32_t function = expand_find_named(
		r, (struct expand_function){.name = strtab_add_z(r->e->strings, "backward"),
					    .linkage_name = strtab_add_z(r->e->strings, ""),
					    .module = MODEL_NONE,
					    .file = MODEL_NONE,
					    .definition = MODEL_NONE,
					    .is_operator = true});
	if (r->torch)
		r->torch->state[i] = IN_ENGINE;
	return r->failed ? 0 : expand_enter_function(r, above, function, MODEL_CALL);
}

bool torch_fold_open(struct expand_run *r, const struct merge_tree *t, struct torch_fold **fold)
{
	bool any = false;
	*fold = NULL;
	for (uint32_t i = 0; i < r->n_modules && !any; i++)
		any = known_torch_library(r->modules[i].path);
	for (size_t i = 0; i < r->e->n_python && !any; i++)
		any = r->e->python[i].is_torch_module;
	if (!any)
		return true;
	struct torch_fold *f = calloc(1, sizeof *f);
	*fold = f;
	if (!f)
		return false;
	*f = (struct torch_fold){.r = r,
				 .tree = t,
				 .is_torch = calloc((size_t)r->n_modules + 1, sizeof *f->is_torch),
				 .is_binding =
					 calloc((size_t)r->n_modules + 1, sizeof *f->is_binding),
				 .is_interpreter = calloc((size_t)r->n_modules + 1,
							  sizeof *f->is_interpreter),
				 .kind = calloc(t->nodes.n + 1, sizeof *f->kind),
				 .state = calloc(t->nodes.n + 1, sizeof *f->state),
				 .leads = calloc(t->nodes.n + 1, sizeof *f->leads),
				 .module = calloc(t->nodes.n + 1, sizeof *f->module)};
	if (!f->is_torch || !f->is_binding || !f->is_interpreter || !f->kind || !f->state ||
	    !f->leads || !f->module)
		return false;
	for (uint32_t i = 0; i < r->n_modules; i++) {
		f->is_torch[i] = known_torch_library(r->modules[i].path);
		f->is_binding[i] = known_torch_binding(r->modules[i].path);
		f->is_interpreter[i] =
			known_module(r->modules[i].path) == MODEL_MODULE_INTERPRETER;
	}
	find_kinds(f);
	return true;
}

void torch_fold_close(struct torch_fold *f)
{
	if (!f)
		return;
	free(f->is_torch);
	free(f->is_binding);
	free(f->is_interpreter);
	free(f->kind);
	free(f->state);
	free(f->leads);
	free(f->module);
	free(f);
}
