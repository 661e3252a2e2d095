/* SPDX-License-Identifier: BSD-3-Clause */
/* See expand.h: the frames of CPUs. Test: tests/unit/prof/test_expand.c. */
#include "hpcprof-lite/attribute/expand/expand_run.h"

#include "hpcprof-lite/attribute/expand/expand_fold.h"
#include "hpcprof-lite/attribute/expand/nvtx_tree.h"
#include "hpcprof-lite/attribute/expand/torch_fold.h"
#include "hpcprof-lite/attribute/expand/waits.h"
#include "hpcprof-lite/attribute/known/known_code.h"
#include "hpcprof-lite/attribute/known/known_runtime.h"
#include "hpcprof-lite/attribute/known/known_waits.h"
#include "hpcprof-lite/attribute/merge/jit_names.h"
#include "hpcprof-lite/attribute/merge/python_frames.h"
#include "hpcprof-lite/attribute/merge/wait_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCOPE_DEPTH = 512 }; /* of inlined calls in one function */

uint32_t expand_enter_scopes(struct expand_run *r, uint32_t at, uint32_t module, uint32_t innermost,
			     bool guessed)
{
	const struct structure *s = r->modules[module].structure;
	uint32_t chain[MAX_SCOPE_DEPTH];
	unsigned n = 0;
	for (uint32_t id = innermost; id != STRUCTURE_NONE && n < MAX_SCOPE_DEPTH;
	     id = structure_get_scope(s, id).parent)
		chain[n++] = id;
	enum model_relation relation = MODEL_CALL;
	while (n--) {
		struct structure_scope scope = structure_get_scope(s, chain[n]);
		if (scope.kind == STRUCTURE_LOOP) {
			at = expand_enter_loop(r, at, module, &scope);
			continue;
		}
		if (scope.kind == STRUCTURE_INLINE && relation == MODEL_INLINED &&
		    scope.call_file != STRUCTURE_NONE && scope.call_line)
			at = expand_enter_line(r, at, MODEL_CONTEXT_LINE,
					       expand_find_file(r, module, scope.call_file),
					       scope.call_line);
		at = expand_enter_function(r, at, expand_find_function(r, module, &scope, guessed),
					   relation);
		relation = MODEL_INLINED;
	}
	return at;
}

static uint32_t enter_python(struct expand_run *r, uint32_t caller, uint64_t place)
{
	uint32_t number = (uint32_t)(place >> PYTHON_LINE_BITS),
		 line = (uint32_t)place & PYTHON_LINE_MAX;
	if (number >= r->e->n_python)
		return caller;
	uint32_t at = expand_enter_function(r, caller, expand_find_python(r, number), MODEL_CALL);
	if (r->e->python[number].is_torch_module)
		return at;
	uint32_t file =
		r->failed ? MODEL_NONE : r->e->functions.at[r->e->contexts.at[at].function].file;
	if (r->failed)
		return 0;
	return file != MODEL_NONE && line ? expand_enter_line(r, at, MODEL_CONTEXT_LINE, file, line)
					  : expand_enter_instruction(r, at, 0);
}

/*
 * With -X perf, CPython calls each Python function through generated code named
 * "py::function:file". That code is between frames of the interpreter and counts as one of them.
 * Returns the interpreter's module, or the node's own.
 */
static uint32_t trampoline_module(const struct expand_run *r, uint32_t caller,
				  const struct merge_node *n, const char *name)
{
	const struct model_context *c = &r->e->contexts.at[caller];
	while (c->kind != MODEL_CONTEXT_FUNCTION && c->parent != MODEL_NONE)
		c = &r->e->contexts.at[c->parent];
	if (strncmp(name, "py::", 4) != 0 || c->kind != MODEL_CONTEXT_FUNCTION)
		return n->module;
	const uint32_t module = r->e->functions.at[c->function].module;
	return module < r->n_modules &&
			       known_module(r->modules[module].path) == MODEL_MODULE_INTERPRETER
		       ? module
		       : n->module;
}

static uint32_t enter_jit(struct expand_run *r, uint32_t caller, const struct merge_node *n)
{
	if (n->link_addr >= r->e->n_jit)
		return caller;
	const struct jit_place *p = &r->e->jit[n->link_addr];
	const char *name = strtab_get(r->e->strings, p->name);
	const uint32_t module = trampoline_module(r, caller, n, name);
	const bool is_trampoline = module != n->module;
	struct expand_function f = {
		.name = n->marked || is_trampoline
				? expand_intern_name(r, is_trampoline ? "py_trampoline" : name,
						     n->marked)
				: p->name,
		.linkage_name = strtab_add_z(r->e->strings, ""),
		.module = module,
		.file = MODEL_NONE,
		.definition = MODEL_NONE,
		.guessed = n->marked};
	uint32_t at = expand_enter_function(r, caller, expand_find_named(r, f), MODEL_CALL);
	if (r->failed || p->file == JIT_NO_FILE)
		return r->failed ? 0 : expand_enter_instruction(r, at, 0);
	return expand_enter_line(r, at, MODEL_CONTEXT_LINE,
				 expand_intern_file(r, strtab_get(r->e->strings, p->file)),
				 p->line);
}

