/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See expand.h. Failure is sticky: a run out of memory sets `failed`, ids become 0 and the caller
 * hears of it at the end. Test: tests/unit/prof/test_expand.c.
 */
#include "hpcprof-lite/attribute/expand.h"

#include "hpcprof-lite/attribute/jit_names.h"
#include "hpcprof-lite/attribute/known_code.h"
#include "hpcprof-lite/attribute/python_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Interned already: by module, what its definitions and files are called here. UINT32_MAX: not
 * yet. */
struct memo {
	uint32_t *function_of_definition[2]; /* by whether the frame was guessed */
	uint32_t *file_of_file;
	uint32_t unknown_function[2];
};

struct expand_run {
	struct expand *e;
	const struct expand_module *modules;
	uint32_t n_modules;
	uint32_t *python_memo; /* by Python function; NULL: none yet */
	struct memo *memos; /* n_modules + 1: the last for code outside every module */
	bool failed;
};

enum { MAX_SCOPE_DEPTH = 512 }; /* of inlined calls in one function */

static uint32_t intern_file(struct expand_run *r, const char *path)
{
	struct expand *e = r->e;
	uint32_t string = strtab_add_z(e->strings, path);
	uint64_t id =
		string == STRTAB_FAILED ? MAP_NONE : map_put(&e->file_index, string, 0, e->files.n);
	if (id == e->files.n) {
		uint32_t *new = vec_push(&e->files);
		if (new)
			*new = string;
		else
			id = MAP_NONE;
	}
	r->failed |= id == MAP_NONE;
	return id == MAP_NONE ? 0 : (uint32_t)id;
}

static uint32_t add_function(struct expand_run *r, struct expand_function f)
{
	struct expand_function *new = NULL;
	if (f.name != STRTAB_FAILED && f.linkage_name != STRTAB_FAILED)
		new = vec_push(&r->e->functions);
	if (!new) {
		r->failed = true;
		return 0;
	}
	*new = f;
	return (uint32_t)(r->e->functions.n - 1);
}

static uint32_t *new_memo(size_t n)
{
	uint32_t *p = malloc((n ? n : 1) * sizeof *p);
	if (p)
		memset(p, 0xff, n * sizeof *p);
	return p;
}

static uint32_t get_file(struct expand_run *r, uint32_t module, uint32_t file)
{
	const struct structure *s = r->modules[module].structure;
	struct memo *m = &r->memos[module];
	if (file == STRUCTURE_NONE)
		return MODEL_NONE;
	if (!m->file_of_file && !(m->file_of_file = new_memo(structure_n_files(s)))) {
		r->failed = true;
		return MODEL_NONE;
	}
	if (m->file_of_file[file] == UINT32_MAX)
		m->file_of_file[file] = intern_file(r, structure_get_file(s, file));
	return m->file_of_file[file];
}

/* The name of a function whose frame was guessed says so, so that every output does. */
static uint32_t intern_name(struct expand_run *r, const char *name, bool guessed)
{
	char *text = NULL;
	if (!guessed)
		return strtab_add_z(r->e->strings, name);
	if (asprintf(&text, "%s" MODEL_GUESSED_SUFFIX, name) < 0)
		return STRTAB_FAILED;
	uint32_t id = strtab_add_z(r->e->strings, text);
	free(text);
	return id;
}

/* One function for each definition of the module, whether it was called or inlined; and one more
 * for its frames that were guessed. */
static uint32_t get_function(struct expand_run *r, uint32_t module,
			     const struct structure_scope *scope, bool guessed)
{
	uint32_t **memo = &r->memos[module].function_of_definition[guessed];
	if (!*memo && !(*memo = new_memo(structure_n_definitions(r->modules[module].structure)))) {
		r->failed = true;
		return 0;
	}
	uint32_t id = (*memo)[scope->definition];
	if (id == UINT32_MAX) {
		struct expand_function f = {
			.name = intern_name(r, scope->name, guessed),
			.linkage_name = strtab_add_z(r->e->strings, scope->linkage_name),
			.module = module,
			.file = get_file(r, module, scope->file),
			.line = scope->file == STRUCTURE_NONE ? 0 : scope->line,
			.definition = scope->definition,
			.guessed = guessed,
		};
		id = (*memo)[scope->definition] = add_function(r, f);
	}
	if (scope->kind == STRUCTURE_FUNCTION && !r->failed) {
		struct expand_function *f = &r->e->functions.at[id];
		if (scope->entry && (!f->link_addr || scope->entry < f->link_addr))
			f->link_addr = scope->entry;
	}
	return id;
}

