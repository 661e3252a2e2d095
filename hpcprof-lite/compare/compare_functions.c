/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the functions of a run among those of a comparison: by name and module, then by name alone
 * if that leaves no doubt. Test: tests/unit/compare/test_compare.c.
 */
#include "hpcprof-lite/compare/compare_adding.h"
#include "hpcprof-lite/compare/compare_names.h"

#include <stdlib.h>
#include <string.h>

/* Adds a string and frees it. */
static uint32_t add_owned(struct compare *c, char *s)
{
	uint32_t id = s ? strtab_add_z(&c->strings, s) : STRTAB_FAILED;
	free(s);
	return id;
}

/* The module of the first program: it is the program under test, whatever its file is called. */
static uint32_t find_program(const struct model *m)
{
	const char *path = m->n_processes ? m->processes[0].executable : NULL;
	for (uint32_t i = 0; path && i < m->n_modules; i++)
		if (strcmp(m->modules[i].path, path) == 0)
			return i;
	return MODEL_NONE;
}

/* Code objects on GPUs are named by a hash of their content, which any rebuild changes. */
static uint32_t add_module(struct compare_adding *a, uint32_t module)
{
	if (module == a->program || module >= a->m->n_modules)
		return 0;
	if (a->m->modules[module].is_gpu)
		return strtab_add_z(&a->c->strings, "<gpu>");
	return add_owned(a->c, compare_module_name(a->m->modules[module].path));
}

static uint32_t renamed(const struct compare_adding *a, uint32_t name)
{
	uint32_t to = name;
	for (size_t i = a->c->renames.n; a->side == COMPARE_BASE && i-- > 0;) {
		struct compare_renaming *r = &a->c->renames.at[i];
		if (r->from != name)
			continue;
		r->is_used = true;
		to = r->to;
	}
	return to;
}

uint32_t compare_add_file(struct compare_adding *a, uint32_t file)
{
	return file < a->m->n_files
		       ? strtab_add_z(&a->c->strings, compare_base_name(a->m->files[file].path))
		       : 0;
}

/* What identifies a function. */
struct identity {
	uint32_t name, module;
};

static bool identify(struct compare_adding *a, const struct model_function *f, struct identity *to)
{
	uint32_t name = add_owned(a->c, compare_function_name(f->name ? f->name : ""));
	to->module = add_module(a, f->module);
	if (name == STRTAB_FAILED || to->module == STRTAB_FAILED)
		return false;
	to->name = renamed(a, name);
	return true;
}

/* A new function. MODEL_NONE if memory is short. */
static uint32_t push_function(struct compare *c, const struct identity *identity)
{
	uint32_t i = (uint32_t)c->functions.n;
	struct compare_function *f = vec_push(&c->functions);
	uint64_t same = map_put(&c->named_ids, identity->name, 0, i);
	if (!f || same == MAP_NONE ||
	    map_put(&c->function_ids, identity->name, identity->module, i) == MAP_NONE)
		return MODEL_NONE;
	*f = (struct compare_function){
		.name = identity->name, .module = identity->module, .next = MODEL_NONE};
	if (same != i) {
		f->next = c->functions.at[same].next;
		c->functions.at[same].next = i;
	}
	return i;
}

/*
 * The only function of this name that no function of this run has taken, or MODEL_NONE. Code
 * without a name is never the same in two modules.
 */
static uint32_t find_elsewhere(const struct compare *c, uint32_t name, const bool *is_taken,
			       size_t n_taken)
{
	uint32_t found = MODEL_NONE;
	uint64_t first = map_get(&c->named_ids, name, 0);
	if (first == MAP_NONE || !compare_is_named_code(compare_string(c, name)))
		return MODEL_NONE;
	for (uint32_t i = (uint32_t)first; i != MODEL_NONE; i = c->functions.at[i].next)
		if (i < n_taken && !is_taken[i]) {
			if (found != MODEL_NONE)
				return MODEL_NONE;
			found = i;
		}
	return found;
}

static bool note_function(struct compare_adding *a, const struct model_function *from,
			  uint32_t function)
{
	uint32_t file = compare_add_file(a, from->file);
	if (function == MODEL_NONE || file == STRTAB_FAILED)
		return false;
	struct compare_function *to = &a->c->functions.at[function];
	if (from->line) {
		to->file = file;
		to->line = from->line;
	}
	to->is_on[a->side] = true;
	return true;
}

uint32_t compare_find_unnamed(struct compare *c, uint32_t module)
{
	struct identity x = {strtab_add_z(&c->strings, compare_unnamed), module};
	if (x.name == STRTAB_FAILED)
		return MODEL_NONE;
	uint64_t id = map_get(&c->function_ids, x.name, x.module);
	return id == MAP_NONE ? push_function(c, &x) : (uint32_t)id;
}

/* First matches the functions that match exactly, so that no other takes their place. */
static bool match_functions(struct compare_adding *a, struct identity *identities, bool *is_taken,
			    size_t n_taken)
{
	struct compare *c = a->c;
	for (uint32_t i = 0; i < a->m->n_functions; i++) {
		if (!identify(a, &a->m->functions[i], &identities[i]))
			return false;
		uint64_t id = map_get(&c->function_ids, identities[i].name, identities[i].module);
		a->function_of[i] = id == MAP_NONE ? MODEL_NONE : (uint32_t)id;
		if (id != MAP_NONE)
			is_taken[id] = true;
	}
	for (uint32_t i = 0; i < a->m->n_functions; i++) {
		uint32_t *to = &a->function_of[i];
		uint64_t id = map_get(&c->function_ids, identities[i].name, identities[i].module);
		if (id != MAP_NONE)
			*to = (uint32_t)id;
		else if ((*to = find_elsewhere(c, identities[i].name, is_taken, n_taken)) !=
			 MODEL_NONE)
			is_taken[*to] = true;
		else
			*to = push_function(c, &identities[i]);
		if (!note_function(a, &a->m->functions[i], *to))
			return false;
	}
	return true;
}

/* Only for machine code, because there the address may be all that is known about a function. */
static bool add_builds(struct compare_adding *a)
{
	for (uint32_t i = 0; i < a->m->n_modules; i++) {
		const struct model_module *m = &a->m->modules[i];
		if (m->is_gpu || m->is_python)
			continue;
		uint32_t name = add_module(a, i);
		if (name == STRTAB_FAILED || !compare_add_build(a->c, name, m))
			return false;
	}
	return true;
}

bool compare_add_functions(struct compare_adding *a)
{
	size_t n_taken = a->c->functions.n;
	a->program = find_program(a->m);
	if (!add_builds(a))
		return false;
	struct identity *identities = calloc((size_t)a->m->n_functions + 1, sizeof *identities);
	bool *is_taken = calloc(n_taken + 1, sizeof *is_taken),
	     ok = identities && is_taken && match_functions(a, identities, is_taken, n_taken);
	free(identities);
	free(is_taken);
	return ok;
}

uint32_t compare_add_function(struct compare_adding *a, uint32_t function)
{
	static const struct model_function unknown = {
		.name = "", .module = MODEL_NONE, .file = MODEL_NONE};
	struct identity identity;
	if (function < a->m->n_functions)
		return a->function_of[function];
	if (!identify(a, &unknown, &identity))
		return MODEL_NONE;
	uint64_t id = map_get(&a->c->function_ids, identity.name, identity.module);
	uint32_t f = id == MAP_NONE ? push_function(a->c, &identity) : (uint32_t)id;
	return note_function(a, &unknown, f) ? f : MODEL_NONE;
}
