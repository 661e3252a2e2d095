/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts the map into the order of the file, drops everything that no address refers to, and writes
 * it. The order depends only on addresses and names, not on the order in which threads added units.
 * Test: tests/unit/struct/test_scope.c, tests/cli/struct/struct_golden.sh.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include "common/base/log.h"
#include "common/format/structure_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The sort key of a scope; see the specification of the format. */
struct order {
	uint64_t entry;        /* of functions; of others the first position */
	uint32_t parent, first, scope;
};

struct writer {
	struct scope_map *map;
	uint32_t *firsts;      /* by scope: first position, SCOPE_NONE when unused */
	uint32_t *new_ids;     /* by scope */
	VEC(struct order) order;
	struct strtab strings;
	uint32_t *definition_ids, *file_ids;
	VEC(uint32_t) files;
	VEC(struct structure_definition_record) definitions;
	VEC(struct structure_scope_record) scopes;
	VEC(struct structure_region_record) regions;
	VEC(struct structure_alias_record) aliases;
	VEC(struct structure_resources_record) resources;
	VEC(struct structure_call_record) calls;
	bool has_lines;
};

static void note_uses(struct writer *w)
{
	struct scope_map *map = w->map;
	for (size_t i = 0; i < map->scopes.n; i++)
		w->firsts[i] = SCOPE_NONE;
	for (size_t i = 0; i < map->intervals.n; i++) {
		const struct structure_interval_record *v = &map->intervals.at[i];
		for (uint32_t s = v->scope; s != SCOPE_NONE && w->firsts[s] == SCOPE_NONE;
		     s = map->scopes.at[s].parent)
			w->firsts[s] = v->offset;
		w->has_lines |= v->file != SCOPE_NONE;
	}
}