static uint32_t get_unknown_function(struct expand_run *r, uint32_t module, bool guessed)
{
	uint32_t *memo = &r->memos[module].unknown_function[guessed], name = STRTAB_FAILED;
	if (*memo != UINT32_MAX)
		return *memo;
	if (module < r->n_modules) {
		const char *path = r->modules[module].path, *slash = strrchr(path, '/');
		char *text = NULL;
		if (asprintf(&text, "<unknown function> [%s]", slash ? slash + 1 : path) >= 0)
			name = intern_name(r, text, guessed);
		free(text);
	} else {
		name = intern_name(r, "<code outside every module>", guessed);
	}
	struct expand_function f = {.name = name,
				    .linkage_name = strtab_add_z(r->e->strings, ""),
				    .module = module,
				    .file = MODEL_NONE,
				    .definition = MODEL_NONE,
				    .guessed = guessed};
	return *memo = add_function(r, f);
}

/* One function for each name in a module; module MODEL_NONE is one more. */
static uint32_t get_named_function(struct expand_run *r, struct expand_function f)
{
	if (f.name == STRTAB_FAILED || f.linkage_name == STRTAB_FAILED) {
		r->failed = true;
		return 0;
	}
	uint64_t id = map_put(&r->e->function_index, (uint64_t)f.module << 32 | f.name,
			      (uint64_t)f.gpu_kind << 32 | f.linkage_name, r->e->functions.n);
	if (id == MAP_NONE) {
		r->failed = true;
		return 0;
	}
	return id == r->e->functions.n ? add_function(r, f) : (uint32_t)id;
}

/* ---- contexts ---- */

static uint32_t intern_context(struct expand_run *r, struct model_context c, uint64_t a_low,
			       uint64_t b)
{
	struct expand *e = r->e;
	uint64_t id =
		map_put(&e->context_index, (uint64_t)c.parent << 32 | a_low, b, e->contexts.n);
	if (id != e->contexts.n) {
		r->failed |= id == MAP_NONE;
		return id == MAP_NONE ? 0 : (uint32_t)id;
	}
	struct model_context *new = vec_push(&e->contexts);
	if (new)
		*new = c;
	r->failed |= !new;
	return new ? (uint32_t)id : 0;
}

static uint64_t key_of(enum model_context_kind kind, uint64_t rest)
{
	return (uint64_t)kind << 60 | rest;
}

static uint32_t enter_entry(struct expand_run *r, uint64_t synthetic)
{
	struct model_context c = {.parent = 0,
				  .kind = MODEL_CONTEXT_ENTRY,
				  .relation = MODEL_LEXICAL,
				  .function = MODEL_NONE,
				  .module = MODEL_NONE,
				  .file = MODEL_NONE};
	if (synthetic == MSR_ENTRY_MAIN || synthetic == MSR_ENTRY_THREAD) {
		c.entry = synthetic == MSR_ENTRY_MAIN ? MODEL_ENTRY_MAIN : MODEL_ENTRY_THREAD;
	} else {
		uint64_t end = synthetic >= MSR_ENTRY_PARTIAL ? synthetic - MSR_ENTRY_PARTIAL
							      : MSR_N_PATH_ENDS;
		c.entry = MODEL_ENTRY_PARTIAL;
		c.end = end < UINT8_MAX ? (uint8_t)end : UINT8_MAX;
	}
	return intern_context(r, c, c.entry, key_of(MODEL_CONTEXT_ENTRY, c.end));
}

