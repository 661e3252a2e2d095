/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up addresses and records in an open structure file; see structure.h. structure_open() has
 * validated the file, so nothing is checked here. Test: tests/unit/common/test_structure.c.
 */
#include "common/format/structure_internal.h"

#include "common/base/map.h"
#include "common/base/sorted.h"
#include "common/safe/fnv.h"

#include <stdio.h>
#include <string.h>

bool structure_lookup(const struct structure *s, uint64_t link_addr, struct structure_place *place)
{
	size_t n_regions = s->tables[STRUCTURE_REGIONS].n;
	size_t n = sorted_prefix(n_regions, i, structure_region_at(s, i)->start <= link_addr);
	if (n == 0)
		return false;
	const struct structure_region_record *r = structure_region_at(s, n - 1);
	uint64_t offset = link_addr - r->start;
	if (offset >= r->n_bytes)
		return false;
	n = sorted_prefix(r->n_intervals, i,
			  structure_interval_at(s, r->first + i)->offset <= offset);
	if (n == 0)
		return false;
	const struct structure_interval_record *v = structure_interval_at(s, r->first + n - 1);
	if (v->scope == STRUCTURE_NONE && v->file == STRUCTURE_NONE)
		return false;
	*place = (struct structure_place){v->scope, v->file, v->line};
	return true;
}

bool structure_get_interval(const struct structure *s, size_t i, uint64_t *start, uint64_t *end,
			    struct structure_place *place)
{
	/* If several regions start with the same interval, all but the last are empty. */
	size_t n_regions = s->tables[STRUCTURE_REGIONS].n;
	size_t n = sorted_prefix(n_regions, k, structure_region_at(s, k)->first <= i);
	const struct structure_region_record *r = structure_region_at(s, n - 1);
	const struct structure_interval_record *v = structure_interval_at(s, i);
	bool is_last = i + 1 == (size_t)r->first + r->n_intervals;
	*start = r->start + v->offset;
	*end = r->start + (is_last ? r->n_bytes : structure_interval_at(s, i + 1)->offset);
	*place = (struct structure_place){v->scope, v->file, v->line};
	return v->scope != STRUCTURE_NONE || v->file != STRUCTURE_NONE;
}

uint32_t structure_n_scopes(const struct structure *s)
{
	return (uint32_t)s->tables[STRUCTURE_SCOPES].n;
}

struct structure_scope structure_get_scope(const struct structure *s, uint32_t id)
{
	const struct structure_scope_record *r = structure_scope_at(s, id);
	const struct structure_definition_record *d = structure_definition_at(s, r->definition);
	return (struct structure_scope){
		.kind = (enum structure_scope_kind)r->kind,
		.origin = (enum structure_origin)r->origin,
		.parent = r->parent,
		.definition = r->definition,
		.name = structure_string(s, d->name),
		.linkage_name = structure_string(s, d->linkage_name),
		.file = d->file,
		.line = d->line,
		.call_file = r->call_file,
		.call_line = r->call_line,
		.entry = r->entry,
		.is_irreducible =
			r->kind == STRUCTURE_LOOP && (r->flags & STRUCTURE_SCOPE_IRREDUCIBLE),
	};
}

uint32_t structure_n_files(const struct structure *s)
{
	return (uint32_t)s->tables[STRUCTURE_FILES].n;
}

const char *structure_get_file(const struct structure *s, uint32_t id)
{
	return structure_string(s, structure_file_at(s, id));
}

const char *structure_binary(const struct structure *s)
{
	return structure_string(s, s->header->binary);
}

const uint8_t *structure_build_id(const struct structure *s, size_t *build_id_bytes)
{
	*build_id_bytes = s->header->build_id_bytes;
	return s->header->build_id;
}

bool structure_has_lines(const struct structure *s)
{
	return (s->header->flags & STRUCTURE_FLAG_LINES) != 0;
}

bool structure_is_incomplete(const struct structure *s)
{
	return (s->header->flags & STRUCTURE_FLAG_INCOMPLETE) != 0;
}

bool structure_is_partial(const struct structure *s)
{
	return (s->header->flags & STRUCTURE_FLAG_PARTIAL) != 0;
}

size_t structure_n_regions(const struct structure *s)
{
	return s->tables[STRUCTURE_REGIONS].n;
}

void structure_get_region(const struct structure *s, size_t i, uint64_t *start, uint64_t *end)
{
	const struct structure_region_record *r = structure_region_at(s, i);
	*start = r->start;
	*end = r->start + r->n_bytes;
}

uint32_t structure_n_definitions(const struct structure *s)
{
	return (uint32_t)s->tables[STRUCTURE_DEFINITIONS].n;
}

size_t structure_n_intervals(const struct structure *s)
{
	return s->tables[STRUCTURE_INTERVALS].n;
}

size_t structure_n_aliases(const struct structure *s)
{
	return s->tables[STRUCTURE_ALIASES].n;
}

const char *structure_get_alias(const struct structure *s, size_t i, uint32_t *scope)
{
	const struct structure_alias_record *a = structure_alias_at(s, i);
	*scope = a->scope;
	return structure_string(s, a->name);
}

bool structure_get_resources(const struct structure *s, uint32_t scope,
			     struct structure_resources *out)
{
	size_t n = s->tables[STRUCTURE_RESOURCES].n;
	size_t at = sorted_prefix(n, i, structure_resources_at(s, i)->scope < scope);
	if (at == n || structure_resources_at(s, at)->scope != scope)
		return false;
	const struct structure_resources_record *r = structure_resources_at(s, at);
	*out = (struct structure_resources){(r->flags & STRUCTURE_RESOURCES_KERNEL) != 0,
					    r->registers,
					    r->shared_bytes,
					    r->frame_bytes,
					    r->stack_bytes,
					    r->parameter_bytes,
					    r->max_threads,
					    r->barriers};
	return true;
}

size_t structure_n_calls(const struct structure *s)
{
	return s->tables[STRUCTURE_CALLS].n;
}

struct structure_call structure_get_call(const struct structure *s, size_t i)
{
	const struct structure_call_record *c = structure_call_at(s, i);
	return (struct structure_call){c->link_addr, c->target};
}

uint64_t structure_fingerprint(const struct structure *s)
{
	return s->header->fingerprint;
}

const char *structure_debug_file(const struct structure *s)
{
	return structure_string(s, s->header->debug_file);
}

const char *structure_producer(const struct structure *s)
{
	return structure_string(s, s->header->producer);
}

void structure_binary_stat(const struct structure *s, uint64_t *n_bytes, uint64_t *mtime_ns)
{
	*n_bytes = s->header->binary_bytes;
	*mtime_ns = s->header->binary_mtime_ns;
}

void structure_key(char key[STRUCTURE_KEY_BYTES], const uint8_t *build_id, size_t build_id_bytes,
		   const char *path, uint64_t file_bytes, uint64_t mtime_ns, uint64_t content)
{
	if (build_id_bytes > STRUCTURE_BUILD_ID_MAX)
		build_id_bytes = STRUCTURE_BUILD_ID_MAX;
	for (size_t i = 0; i < build_id_bytes; i++)
		snprintf(key + 2 * i, 3, "%02x", build_id[i]);
	if (build_id_bytes > 0)
		return;
	const uint64_t facts[3] = {file_bytes, mtime_ns, content};
	const size_t n_bytes = content ? sizeof facts : sizeof facts - sizeof *facts;
	uint64_t h = fnv64(FNV64_START, path, strlen(path));
	snprintf(key, STRUCTURE_KEY_BYTES, "x%016llx",
		 (unsigned long long)hash_u64(fnv64(h, facts, n_bytes)));
}