static int compare_order(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	if (x->parent != y->parent) /* functions have no parent and come last here */
		return x->parent < y->parent ? -1 : 1;
	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static uint32_t string(struct writer *w, uint32_t id, bool *ok)
{
	uint32_t new_id = strtab_add_z(&w->strings, strtab_get(&w->map->strings, id));
	*ok = *ok && new_id != STRTAB_FAILED;
	return *ok ? strtab_offset(&w->strings, new_id) : 0;
}

static uint32_t file(struct writer *w, uint32_t id, bool *ok)
{
	if (id == SCOPE_NONE)
		return SCOPE_NONE;
	if (w->file_ids[id] == SCOPE_NONE) {
		uint32_t name = strtab_add_z(&w->strings, strtab_get(&w->map->paths, id));
		uint32_t *slot = name != STRTAB_FAILED ? vec_push(&w->files) : NULL;
		*ok = *ok && slot;
		if (!slot)
			return SCOPE_NONE;
		*slot = strtab_offset(&w->strings, name);
		w->file_ids[id] = (uint32_t)(w->files.n - 1);
	}
	return w->file_ids[id];
}

static uint32_t definition(struct writer *w, uint32_t id, bool *ok)
{
	if (w->definition_ids[id] == SCOPE_NONE) {
		const struct scope_definition *d = &w->map->definitions.at[id];
		struct structure_definition_record *slot = vec_push(&w->definitions);
		*ok = *ok && slot;
		if (!slot)
			return 0;
		w->definition_ids[id] = (uint32_t)(w->definitions.n - 1);
		*slot = (struct structure_definition_record){string(w, d->name, ok),
							     string(w, d->linkage_name, ok),
							     file(w, d->file, ok), d->line};
	}
	return w->definition_ids[id];
}

static bool emit_scope(struct writer *w, const struct order *o)
{
	const struct scope_record *r = &w->map->scopes.at[o->scope];
	struct structure_scope_record *slot = vec_push(&w->scopes);
	bool ok = slot != NULL;
	if (!ok)
		return false;
	w->new_ids[o->scope] = (uint32_t)(w->scopes.n - 1);
	uint32_t call_file = file(w, r->call_file, &ok);
	*slot = (struct structure_scope_record){
		.kind = r->kind,
		.origin = r->origin,
		.flags = r->flags,
		.parent = r->parent == SCOPE_NONE ? SCOPE_NONE : w->new_ids[r->parent],
		.definition = definition(w, r->definition, &ok),
		.call_file = call_file,
		.call_line = call_file == SCOPE_NONE ? 0 : r->call_line,
		.entry = r->kind == STRUCTURE_FUNCTION ? r->entry
						       : image_address(w->map->image, o->first),
	};
	return ok;
}

/* Emits the scopes below a scope. Recursion is as deep as the inlining. */
static bool emit_children(struct writer *w, const uint32_t *first_child, uint32_t parent)
{
	for (size_t i = first_child[parent]; i < w->order.n && w->order.at[i].parent == parent; i++)
		if (!emit_scope(w, &w->order.at[i]) ||
		    !emit_children(w, first_child, w->order.at[i].scope))
			return false;
	return true;
}

static bool emit_scopes(struct writer *w)
{
	struct scope_map *map = w->map;
	uint32_t *first_child = malloc((map->scopes.n + 1) * sizeof *first_child);
	bool ok = first_child != NULL;
	for (size_t i = 0; i < map->scopes.n && ok; i++) {
		if (w->firsts[i] == SCOPE_NONE)
			continue;
		struct order *o = vec_push(&w->order);
		ok = o != NULL;
		if (ok)
			*o = (struct order){map->scopes.at[i].parent == SCOPE_NONE
						    ? map->scopes.at[i].entry
						    : w->firsts[i],
					    map->scopes.at[i].parent, w->firsts[i], (uint32_t)i};
	}
	if (ok && w->order.n > 1)
		qsort(w->order.at, w->order.n, sizeof *w->order.at, compare_order);
	for (size_t i = 0; i < map->scopes.n && ok; i++)
		first_child[i] = (uint32_t)w->order.n;
	size_t functions = w->order.n;
	for (size_t i = w->order.n; i-- > 0 && ok;) {
		if (w->order.at[i].parent == SCOPE_NONE)
			functions = i;
		else
			first_child[w->order.at[i].parent] = (uint32_t)i;
	}
	for (size_t i = functions; i < w->order.n && ok; i++)
		ok = emit_scope(w, &w->order.at[i]) &&
		     emit_children(w, first_child, w->order.at[i].scope);
	free(first_child);
	return ok;
}

static bool emit_aliases(struct writer *w)
{
	bool ok = true;
	for (size_t i = 0; i < w->map->aliases.n && ok; i++) {
		const struct scope_alias *a = &w->map->aliases.at[i];
		if (w->firsts[a->scope] == SCOPE_NONE)
			continue;
		const struct scope_definition *d =
			&w->map->definitions.at[w->map->scopes.at[a->scope].definition];
		if (a->name == d->name || a->name == d->linkage_name)
			continue;
		struct structure_alias_record *slot = vec_push(&w->aliases);
		ok = slot != NULL;
		if (ok)
			*slot = (struct structure_alias_record){w->new_ids[a->scope],
								string(w, a->name, &ok)};
	}
	return ok;
}

/*
 * Returns the file's number of the function that contains an address; SCOPE_NONE: none. Call it
 * before the intervals get the file's numbers.
 */
static uint32_t function_at(const struct writer *w, uint64_t link_addr)
{
	uint32_t position, scope = SCOPE_NONE;
	if (link_addr != 0 && image_position(w->map->image, link_addr, &position))
		scope = scope_at(w->map, position);
	return scope == SCOPE_NONE ? SCOPE_NONE : w->new_ids[scope_root(w->map, scope)];
}

static int compare_resources(const void *a, const void *b)
{
	const struct structure_resources_record *x = a, *y = b;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static int compare_calls(const void *a, const void *b)
{
	const struct structure_call_record *x = a, *y = b;
	if (x->link_addr != y->link_addr)
		return x->link_addr < y->link_addr ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

static bool emit_resources(struct writer *w)
{
	for (size_t i = 0; i < w->map->resources.n; i++) {
		const struct debug_resources *r = &w->map->resources.at[i];
		uint32_t scope = function_at(w, r->link_addr);
		if (scope == SCOPE_NONE)
			continue;
		struct structure_resources_record *slot = vec_push(&w->resources);
		if (!slot)
			return false;
		*slot = (struct structure_resources_record){
			scope,
			r->is_kernel ? STRUCTURE_RESOURCES_KERNEL : 0,
			r->registers,
			r->shared_bytes,
			r->frame_bytes,
			r->stack_bytes,
			r->parameter_bytes,
			r->max_threads,
			r->barriers,
			0};
	}
	if (w->resources.n > 1)
		qsort(w->resources.at, w->resources.n, sizeof *w->resources.at, compare_resources);
	size_t n = 0;
	for (size_t i = 0; i < w->resources.n; i++)
		if (n == 0 || w->resources.at[n - 1].scope != w->resources.at[i].scope)
			w->resources.at[n++] = w->resources.at[i];
	w->resources.n = n;
	return true;
}

static bool emit_calls(struct writer *w)
{
	for (size_t i = 0; i < w->map->calls.n; i++) {
		const struct scope_call *c = &w->map->calls.at[i];
		if (w->map->is_wanted && function_at(w, c->link_addr) == SCOPE_NONE)
			continue;
		struct structure_call_record *slot = vec_push(&w->calls);
		if (!slot)
			return false;
		*slot = (struct structure_call_record){c->link_addr, function_at(w, c->target_addr),
						       0};
	}
	if (w->calls.n > 1)
		qsort(w->calls.at, w->calls.n, sizeof *w->calls.at, compare_calls);
	size_t n = 0;
	for (size_t i = 0; i < w->calls.n; i++)
		if (n == 0 || w->calls.at[n - 1].link_addr != w->calls.at[i].link_addr)
			w->calls.at[n++] = w->calls.at[i];
	w->calls.n = n;
	return true;
}

static int compare_aliases(const void *a, const void *b)
{
	const struct structure_alias_record *x = a, *y = b;
	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Makes room for one more interval before the i-th, which will be read next. */
static bool insert_before(struct scope_intervals *v, size_t i)
{
	if (!vec_push(v))
		return false;
	memmove(&v->at[i + 1], &v->at[i], (v->n - 1 - i) * sizeof *v->at);
	return true;
}

/*
 * Rewrites the map's intervals in place with the file's numbers and offsets, and splits them at the
 * ends of regions. A gap is kept only if it ends something. An interval that reaches into the next
 * region is repeated at the start of that region.
 */
static bool emit_intervals(struct writer *w)
{
	const struct scope_map *map = w->map;
	const struct image_region *regions = map->is_wanted ? map->kept.at : map->image->regions.at;
	size_t n_regions = map->is_wanted ? map->kept.n : map->image->regions.n;
	struct scope_intervals *v = &w->map->intervals;
	struct structure_interval_record last = {0, SCOPE_NONE, SCOPE_NONE, 0};
	size_t in = 0, out = 0; /* out <= in: every overwritten interval was already read */
	bool ok = true;
	for (size_t k = 0; k < n_regions && ok; k++) {
		const struct image_region *region = &regions[k];
		uint64_t end = (uint64_t)region->position + region->n_bytes;
		size_t first = out;
		for (; in < v->n && v->at[in].offset < region->position; in++)
			last.scope = last.file = SCOPE_NONE; /* a gap that was cut out */
		bool reaches_in = (in == v->n || v->at[in].offset > region->position) &&
				  (last.scope != SCOPE_NONE || last.file != SCOPE_NONE);
		if (reaches_in && out == in) {
			ok = insert_before(v, in);
			in++;
		}
		if (ok && reaches_in)
			v->at[out++] = (struct structure_interval_record){0, last.scope, last.file,
									  last.line};
		for (; in < v->n && v->at[in].offset < end && ok; in++) {
			struct structure_interval_record r = v->at[in];
			last.scope = r.scope == SCOPE_NONE ? SCOPE_NONE : w->new_ids[r.scope];
			last.file = file(w, r.file, &ok);
			last.line = r.line;
			if (out > first || last.scope != SCOPE_NONE || last.file != SCOPE_NONE)
				v->at[out++] = (struct structure_interval_record){
					r.offset - region->position, last.scope, last.file,
					last.line};
		}
		struct structure_region_record *r = vec_push(&w->regions);
		ok = ok && r;
		if (ok)
			*r = (struct structure_region_record){region->start, region->n_bytes,
							      (uint32_t)first,
							      (uint32_t)(out - first)};
	}
	v->n = out;
	return ok;
}

static enum status write_pieces(struct structure_pieces *p, int fd, const char *path)
{
	for (int i = 0; i < p->n;) {
		ssize_t n = writev(fd, p->at + i, p->n - i);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			log_error(path, "%s", strerror(errno));
			return STATUS_IO;
		}
		for (; i < p->n && (size_t)n >= p->at[i].iov_len; i++)
			n -= (ssize_t)p->at[i].iov_len;
		if (n > 0) {
			p->at[i].iov_base = (char *)p->at[i].iov_base + n;
			p->at[i].iov_len -= (size_t)n;
		}
	}
	return STATUS_OK;
}

static bool prepare(struct writer *w)
{
	size_t n_scopes = w->map->scopes.n + 1, n_definitions = w->map->definitions.n + 1,
	       n_files = w->map->paths.starts.n + 1;
	w->firsts = malloc(n_scopes * sizeof *w->firsts);
	w->new_ids = malloc(n_scopes * sizeof *w->new_ids);
	w->definition_ids = malloc(n_definitions * sizeof *w->definition_ids);
	w->file_ids = malloc(n_files * sizeof *w->file_ids);
	if (!w->firsts || !w->new_ids || !w->definition_ids || !w->file_ids ||
	    strtab_add_z(&w->strings, "") != 0)
		return false;
	memset(w->definition_ids, 0xff, n_definitions * sizeof *w->definition_ids);
	memset(w->file_ids, 0xff, n_files * sizeof *w->file_ids);
	return true;
}

static void release(struct writer *w)
{
	free(w->firsts);
	free(w->new_ids);
	free(w->definition_ids);
	free(w->file_ids);
	strtab_free(&w->strings);
	vec_free(&w->order);
	vec_free(&w->files);
	vec_free(&w->definitions);
	vec_free(&w->scopes);
	vec_free(&w->regions);
	vec_free(&w->aliases);
	vec_free(&w->resources);
	vec_free(&w->calls);
}

static uint32_t text(struct writer *w, const char *s, bool *ok)
{
	uint32_t id = strtab_add_z(&w->strings, s ? s : "");
	*ok = *ok && id != STRTAB_FAILED;
	return *ok ? strtab_offset(&w->strings, id) : 0;
}

enum status scope_write(struct scope_map *map, const struct scope_facts *facts, int fd,
			const char *path)
{
	struct writer w = {.map = map};
	bool ok = (!map->is_wanted || scope_cut(map)) && prepare(&w);
	if (ok)
		note_uses(&w);
	ok = ok && emit_scopes(&w) && emit_resources(&w) && emit_calls(&w) && emit_intervals(&w) &&
	     emit_aliases(&w);
	uint32_t binary = text(&w, facts->binary, &ok),
		 debug_file = text(&w, facts->debug_file, &ok),
		 producer = text(&w, facts->producer, &ok);
	enum status status = STATUS_NO_MEMORY;
	if (ok) {
		if (w.aliases.n > 1)
			qsort(w.aliases.at, w.aliases.n, sizeof *w.aliases.at, compare_aliases);
		struct structure_content content = {
			.fingerprint = facts->fingerprint,
			.flags = (w.has_lines ? STRUCTURE_FLAG_LINES : 0) |
				 (facts->has_dwarf ? STRUCTURE_FLAG_DWARF : 0) |
				 (facts->incomplete ? STRUCTURE_FLAG_INCOMPLETE : 0) |
				 (map->is_wanted ? STRUCTURE_FLAG_PARTIAL : 0),
			.binary = binary,
			.debug_file = debug_file,
			.producer = producer,
			.build_id = map->image->build_id,
			.build_id_bytes = map->image->build_id_bytes,
			.binary_bytes = map->image->file.n_bytes,
			.binary_mtime_ns = map->image->file.mtime_ns,
			.strings = w.strings.bytes.at,
			.strings_bytes = w.strings.bytes.n,
			.files = w.files.at,
			.n_files = w.files.n,
			.definitions = w.definitions.at,
			.n_definitions = w.definitions.n,
			.scopes = w.scopes.at,
			.n_scopes = w.scopes.n,
			.regions = w.regions.at,
			.n_regions = w.regions.n,
			.intervals = map->intervals.at,
			.n_intervals = map->intervals.n,
			.aliases = w.aliases.at,
			.n_aliases = w.aliases.n,
			.resources = w.resources.at,
			.n_resources = w.resources.n,
			.calls = w.calls.at,
			.n_calls = w.calls.n,
			.waits = map->waits.at,
			.n_waits = map->waits.n,
			.causes = map->causes.at,
			.n_causes = map->causes.n,
		};
		struct structure_pieces pieces;
		structure_lay_out(&content, &pieces);
		status = write_pieces(&pieces, fd, path);
	} else {
		log_error(path, "out of memory");
	}
	release(&w);
	return status;
}