static uint32_t enter_function(struct expand_run *r, uint32_t parent, uint32_t function,
			       enum model_relation relation)
{
	if (r->failed) /* then `function` may not be there */
		return 0;
	const struct expand_function *f = &r->e->functions.at[function];
	struct model_context c = {.parent = parent,
				  .kind = MODEL_CONTEXT_FUNCTION,
				  .relation = (uint8_t)relation,
				  .function = function,
				  .module = f->module,
				  .file = f->file,
				  .line = f->line,
				  .marked = f->guessed};
	return intern_context(r, c, function, key_of(MODEL_CONTEXT_FUNCTION, relation));
}

static uint32_t enter_line(struct expand_run *r, uint32_t parent, enum model_context_kind kind,
			   uint32_t file, uint32_t line)
{
	const struct model_context *p = &r->e->contexts.at[parent];
	struct model_context c = {.parent = parent,
				  .kind = (uint8_t)kind,
				  .relation = MODEL_LEXICAL,
				  .function = p->function,
				  .module = p->module,
				  .file = file,
				  .line = line,
				  .marked = p->marked};
	return intern_context(r, c, file, key_of(kind, line));
}

static uint32_t enter_instruction(struct expand_run *r, uint32_t parent, uint64_t link_addr)
{
	const struct model_context *p = &r->e->contexts.at[parent];
	struct model_context c = {.parent = parent,
				  .kind = MODEL_CONTEXT_INSTRUCTION,
				  .relation = MODEL_LEXICAL,
				  .function = p->function,
				  .module = p->module,
				  .file = MODEL_NONE,
				  .link_addr = link_addr,
				  .marked = p->marked};
	return intern_context(r, c, 0, key_of(MODEL_CONTEXT_INSTRUCTION, link_addr));
}

/* Loops of one line in one place are one context: the compiler made several of what is one in the
 * source. */
static uint32_t enter_loop(struct expand_run *r, uint32_t parent, uint32_t module,
			   const struct structure_scope *scope)
{
	if (scope->file != STRUCTURE_NONE)
		return enter_line(r, parent, MODEL_CONTEXT_LOOP, get_file(r, module, scope->file),
				  scope->line);
	const struct model_context *p = &r->e->contexts.at[parent];
	struct model_context c = {.parent = parent,
				  .kind = MODEL_CONTEXT_LOOP,
				  .relation = MODEL_LEXICAL,
				  .function = p->function,
				  .module = p->module,
				  .file = MODEL_NONE,
				  .link_addr = scope->entry,
				  .marked = p->marked};
	return intern_context(r, c, MODEL_NONE, key_of(MODEL_CONTEXT_LOOP, scope->entry));
}

/* The scopes around an address from the outside in; `innermost` is where it lies. */
static uint32_t enter_scopes(struct expand_run *r, uint32_t at, uint32_t module, uint32_t innermost,
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
			at = enter_loop(r, at, module, &scope);
			continue;
		}
		if (scope.kind == STRUCTURE_INLINE && relation == MODEL_INLINED &&
		    scope.call_file != STRUCTURE_NONE && scope.call_line)
			at = enter_line(r, at, MODEL_CONTEXT_LINE,
					get_file(r, module, scope.call_file), scope.call_line);
		at = enter_function(r, at, get_function(r, module, &scope, guessed), relation);
		relation = MODEL_INLINED;
	}
	return at;
}

static uint32_t get_python_function(struct expand_run *r, uint32_t number)
{
	const struct python_function *p = &r->e->python[number];
	if (!r->python_memo && !(r->python_memo = new_memo(r->e->n_python))) {
		r->failed = true;
		return 0;
	}
	if (r->python_memo[number] == UINT32_MAX) {
		struct expand_function f = {.name = strtab_add_z(r->e->strings, p->name),
					    .linkage_name = strtab_add_z(r->e->strings, ""),
					    .module = p->module,
					    .file = p->file ? intern_file(r, p->file) : MODEL_NONE,
					    .line = p->line,
					    .definition = MODEL_NONE};
		r->python_memo[number] = add_function(r, f);
	}
	return r->python_memo[number];
}