uint32_t expand_enter_place(struct expand_run *r, uint32_t at, uint32_t module,
			    const struct structure_place *p, uint64_t link_addr)
{
	if (p->file == STRUCTURE_NONE || !p->line)
		return expand_enter_instruction(r, at, link_addr);
	return expand_enter_line(r, at, MODEL_CONTEXT_LINE, expand_find_file(r, module, p->file),
				 p->line);
}

uint32_t expand_enter_frame(struct expand_run *r, uint32_t caller, const struct merge_node *n)
{
	if (n->module < r->n_modules && r->modules[n->module].is_python)
		return enter_python(r, caller, n->link_addr);
	if (n->module < r->n_modules && r->modules[n->module].is_jit)
		return enter_jit(r, caller, n);
	uint32_t module = n->module == MERGE_UNKNOWN ? r->n_modules : n->module;
	const struct structure *s = module < r->n_modules ? r->modules[module].structure : NULL;
	struct structure_place place = {.scope = STRUCTURE_NONE, .file = STRUCTURE_NONE};
	if (s && !structure_lookup(s, n->link_addr, &place))
		place = (struct structure_place){.scope = STRUCTURE_NONE, .file = STRUCTURE_NONE};
	uint32_t at = place.scope != STRUCTURE_NONE
			      ? expand_enter_scopes(r, caller, module, place.scope, n->marked)
			      : expand_enter_function(r, caller,
						      expand_find_unknown(r, module, n->marked),
						      MODEL_CALL);
	if (r->failed)
		return 0;
	return expand_enter_place(r, at, module, &place, n->link_addr);
}

static uint32_t enter_entry(struct expand_run *r, uint64_t synthetic)
{
	if (synthetic == MSR_ENTRY_MAIN)
		return expand_enter_entry(r, MODEL_ENTRY_MAIN, 0);
	if (synthetic == MSR_ENTRY_THREAD)
		return expand_enter_entry(r, MODEL_ENTRY_THREAD, 0);
	if (synthetic == MSR_ENTRY_OMP_IDLE)
		return expand_enter_entry(r, MODEL_ENTRY_OMP_IDLE, 0);
	uint64_t end =
		synthetic >= MSR_ENTRY_PARTIAL ? synthetic - MSR_ENTRY_PARTIAL : MSR_N_PATH_ENDS;
	return expand_enter_entry(r, MODEL_ENTRY_PARTIAL,
				  end < UINT8_MAX ? (uint8_t)end : UINT8_MAX);
}

/* Finds what the surrounding call of libc waits on, from the names of the frames. */
static enum known_wait_object find_wait_object(const struct expand_run *r, uint32_t at)
{
	for (; at != MODEL_NONE; at = r->e->contexts.at[at].parent) {
		const struct model_context *c = &r->e->contexts.at[at];
		if (c->kind != MODEL_CONTEXT_FUNCTION)
			continue;
		const struct expand_function *f = &r->e->functions.at[c->function];
		if (f->wait)
			continue;
		const enum runtime_library library =
			f->module < r->n_modules ? known_library(r->modules[f->module].path)
						 : RUNTIME_NONE;
		if (library != RUNTIME_SYSTEM && library != RUNTIME_OURS)
			break;
		const enum known_wait_object object =
			known_wait_object(strtab_get(r->e->strings, f->name));
		if (object != KNOWN_WAIT_NONE)
			return object;
	}
	return KNOWN_WAIT_NONE;
}

/* The name of the object. A lock inside a condition variable is called a condition variable. */
static uint32_t name_object(struct expand_run *r, uint32_t at, uint64_t synthetic)
{
	const bool is_lock = wait_objects_is_lock(synthetic);
	char *name;
	if (asprintf(&name, "<blocked: %s%s%s>",
		     is_lock ? known_wait_word(find_wait_object(r, at)) : "", is_lock ? " " : "",
		     strtab_get(r->e->strings, wait_objects_name(synthetic))) < 0)
		return STRTAB_FAILED;
	const uint32_t id = strtab_add_z(r->e->strings, name);
	free(name);
	return id;
}

/*
 * Makes "<blocked: file>" or another placeholder, and below it "<blocked: file /data/x>". An
 * unknown object adds nothing to its wait.
 */
static uint32_t enter_wait(struct expand_run *r, uint32_t at, uint64_t synthetic)
{
	uint32_t above = r->e->contexts.at[at].function;
	if (synthetic == MSR_WAIT_ON && above != MODEL_NONE && r->e->functions.at[above].wait)
		return at;
	const bool is_object = synthetic > MSR_WAIT_ON && above != MODEL_NONE;
	uint8_t wait = is_object ? r->e->functions.at[above].wait : waits_placeholder(synthetic);
	struct expand_function f = {.name = is_object
						    ? name_object(r, at, synthetic)
						    : strtab_add_z(r->e->strings, waits_name(wait)),
				    .linkage_name = strtab_add_z(r->e->strings, ""),
				    .module = MODEL_NONE,
				    .file = MODEL_NONE,
				    .definition = MODEL_NONE,
				    .wait = wait};
	uint32_t function = expand_find_named(r, f);
	return r->failed ? 0 : expand_enter_function(r, at, function, MODEL_CALL);
}

