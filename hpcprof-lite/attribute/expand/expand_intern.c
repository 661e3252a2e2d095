/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives files, functions and contexts their ids, one id to equal ones. See expand_run.h. Test:
 * tests/unit/prof/test_expand.c.
 */
#include "hpcprof-lite/attribute/expand/expand_run.h"

#include "hpcprof-lite/attribute/merge/python_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files and functions ---- */

uint32_t expand_intern_file(struct expand_run *r, const char *path)
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

uint32_t expand_find_file(struct expand_run *r, uint32_t module, uint32_t file)
{
	const struct structure *s = r->modules[module].structure;
	struct expand_memo *m = &r->memos[module];
	if (file == STRUCTURE_NONE)
		return MODEL_NONE;
	if (!m->file_of_file && !(m->file_of_file = new_memo(structure_n_files(s)))) {
		r->failed = true;
		return MODEL_NONE;
	}
	if (m->file_of_file[file] == UINT32_MAX)
		m->file_of_file[file] = expand_intern_file(r, structure_get_file(s, file));
	return m->file_of_file[file];
}

uint32_t expand_intern_name(struct expand_run *r, const char *name, bool guessed)
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

uint32_t expand_find_function(struct expand_run *r, uint32_t module,
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
			.name = expand_intern_name(r, scope->name, guessed),
			.linkage_name = strtab_add_z(r->e->strings, scope->linkage_name),
			.module = module,
			.file = expand_find_file(r, module, scope->file),
			.line = scope->file == STRUCTURE_NONE ? 0 : scope->line,
			.definition = scope->definition,
			.is_unnamed = scope->origin == STRUCTURE_FROM_EH_FRAME,
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

uint32_t expand_find_unknown(struct expand_run *r, uint32_t module, bool guessed)
{
	uint32_t *memo = &r->memos[module].unknown_function[guessed], name = STRTAB_FAILED;
	if (*memo != UINT32_MAX)
		return *memo;
	if (module < r->n_modules) {
		const char *path = r->modules[module].path, *slash = strrchr(path, '/');
		char *text = NULL;
		if (asprintf(&text, "<unknown function> [%s]", slash ? slash + 1 : path) >= 0)
			name = expand_intern_name(r, text, guessed);
		free(text);
	} else {
		name = expand_intern_name(r, "<code outside every module>", guessed);
	}
	struct expand_function f = {.name = name,
				    .linkage_name = strtab_add_z(r->e->strings, ""),
				    .module = module,
				    .file = MODEL_NONE,
				    .definition = MODEL_NONE,
				    .is_unnamed = true,
				    .guessed = guessed};
	return *memo = add_function(r, f);
}

uint32_t expand_find_named(struct expand_run *r, struct expand_function f)
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

uint32_t expand_find_python(struct expand_run *r, uint32_t number)
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
					    .is_torch_module = p->is_torch_module,
					    .file = p->file && !p->is_torch_module
							    ? expand_intern_file(r, p->file)
							    : MODEL_NONE,
					    .line = p->line,
					    .definition = MODEL_NONE};
		r->python_memo[number] = add_function(r, f);
	}
	return r->python_memo[number];
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

uint32_t expand_enter_entry(struct expand_run *r, enum model_entry entry, uint8_t end)
{
	struct model_context c = {.parent = 0,
				  .kind = MODEL_CONTEXT_ENTRY,
				  .relation = MODEL_LEXICAL,
				  .entry = (uint8_t)entry,
				  .end = end,
				  .function = MODEL_NONE,
				  .module = MODEL_NONE,
				  .file = MODEL_NONE};
	return intern_context(r, c, entry, key_of(MODEL_CONTEXT_ENTRY, end));
}

uint32_t expand_enter_function(struct expand_run *r, uint32_t parent, uint32_t function,
			       enum model_relation relation)
{
	if (r->failed) /* `function` may not exist */
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

uint32_t expand_enter_line(struct expand_run *r, uint32_t parent, enum model_context_kind kind,
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

uint32_t expand_enter_instruction(struct expand_run *r, uint32_t parent, uint64_t link_addr)
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

/*
 * Loops with the same line in one scope are one context, because the compiler splits loops of the
 * source.
 */
uint32_t expand_enter_loop(struct expand_run *r, uint32_t parent, uint32_t module,
			   const struct structure_scope *scope)
{
	if (scope->file != STRUCTURE_NONE)
		return expand_enter_line(r, parent, MODEL_CONTEXT_LOOP,
					 expand_find_file(r, module, scope->file), scope->line);
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
