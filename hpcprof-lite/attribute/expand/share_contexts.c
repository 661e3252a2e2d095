/* SPDX-License-Identifier: BSD-3-Clause */
/* See share_contexts.h. Test: tests/unit/prof_parts/test_parts_gpu.c. */
#include "hpcprof-lite/attribute/expand/share_contexts.h"

#include <stdlib.h>
#include <string.h>

/* The records of all parts, in their order. */
struct joined {
	const void *at;
	uint64_t *first; /* by part, with an end entry */
};

struct sharing {
	struct comm *c;
	struct expand_run *r;
	const struct share_base *base;
	size_t n_own;            /* functions, before those of others are added */
	struct map functions;    /* functions that parts added: see find_function() */
	/* what this part has added; strings are offsets in `text` */
	VEC(char) text;
	VEC(uint32_t) files;
	VEC(struct expand_function) list;
	/* what all parts have added */
	struct joined texts, all_files, all_functions, all_contexts;
	/* maps from numbers of the current part's additions to numbers here */
	int part;
	uint32_t *file_to, *function_to, *context_to;
};

struct share_base share_contexts_begin(const struct expand *e)
{
	return (struct share_base){e->files.n, e->functions.n, e->contexts.n};
}

/* ---- to others ---- */

/* False: memory is short, or there is too much text. */
static bool put_text(struct sharing *s, uint32_t string, uint32_t *at)
{
	const char *text = strtab_get(s->r->e->strings, string);
	const size_t n = strlen(text) + 1, start = s->text.n;
	char *to = start + n <= UINT32_MAX ? vec_extend(&s->text, n) : NULL;
	if (to)
		memcpy(to, text, n);
	*at = (uint32_t)start;
	return to;
}

static bool collect(struct sharing *s)
{
	const struct expand *e = s->r->e;
	for (size_t i = s->base->n_files; i < e->files.n; i++) {
		uint32_t *to = vec_push(&s->files);
		if (!to || !put_text(s, e->files.at[i], to))
			return false;
	}
	for (size_t i = s->base->n_functions; i < e->functions.n; i++) {
		struct expand_function *to = vec_push(&s->list);
		if (!to)
			return false;
		*to = e->functions.at[i];
		if (!put_text(s, to->name, &to->name) ||
		    !put_text(s, to->linkage_name, &to->linkage_name))
			return false;
	}
	return true;
}

/* Ends a step. */
static bool join(struct sharing *s, const void *own, uint64_t n, size_t bytes, struct joined *all)
{
	all->first = calloc((size_t)s->c->n_parts + 1, sizeof *all->first);
	all->at = comm_join(s->c, own, n, bytes, all->first);
	return all->at;
}

static bool join_all(struct sharing *s)
{
	const struct expand *e = s->r->e;
	return join(s, s->text.at, s->text.n, 1, &s->texts) &&
	       join(s, s->files.at, s->files.n, sizeof *s->files.at, &s->all_files) &&
	       join(s, s->list.at, s->list.n, sizeof *s->list.at, &s->all_functions) &&
	       join(s, e->contexts.at + s->base->n_contexts, e->contexts.n - s->base->n_contexts,
		    sizeof *e->contexts.at, &s->all_contexts);
}

/* ---- from others ---- */

static const char *text_of(const struct sharing *s, uint32_t at)
{
	return (const char *)s->texts.at + s->texts.first[s->part] + at;
}

static uint64_t n_of(const struct sharing *s, const struct joined *all)
{
	return all->first[s->part + 1] - all->first[s->part];
}

/* Translates the number `id` of another part to the number here. */
static uint32_t here(uint32_t id, size_t n_base, const uint32_t *to)
{
	return id == MODEL_NONE || id < n_base ? id : to[id - n_base];
}

/*
 * The number of a function that a part has added, or `number` if it is new. Placeholders of several
 * kinds may have one name, and only functions of structures have a definition.
 */
static uint64_t find_function(struct sharing *s, const struct expand_function *f, uint64_t number)
{
	return map_put(&s->functions, (uint64_t)f->module << 32 | f->name,
		       (uint64_t)f->linkage_name << 32 | (f->definition - f->gpu_kind), number);
}

static bool list_own(struct sharing *s)
{
	const struct expand *e = s->r->e;
	s->n_own = e->functions.n;
	for (size_t i = s->base->n_functions; i < s->n_own; i++)
		if (find_function(s, &e->functions.at[i], i) == MAP_NONE)
			return false;
	return true;
}

/*
 * Merges what parts know about the function, so that the result is as if one process had read all
 * files in order.
 */
static void merge_function(const struct sharing *s, struct expand_function *to, size_t id,
			   const struct expand_function *from)
{
	if (from->link_addr && (!to->link_addr || from->link_addr < to->link_addr))
		to->link_addr = from->link_addr;
	/*
	 * this loop visits later parts first, so an entry that is not our own is from a later part
	 */
	if (id >= s->n_own || s->part < s->c->part) {
		to->node_function = from->node_function;
		to->node_file = from->node_file;
		to->node_line = from->node_line;
	}
}