static uint32_t enter_python(struct expand_run *r, uint32_t caller, uint64_t place)
{
	uint32_t number = (uint32_t)(place >> PYTHON_LINE_BITS),
		 line = (uint32_t)place & PYTHON_LINE_MAX;
	if (number >= r->e->n_python)
		return caller;
	uint32_t at = enter_function(r, caller, get_python_function(r, number), MODEL_CALL);
	uint32_t file =
		r->failed ? MODEL_NONE : r->e->functions.at[r->e->contexts.at[at].function].file;
	if (r->failed)
		return 0;
	return file != MODEL_NONE && line ? enter_line(r, at, MODEL_CONTEXT_LINE, file, line)
					  : enter_instruction(r, at, 0);
}

static uint32_t enter_jit(struct expand_run *r, uint32_t caller, const struct merge_node *n)
{
	if (n->link_addr >= r->e->n_jit)
		return caller;
	const struct jit_place *p = &r->e->jit[n->link_addr];
	struct expand_function f = {
		.name = n->marked ? intern_name(r, strtab_get(r->e->strings, p->name), true)
				  : p->name,
		.linkage_name = strtab_add_z(r->e->strings, ""),
		.module = n->module,
		.file = MODEL_NONE,
		.definition = MODEL_NONE,
		.guessed = n->marked};
	uint32_t at = enter_function(r, caller, get_named_function(r, f), MODEL_CALL);
	if (r->failed || p->file == JIT_NO_FILE)
		return r->failed ? 0 : enter_instruction(r, at, 0);
	return enter_line(r, at, MODEL_CONTEXT_LINE,
			  intern_file(r, strtab_get(r->e->strings, p->file)), p->line);
}

static uint32_t enter_frame(struct expand_run *r, uint32_t caller, const struct merge_node *n)
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
	uint32_t at =
		place.scope != STRUCTURE_NONE
			? enter_scopes(r, caller, module, place.scope, n->marked)
			: enter_function(r, caller, get_unknown_function(r, module, n->marked),
					 MODEL_CALL);
	if (r->failed)
		return 0;
	return place.file != STRUCTURE_NONE && place.line
		       ? enter_line(r, at, MODEL_CONTEXT_LINE, get_file(r, module, place.file),
				    place.line)
		       : enter_instruction(r, at, n->link_addr);
}

static void enter_all(struct expand_run *r, const struct merge_tree *t)
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
	for (size_t i = 1; i < t->nodes.n && !r->failed; i++) {
		const struct merge_node *n = &t->nodes.at[i];
		e->context_of[i] = n->module == MERGE_NO_MODULE
					   ? enter_entry(r, n->link_addr)
					   : enter_frame(r, e->context_of[n->parent], n);
	}
}

/* FUNCTION contexts carry their function's entry, which is complete only at the end. */
static void set_entries(struct expand *e)
{
	for (size_t i = 0; i < e->contexts.n; i++) {
		struct model_context *c = &e->contexts.at[i];
		if (c->kind == MODEL_CONTEXT_FUNCTION)
			c->link_addr = e->functions.at[c->function].link_addr;
	}
}

static bool begin(struct expand_run *r, struct expand *e, const struct expand_module *modules,
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

static bool end(struct expand_run *r)
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
		 uint32_t n_modules)
{
	struct expand_run r;
	if (!begin(&r, e, modules, n_modules))
		return false;
	enter_all(&r, t);
	return end(&r);
}

/* ---- GPUs ---- */

struct expand_run *expand_gpu_begin(struct expand *e, const struct expand_module *modules,
				    uint32_t n_modules)
{
	struct expand_run *r = malloc(sizeof *r);
	if (r && !begin(r, e, modules, n_modules)) {
		free(r);
		r = NULL;
	}
	return r;
}

bool expand_gpu_end(struct expand_run *r)
{
	bool ok = end(r);
	free(r);
	return ok;
}

uint32_t expand_gpu_entry(struct expand_run *r, enum model_entry entry)
{
	struct model_context c = {.kind = MODEL_CONTEXT_ENTRY,
				  .relation = MODEL_LEXICAL,
				  .entry = (uint8_t)entry,
				  .function = MODEL_NONE,
				  .module = MODEL_NONE,
				  .file = MODEL_NONE};
	return intern_context(r, c, c.entry, key_of(MODEL_CONTEXT_ENTRY, 0));
}