/* True for frames of import. Python's tracebacks leave them out, too. */
static bool is_import(const struct expand_run *r, const struct merge_node *n)
{
	const struct expand_module *m = n->module < r->n_modules ? &r->modules[n->module] : NULL;
	return m && m->is_python && known_import(m->path);
}

/* Makes the context of a node below `above`. */
static uint32_t enter_node(struct expand_run *r, uint32_t above, const struct merge_node *n)
{
	uint32_t context;
	if (r->folds && is_import(r, n))
		return above;
	const uint32_t i = (uint32_t)(n - r->tree->nodes.at);
	if (n->module == MERGE_BACKWARD)
		return torch_fold_backward(r, i, above);
	if (n->module != MERGE_NO_MODULE) {
		return r->torch && torch_fold_enter(r->torch, i, above, &context)
			       ? context
			       : expand_enter_frame(r, above, n);
	}
	return n->parent ? enter_wait(r, above, n->link_addr) : enter_entry(r, n->link_addr);
}

static void enter_all(struct expand_run *r, const struct merge_tree *t, bool folds)
{
	struct expand *e = r->e;
	struct model_context *root = vec_push(&e->contexts);
	e->context_of = malloc(t->nodes.n * sizeof *e->context_of);
	if (!root || !e->context_of) {
		r->failed = true;
		return;
	}
	*root = (struct model_context){.parent = MODEL_NONE,
				       .kind = MODEL_CONTEXT_ROOT,
				       .function = MODEL_NONE,
				       .module = MODEL_NONE,
				       .file = MODEL_NONE};
	e->context_of[0] = 0;
	struct expand_fold *fold = NULL;
	r->tree = t;
	r->folds = folds;
	r->failed = folds && (!expand_fold_open(r, t, &fold) || !torch_fold_open(r, t, &r->torch));
	for (uint32_t i = 1; i < t->nodes.n && !r->failed; i++) {
		const struct merge_node *n = &t->nodes.at[i];
		e->context_of[i] = n->module == MERGE_RANGE ? nvtx_tree_enter(r, i)
				   : fold ? expand_fold_enter(fold, i, enter_node)
					: enter_node(r, e->context_of[n->parent], n);
	}
	expand_fold_close(fold);
	torch_fold_close(r->torch);
	r->torch = NULL;
}

/*
 * Sets the entry address of FUNCTION contexts. The function's entry is final only after the last
 * frame.
 */
static void set_entries(struct expand *e)
{
	for (size_t i = 0; i < e->contexts.n; i++) {
		struct model_context *c = &e->contexts.at[i];
		if (c->kind == MODEL_CONTEXT_FUNCTION)
			c->link_addr = e->functions.at[c->function].link_addr;
	}
}

bool expand_run_begin(struct expand_run *r, struct expand *e, const struct expand_module *modules,
		      uint32_t n_modules)
{
	*r = (struct expand_run){.e = e,
				 .modules = modules,
				 .n_modules = n_modules,
				 .memos = calloc((size_t)n_modules + 1, sizeof *r->memos)};
	for (uint32_t i = 0; r->memos && i <= n_modules; i++)
		r->memos[i].unknown_function[0] = r->memos[i].unknown_function[1] = UINT32_MAX;
	return r->memos != NULL;
}

bool expand_run_end(struct expand_run *r)
{
	if (!r->failed)
		set_entries(r->e);
	for (uint32_t i = 0; i <= r->n_modules; i++) {
		free(r->memos[i].function_of_definition[0]);
		free(r->memos[i].function_of_definition[1]);
		free(r->memos[i].file_of_file);
	}
	free(r->python_memo);
	free(r->memos);
	return !r->failed;
}

bool expand_tree(struct expand *e, const struct merge_tree *t, const struct expand_module *modules,
		 uint32_t n_modules, bool folds)
{
	struct expand_run r;
	if (!expand_run_begin(&r, e, modules, n_modules))
		return false;
	enter_all(&r, t, folds);
	omp_regions_enter(&r);
	return expand_run_end(&r);
}

void expand_shrink(struct expand *e)
{
	vec_free(&e->files);
	vec_free(&e->functions);
	vec_free(&e->contexts);
	vec_free(&e->regions);
	map_free(&e->file_index);
	map_free(&e->context_index);
	map_free(&e->function_index);
}

void expand_free(struct expand *e)
{
	expand_shrink(e);
	free(e->context_of);
	free(e->final_of);
	free(e->module_of);
	e->context_of = e->final_of = e->module_of = NULL;
}