static uint32_t add_function(struct sharing *s, struct expand_function f)
{
	struct expand *e = s->r->e;
	f.name = strtab_add_z(e->strings, text_of(s, f.name));
	f.linkage_name = strtab_add_z(e->strings, text_of(s, f.linkage_name));
	f.file = here(f.file, s->base->n_files, s->file_to);
	if (f.is_node) {
		f.node_file = here(f.node_file, s->base->n_files, s->file_to);
		f.node_function =
			here(f.node_function, s->base->n_functions, s->function_to);
	}
	uint64_t id = MAP_NONE;
	if (f.name != STRTAB_FAILED && f.linkage_name != STRTAB_FAILED)
		id = find_function(s, &f, e->functions.n);
	if (id == e->functions.n) {
		struct expand_function *new = vec_push(&e->functions);
		if (new)
			*new = f;
		else
			id = MAP_NONE;
	} else if (id != MAP_NONE) {
		merge_function(s, &e->functions.at[id], id, &f);
	}
	s->r->failed |= id == MAP_NONE;
	return id == MAP_NONE ? 0 : (uint32_t)id;
}

static uint32_t add_context(const struct sharing *s, const struct model_context *c)
{
	struct expand_run *r = s->r;
	const uint32_t parent = here(c->parent, s->base->n_contexts, s->context_to),
		       file = here(c->file, s->base->n_files, s->file_to);
	switch ((enum model_context_kind)c->kind) {
	case MODEL_CONTEXT_ENTRY:
		return expand_enter_entry(r, (enum model_entry)c->entry, c->end);
	case MODEL_CONTEXT_FUNCTION:
		return expand_enter_function(
			r, parent, here(c->function, s->base->n_functions, s->function_to),
			(enum model_relation)c->relation);
	case MODEL_CONTEXT_INSTRUCTION:
		return expand_enter_instruction(r, parent, c->link_addr);
	case MODEL_CONTEXT_LOOP:
		if (file == MODEL_NONE)
			return expand_enter_loop(r, parent, c->module,
						 &(struct structure_scope){.file = STRUCTURE_NONE,
									   .entry = c->link_addr});
		break;
	default:
		break;
	}
	return expand_enter_line(r, parent, (enum model_context_kind)c->kind, file, c->line);
}

static bool add_part(struct sharing *s)
{
	const uint32_t *files = (const uint32_t *)s->all_files.at + s->all_files.first[s->part];
	const struct expand_function *functions =
		(const struct expand_function *)s->all_functions.at +
		s->all_functions.first[s->part];
	const struct model_context *contexts =
		(const struct model_context *)s->all_contexts.at + s->all_contexts.first[s->part];
	const uint64_t n_files = n_of(s, &s->all_files), n_functions = n_of(s, &s->all_functions),
		       n_contexts = n_of(s, &s->all_contexts);
	s->file_to = malloc((n_files + 1) * sizeof *s->file_to);
	s->function_to = malloc((n_functions + 1) * sizeof *s->function_to);
	s->context_to = malloc((n_contexts + 1) * sizeof *s->context_to);
	s->r->failed |= !s->file_to || !s->function_to || !s->context_to;
	for (uint64_t i = 0; !s->r->failed && i < n_files; i++)
		s->file_to[i] = expand_intern_file(s->r, text_of(s, files[i]));
	for (uint64_t i = 0; !s->r->failed && i < n_functions; i++)
		s->function_to[i] = add_function(s, functions[i]);
	for (uint64_t i = 0; !s->r->failed && i < n_contexts; i++)
		s->context_to[i] = add_context(s, &contexts[i]);
	free(s->file_to);
	free(s->function_to);
	free(s->context_to);
	return !s->r->failed;
}

/* ---- both ---- */

static void free_joined(struct joined *j)
{
	free((void *)(uintptr_t)j->at);
	free(j->first);
}

bool share_contexts(struct comm *c, bool ok, struct expand_run *r, const struct share_base *base)
{
	struct sharing s = {.c = c, .r = r, .base = base};
	ok = ok && collect(&s) && list_own(&s);
	ok = comm_agree_on(c, ok ? STATUS_OK : STATUS_NO_MEMORY,
			   hash_bytes(base, sizeof *base)) == STATUS_OK &&
	     join_all(&s);
	for (s.part = c->n_parts - 1; ok && s.part >= 0; s.part--)
		if (s.part != c->part)
			ok = add_part(&s);
	map_free(&s.functions);
	vec_free(&s.text);
	vec_free(&s.files);
	vec_free(&s.list);
	free_joined(&s.texts);
	free_joined(&s.all_files);
	free_joined(&s.all_functions);
	free_joined(&s.all_contexts);
	return ok;
}