/* HPCToolkit's names where it has one. */
static const char *placeholder_name(enum msr_gpu_kind kind, unsigned detail)
{
	switch (kind) {
	case MSR_GPU_KERNEL: return "<gpu kernel>";
	case MSR_GPU_COPY:
		return detail == MSR_GPU_COPY_H2D   ? "<gpu copyin>"
		       : detail == MSR_GPU_COPY_D2H ? "<gpu copyout>"
						    : "<gpu copy>";
	case MSR_GPU_SET: return "<gpu memset>";
	case MSR_GPU_ALLOC: return "<gpu alloc>";
	case MSR_GPU_FREE: return "<gpu delete>";
	case MSR_GPU_SYNC: return "<gpu sync>";
	case MSR_GPU_MARKER: return "<gpu marker>";
	default: return "<gpu operation>";
	}
}

uint32_t expand_gpu_placeholder(struct expand_run *r, uint32_t parent, enum msr_gpu_kind kind,
				unsigned detail)
{
	struct strtab *strings = r->e->strings;
	struct expand_function f = {.name = strtab_add_z(strings, placeholder_name(kind, detail)),
				    .linkage_name = strtab_add_z(strings, ""),
				    .module = MODEL_NONE,
				    .file = MODEL_NONE,
				    .definition = MODEL_NONE,
				    .gpu_kind = (uint8_t)kind};
	uint32_t function = get_named_function(r, f);
	return r->failed ? 0 : enter_function(r, parent, function, MODEL_CALL);
}

/*
 * Where the call at `site` was made: the first line above its own function, which is the API's or a
 * back end's, that is the program's; of Python's lines the first in a file of the user's, if there
 * is one. MODEL_NONE when no line is known.
 */
static uint32_t line_of_caller(const struct expand_run *r, uint32_t site)
{
	const struct expand *e = r->e;
	uint32_t at = site, api = e->contexts.at[site].function;
	uint32_t library = MODEL_NONE; /* the first of Python's */
	const char *stub = NULL;
	for (; at && at != MODEL_NONE; at = e->contexts.at[at].parent) {
		const struct model_context *c = &e->contexts.at[at];
		if (c->kind != MODEL_CONTEXT_LINE || c->function == api ||
		    (c->function != MODEL_NONE &&
		     known_by_nvcc(strtab_get(e->strings, e->functions.at[c->function].name),
				   &stub)))
			continue;
		bool is_python = c->module < r->n_modules && r->modules[c->module].is_python;
		if (library != MODEL_NONE && !is_python)
			continue;
		if (!is_python ||
		    !model_is_python_library(strtab_get(e->strings, e->files.at[c->file])))
			return at;
		library = library == MODEL_NONE ? at : library;
	}
	return library;
}

uint32_t expand_gpu_graph_node(struct expand_run *r, uint32_t placeholder, uint32_t site)
{
	struct strtab *strings = r->e->strings;
	uint32_t line = r->failed ? MODEL_NONE : line_of_caller(r, site);
	char *name = NULL;
	if (line == MODEL_NONE)
		return placeholder;
	const struct model_context *c = &r->e->contexts.at[line];
	const char *path = strtab_get(strings, r->e->files.at[c->file]),
		   *slash = strrchr(path, '/');
	if (asprintf(&name, "<graph node of %s:%u, %s>", slash ? slash + 1 : path, c->line,
		     strtab_get(strings, r->e->functions.at[c->function].name)) < 0) {
		r->failed = true;
		return 0;
	}
	struct expand_function f = {.name = strtab_add_z(strings, name),
				    .linkage_name = strtab_add_z(strings, ""),
				    .module = MODEL_NONE,
				    .file = MODEL_NONE,
				    .definition = MODEL_NONE,
				    .gpu_kind = MSR_GPU_KERNEL,
				    .is_node = true,
				    .node_function = c->function,
				    .node_file = c->file,
				    .node_line = c->line};
	free(name);
	uint32_t function = get_named_function(r, f);
	return r->failed ? 0 : enter_function(r, placeholder, function, MODEL_CALL);
}

/* The function's scope in its module's structure, or STRUCTURE_NONE. */
static uint32_t find_scope(const struct expand_run *r, const struct expand_kernel *k)
{
	const struct structure *s =
		k->module < r->n_modules ? r->modules[k->module].structure : NULL;
	return s ? structure_find_function(s, k->name, NULL) : STRUCTURE_NONE;
}

static uint32_t function_of(struct expand_run *r, const struct expand_kernel *k)
{
	uint32_t scope_id = find_scope(r, k);
	if (scope_id != STRUCTURE_NONE) {
		struct structure_scope scope =
			structure_get_scope(r->modules[k->module].structure, scope_id);
		/* under another name of the same place it is still a kernel of its own: people
		 * launched it by this one */
		if (strcmp(scope.linkage_name, k->name) == 0 || strcmp(scope.name, k->name) == 0)
			return get_function(r, k->module, &scope, false);
	}
	struct expand_function f = {
		.name = strtab_add_z(r->e->strings, k->source_name[0] ? k->source_name
						    : k->name[0]      ? k->name
								      : "<unknown kernel>"),
		.linkage_name = strtab_add_z(r->e->strings, k->name),
		.module = k->module,
		.file = MODEL_NONE,
		.definition = MODEL_NONE};
	return get_named_function(r, f);
}

uint32_t expand_gpu_kernel(struct expand_run *r, uint32_t placeholder,
			   const struct expand_kernel *k)
{
	uint32_t function = function_of(r, k);
	return r->failed ? 0 : enter_function(r, placeholder, function, MODEL_CALL);
}

static uint32_t outermost(const struct structure *s, uint32_t scope)
{
	for (uint32_t parent; (parent = structure_get_scope(s, scope).parent) != STRUCTURE_NONE;)
		scope = parent;
	return scope;
}

uint32_t expand_gpu_place(struct expand_run *r, uint32_t kernel, const struct expand_kernel *f,
			  uint64_t offset)
{
	const struct structure *s =
		f->module < r->n_modules ? r->modules[f->module].structure : NULL;
	struct structure_place place = {.scope = STRUCTURE_NONE, .file = STRUCTURE_NONE};
	uint32_t scope = find_scope(r, f), function = function_of(r, f);
	if (r->failed)
		return 0;
	uint64_t addr = offset;
	if (scope != STRUCTURE_NONE) {
		addr += structure_get_scope(s, scope).entry;
		if (!structure_lookup(s, addr, &place))
			place = (struct structure_place){.scope = STRUCTURE_NONE,
							 .file = STRUCTURE_NONE};
	}
	/* the kernel itself is a child of the placeholder; another function was called by it */
	bool is_kernel = r->e->contexts.at[kernel].function == function &&
			 (place.scope == STRUCTURE_NONE || outermost(s, place.scope) == scope);
	uint32_t above = is_kernel ? r->e->contexts.at[kernel].parent : kernel;
	uint32_t at = place.scope != STRUCTURE_NONE
			      ? enter_scopes(r, above, f->module, place.scope, false)
			      : enter_function(r, above, function, MODEL_CALL);
	if (r->failed)
		return 0;
	return place.file != STRUCTURE_NONE && place.line
		       ? enter_line(r, at, MODEL_CONTEXT_LINE, get_file(r, f->module, place.file),
				    place.line)
		       : enter_instruction(r, at, addr);
}

uint32_t expand_gpu_frame(struct expand_run *r, uint32_t above, uint32_t module, uint64_t link_addr)
{
	return r->failed ? 0
			 : enter_frame(
				   r, above,
				   &(struct merge_node){.module = module, .link_addr = link_addr});
}

uint32_t expand_gpu_parent(const struct expand_run *r, uint32_t context)
{
	return r->failed ? 0 : r->e->contexts.at[context].parent;
}

const struct structure *expand_gpu_structure(const struct expand_run *r, uint32_t module)
{
	return module < r->n_modules ? r->modules[module].structure : NULL;
}

void expand_shrink(struct expand *e)
{
	vec_free(&e->files);
	vec_free(&e->functions);
	vec_free(&e->contexts);
	map_free(&e->file_index);
	map_free(&e->context_index);
	map_free(&e->function_index);
}

void expand_free(struct expand *e)
{
	expand_shrink(e);
	free(e->context_of);
	free(e->final_of);
	e->context_of = e->final_of = NULL;
}
