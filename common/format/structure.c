/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reader of the structure file; see structure.h. Everything a lookup relies on is validated in
 * structure_open(), so that lookups need no checks. Must not read outside the bytes it was given,
 * whatever they hold. Tests: tests/unit/common/test_structure.c, tests/fuzz/fuzz_structure.c.
 */
#include "common/format/structure.h"

#include "common/base/log.h"
#include "common/base/map.h"
#include "common/base/vec.h"
#include "common/format/structure_layout.h"
#include "common/safe/fnv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct structure_header) == 128, "layout");
static_assert(offsetof(struct structure_header, build_id) == 64, "layout");
static_assert(sizeof(struct structure_section) == 24, "layout");
static_assert(sizeof(struct structure_definition_record) == 16, "layout");
static_assert(sizeof(struct structure_scope_record) == 32, "layout");
static_assert(sizeof(struct structure_region_record) == 24, "layout");
static_assert(sizeof(struct structure_interval_record) == 16, "layout");
static_assert(sizeof(struct structure_alias_record) == 8, "layout");
static_assert(sizeof(struct structure_resources_record) == 40, "layout");
static_assert(sizeof(struct structure_call_record) == 16, "layout");

/* Records of one section, `stride` bytes apart. */
struct table {
	const uint8_t *at;
	size_t n, stride, n_bytes;
};

/* (hash of a name, how it was given) -> function scopes that have it. */
enum name_origin { LINKAGE_NAME, OTHER_NAME };
struct structure_names {
	struct map by_hash; /* -> index in entries: the first of a chain */
	VEC(struct name_entry) entries;
};
struct name_entry {
	const char *name;
	uint32_t scope, next; /* next: with the same hash, index in entries; STRUCTURE_NONE ends */
};

struct structure {
	const char *name;
	const uint8_t *bytes;
	size_t n_bytes;
	const struct structure_header *header;
	struct table tables[STRUCTURE_N_SECTIONS];
	struct structure_names *names; /* after structure_index_names() */
};

static const size_t record_bytes[STRUCTURE_N_SECTIONS] = {
	[STRUCTURE_STRINGS] = 1,
	[STRUCTURE_FILES] = sizeof(uint32_t),
	[STRUCTURE_DEFINITIONS] = sizeof(struct structure_definition_record),
	[STRUCTURE_SCOPES] = sizeof(struct structure_scope_record),
	[STRUCTURE_REGIONS] = sizeof(struct structure_region_record),
	[STRUCTURE_INTERVALS] = sizeof(struct structure_interval_record),
	[STRUCTURE_ALIASES] = sizeof(struct structure_alias_record),
	[STRUCTURE_RESOURCES] = sizeof(struct structure_resources_record),
	[STRUCTURE_CALLS] = sizeof(struct structure_call_record),
};

uint64_t structure_check_add(uint64_t check, const void *bytes, size_t n_bytes)
{
	const uint8_t *p = bytes;
	for (; n_bytes > 0;) {
		uint64_t word = 0;
		size_t n = n_bytes < 8 ? n_bytes : 8;
		memcpy(&word, p, n);
		check ^= word;
		check = (check << 29 | check >> 35) * UINT64_C(0xBF58476D1CE4E5B9);
		p += n;
		n_bytes -= n;
	}
	return check;
}

uint64_t structure_check_file(const uint8_t *bytes, size_t n_bytes)
{
	struct structure_header h;
	memcpy(&h, bytes, sizeof h);
	h.check = 0;
	uint64_t check = structure_check_add(STRUCTURE_CHECK_START, &h, sizeof h);
	return structure_check_add(check, bytes + sizeof h, n_bytes - sizeof h);
}

static const void *record(const struct structure *s, enum structure_section_kind kind, size_t i)
{
	return s->tables[kind].at + i * s->tables[kind].stride;
}

static const char *string_at(const struct structure *s, uint32_t offset)
{
	return (const char *)s->tables[STRUCTURE_STRINGS].at + offset;
}

static bool is_string(const struct structure *s, uint32_t offset)
{
	return offset < s->tables[STRUCTURE_STRINGS].n;
}

static bool is_index_or_none(const struct structure *s, enum structure_section_kind kind,
			     uint32_t i)
{
	return i == STRUCTURE_NONE || i < s->tables[kind].n;
}

static enum status damaged(const struct structure *s, const char *what, size_t i)
{
	log_error(s->name, "damaged structure file: %s %zu", what, i);
	return STATUS_BAD_INPUT;
}

static enum status check_header(const struct structure *s)
{
	const struct structure_header *h = s->header;
	if (s->n_bytes < sizeof *h || memcmp(h->magic, STRUCTURE_MAGIC, sizeof h->magic) != 0) {
		log_error(s->name, "not a structure file");
		return STATUS_BAD_INPUT;
	}
	if (h->version_major != STRUCTURE_VERSION_MAJOR) {
		log_error(s->name, "structure file of version %u.%u; this program reads version %u",
			  h->version_major, h->version_minor, STRUCTURE_VERSION_MAJOR);
		return STATUS_UNSUPPORTED;
	}
	if (h->file_bytes != s->n_bytes || h->header_bytes < sizeof *h ||
	    h->header_bytes % 8 != 0 || h->header_bytes > s->n_bytes ||
	    h->build_id_bytes > STRUCTURE_BUILD_ID_MAX ||
	    h->n_sections > (s->n_bytes - h->header_bytes) / sizeof(struct structure_section))
		return damaged(s, "header, size", s->n_bytes);
	if (h->check != structure_check_file(s->bytes, s->n_bytes))
		return damaged(s, "wrong check value, size", s->n_bytes);
	return STATUS_OK;
}

static enum status find_sections(struct structure *s)
{
	const struct structure_section *sections =
		(const void *)(s->bytes + s->header->header_bytes);
	for (size_t i = 0; i < s->header->n_sections; i++) {
		const struct structure_section *e = &sections[i];
		if (e->offset % 8 != 0 || e->offset > s->n_bytes ||
		    e->n_bytes > s->n_bytes - e->offset)
			return damaged(s, "section", i);
		if (e->kind == 0 || e->kind >= STRUCTURE_N_SECTIONS)
			continue;
		struct table *t = &s->tables[e->kind];
		size_t align = record_bytes[e->kind] < 8 ? record_bytes[e->kind] : 8;
		if (t->at || e->record_bytes < record_bytes[e->kind] ||
		    e->record_bytes % align != 0 || e->n_bytes % e->record_bytes != 0 ||
		    e->n_bytes / e->record_bytes >= STRUCTURE_NONE)
			return damaged(s, "section", i);
		*t = (struct table){s->bytes + e->offset, e->n_bytes / e->record_bytes,
				    e->record_bytes, e->n_bytes};
	}
	const struct table *strings = &s->tables[STRUCTURE_STRINGS];
	if (strings->n == 0 || strings->stride != 1 || strings->at[0] != 0 ||
	    strings->at[strings->n - 1] != 0)
		return damaged(s, "strings of size", strings->n);
	const struct structure_header *h = s->header;
	if (!is_string(s, h->binary) || !is_string(s, h->debug_file) || !is_string(s, h->producer))
		return damaged(s, "header, size", s->n_bytes);
	return STATUS_OK;
}

static enum status check_names(const struct structure *s)
{
	for (size_t i = 0; i < s->tables[STRUCTURE_FILES].n; i++)
		if (!is_string(s, *(const uint32_t *)record(s, STRUCTURE_FILES, i)))
			return damaged(s, "source file", i);
	for (size_t i = 0; i < s->tables[STRUCTURE_DEFINITIONS].n; i++) {
		const struct structure_definition_record *d = record(s, STRUCTURE_DEFINITIONS, i);
		if (!is_string(s, d->name) || !is_string(s, d->linkage_name) ||
		    !is_index_or_none(s, STRUCTURE_FILES, d->file))
			return damaged(s, "definition", i);
	}
	uint32_t last = 0;
	for (size_t i = 0; i < s->tables[STRUCTURE_ALIASES].n; i++) {
		const struct structure_alias_record *a = record(s, STRUCTURE_ALIASES, i);
		if (a->scope < last || a->scope >= s->tables[STRUCTURE_SCOPES].n ||
		    !is_string(s, a->name))
			return damaged(s, "alias", i);
		last = a->scope;
	}
	return STATUS_OK;
}

static enum status check_scopes(const struct structure *s)
{
	for (size_t i = 0; i < s->tables[STRUCTURE_SCOPES].n; i++) {
		const struct structure_scope_record *r = record(s, STRUCTURE_SCOPES, i);
		bool parent_ok =
			r->kind == STRUCTURE_FUNCTION ? r->parent == STRUCTURE_NONE : r->parent < i;
		if (r->kind > STRUCTURE_LOOP || !parent_ok ||
		    r->definition >= s->tables[STRUCTURE_DEFINITIONS].n ||
		    !is_index_or_none(s, STRUCTURE_FILES, r->call_file))
			return damaged(s, "scope", i);
	}
	return STATUS_OK;
}

static bool is_function_scope(const struct structure *s, uint32_t i)
{
	return i < s->tables[STRUCTURE_SCOPES].n &&
	       ((const struct structure_scope_record *)record(s, STRUCTURE_SCOPES, i))->kind ==
		       STRUCTURE_FUNCTION;
}

static enum status check_gpu(const struct structure *s)
{
	for (size_t i = 0; i < s->tables[STRUCTURE_RESOURCES].n; i++) {
		const struct structure_resources_record *r = record(s, STRUCTURE_RESOURCES, i);
		if (!is_function_scope(s, r->scope) ||
		    (i > 0 && ((const struct structure_resources_record *)record(
				       s, STRUCTURE_RESOURCES, i - 1))
					      ->scope >= r->scope))
			return damaged(s, "resources", i);
	}
	for (size_t i = 0; i < s->tables[STRUCTURE_CALLS].n; i++) {
		const struct structure_call_record *c = record(s, STRUCTURE_CALLS, i);
		if ((c->target != STRUCTURE_NONE && !is_function_scope(s, c->target)) ||
		    (i > 0 &&
		     ((const struct structure_call_record *)record(s, STRUCTURE_CALLS, i - 1))
				     ->link_addr >= c->link_addr))
			return damaged(s, "call", i);
	}
	return STATUS_OK;
}

static bool interval_ok(const struct structure *s, const struct structure_interval_record *v)
{
	return is_index_or_none(s, STRUCTURE_SCOPES, v->scope) &&
	       is_index_or_none(s, STRUCTURE_FILES, v->file) &&
	       (v->file == STRUCTURE_NONE) == (v->line == 0);
}

static enum status check_intervals(const struct structure *s)
{
	uint64_t end = 0, next = 0;
	for (size_t i = 0; i < s->tables[STRUCTURE_REGIONS].n; i++) {
		const struct structure_region_record *r = record(s, STRUCTURE_REGIONS, i);
		if (r->start < end || r->n_bytes > UINT32_MAX ||
		    r->start > UINT64_MAX - r->n_bytes || r->first != next ||
		    r->n_intervals > s->tables[STRUCTURE_INTERVALS].n - next)
			return damaged(s, "region", i);
		for (uint32_t k = 0; k < r->n_intervals; k++) {
			const struct structure_interval_record *v =
				record(s, STRUCTURE_INTERVALS, next + k);
			bool rising = k == 0 || ((const struct structure_interval_record *)record(
							 s, STRUCTURE_INTERVALS, next + k - 1))
								->offset < v->offset;
			if (!rising || v->offset >= r->n_bytes || !interval_ok(s, v))
				return damaged(s, "interval", next + k);
		}
		next += r->n_intervals;
		end = r->start + r->n_bytes;
	}
	if (next != s->tables[STRUCTURE_INTERVALS].n)
		return damaged(s, "intervals outside regions from", next);
	return STATUS_OK;
}

enum status structure_open(const char *name, const uint8_t *bytes, size_t n_bytes,
			   struct structure **out)
{
	struct structure *s = calloc(1, sizeof *s);
	if (!s) {
		log_error(name, "out of memory");
		return STATUS_NO_MEMORY;
	}
	*s = (struct structure){
		.name = name, .bytes = bytes, .n_bytes = n_bytes, .header = (const void *)bytes};
	enum status status = check_header(s);
	if (status == STATUS_OK)
		status = find_sections(s);
	if (status == STATUS_OK)
		status = check_names(s);
	if (status == STATUS_OK)
		status = check_scopes(s);
	if (status == STATUS_OK)
		status = check_intervals(s);
	if (status == STATUS_OK)
		status = check_gpu(s);
	if (status != STATUS_OK) {
		free(s);
		return status;
	}
	s->name = NULL; /* the caller's string was lent for the messages only */
	*out = s;
	return STATUS_OK;
}

static void free_names(struct structure_names *names)
{
	map_free(&names->by_hash);
	vec_free(&names->entries);
	free(names);
}

void structure_close(struct structure *s)
{
	if (s && s->names)
		free_names(s->names);
	free(s);
}

/* The last of n records whose key is not above `key`, or n when there is none. */
static size_t last_not_above(const struct structure *s, enum structure_section_kind kind,
			     size_t first, size_t n, uint64_t key)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *r = record(s, kind, first + middle);
		uint64_t at = kind == STRUCTURE_REGIONS
				      ? ((const struct structure_region_record *)r)->start
				      : ((const struct structure_interval_record *)r)->offset;
		if (at <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : n;
}

bool structure_lookup(const struct structure *s, uint64_t link_addr, struct structure_place *place)
{
	size_t n_regions = s->tables[STRUCTURE_REGIONS].n;
	size_t i = last_not_above(s, STRUCTURE_REGIONS, 0, n_regions, link_addr);
	if (i == n_regions)
		return false;
	const struct structure_region_record *r = record(s, STRUCTURE_REGIONS, i);
	if (link_addr - r->start >= r->n_bytes)
		return false;
	size_t k = last_not_above(s, STRUCTURE_INTERVALS, r->first, r->n_intervals,
				  link_addr - r->start);
	if (k == r->n_intervals)
		return false;
	const struct structure_interval_record *v = record(s, STRUCTURE_INTERVALS, r->first + k);
	if (v->scope == STRUCTURE_NONE && v->file == STRUCTURE_NONE)
		return false;
	*place = (struct structure_place){v->scope, v->file, v->line};
	return true;
}

bool structure_get_interval(const struct structure *s, size_t i, uint64_t *start, uint64_t *end,
			    struct structure_place *place)
{
	size_t low = 0, high = s->tables[STRUCTURE_REGIONS].n;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (((const struct structure_region_record *)record(s, STRUCTURE_REGIONS, middle))
			    ->first <= i)
			low = middle;
		else
			high = middle;
	}
	/* of several regions that start with the same interval all but the last are empty */
	const struct structure_region_record *r = record(s, STRUCTURE_REGIONS, low);
	const struct structure_interval_record *v = record(s, STRUCTURE_INTERVALS, i);
	bool is_last = i + 1 == (size_t)r->first + r->n_intervals;
	*start = r->start + v->offset;
	*end = r->start + (is_last ? r->n_bytes
				   : ((const struct structure_interval_record *)record(
					      s, STRUCTURE_INTERVALS, i + 1))
					     ->offset);
	*place = (struct structure_place){v->scope, v->file, v->line};
	return v->scope != STRUCTURE_NONE || v->file != STRUCTURE_NONE;
}

uint32_t structure_n_scopes(const struct structure *s)
{
	return (uint32_t)s->tables[STRUCTURE_SCOPES].n;
}

struct structure_scope structure_get_scope(const struct structure *s, uint32_t id)
{
	const struct structure_scope_record *r = record(s, STRUCTURE_SCOPES, id);
	const struct structure_definition_record *d =
		record(s, STRUCTURE_DEFINITIONS, r->definition);
	return (struct structure_scope){
		.kind = (enum structure_scope_kind)r->kind,
		.origin = (enum structure_origin)r->origin,
		.parent = r->parent,
		.definition = r->definition,
		.name = string_at(s, d->name),
		.linkage_name = string_at(s, d->linkage_name),
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
	return string_at(s, *(const uint32_t *)record(s, STRUCTURE_FILES, id));
}

const char *structure_binary(const struct structure *s)
{
	return string_at(s, s->header->binary);
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
	const struct structure_alias_record *a = record(s, STRUCTURE_ALIASES, i);
	*scope = a->scope;
	return string_at(s, a->name);
}

bool structure_get_resources(const struct structure *s, uint32_t scope,
			     struct structure_resources *out)
{
	size_t low = 0, high = s->tables[STRUCTURE_RESOURCES].n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct structure_resources_record *r = record(s, STRUCTURE_RESOURCES, middle);
		if (r->scope == scope) {
			*out = (struct structure_resources){
				(r->flags & STRUCTURE_RESOURCES_KERNEL) != 0,
				r->registers,
				r->shared_bytes,
				r->frame_bytes,
				r->stack_bytes,
				r->parameter_bytes,
				r->max_threads,
				r->barriers};
			return true;
		}
		if (r->scope < scope)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

size_t structure_n_calls(const struct structure *s)
{
	return s->tables[STRUCTURE_CALLS].n;
}

struct structure_call structure_get_call(const struct structure *s, size_t i)
{
	const struct structure_call_record *c = record(s, STRUCTURE_CALLS, i);
	return (struct structure_call){c->link_addr, c->target};
}

static bool add_name(struct structure_names *names, const char *name, enum name_origin how,
		     uint32_t scope)
{
	struct name_entry *e = vec_push(&names->entries);
	if (!e)
		return false;
	uint32_t id = (uint32_t)(names->entries.n - 1);
	*e = (struct name_entry){name, scope, STRUCTURE_NONE};
	uint64_t first = map_put(&names->by_hash, hash_bytes(name, strlen(name)), how, id);
	if (first == MAP_NONE || first == id)
		return first != MAP_NONE;
	e->next = names->entries.at[first].next;
	names->entries.at[first].next = id;
	return true;
}

static bool add_names(const struct structure *s, struct structure_names *names)
{
	for (uint32_t i = 0; i < structure_n_scopes(s); i++) {
		struct structure_scope scope = structure_get_scope(s, i);
		if (scope.kind != STRUCTURE_FUNCTION)
			continue;
		if (*scope.linkage_name && !add_name(names, scope.linkage_name, LINKAGE_NAME, i))
			return false;
		if (!add_name(names, scope.name, *scope.linkage_name ? OTHER_NAME : LINKAGE_NAME,
			      i))
			return false;
	}
	for (size_t i = 0; i < structure_n_aliases(s); i++) {
		uint32_t scope;
		const char *name = structure_get_alias(s, i, &scope);
		if (!add_name(names, name, OTHER_NAME, scope))
			return false;
	}
	return true;
}

enum status structure_index_names(struct structure *s, const char *name)
{
	struct structure_names *names = calloc(1, sizeof *names);
	if (!names || !add_names(s, names)) {
		if (names)
			free_names(names);
		log_error(name, "out of memory");
		return STATUS_NO_MEMORY;
	}
	if (s->names)
		free_names(s->names);
	s->names = names;
	return STATUS_OK;
}

/* The lowest scope that has the name, and whether another one has it too. */
static uint32_t find_name(const struct structure_names *names, const char *name,
			  enum name_origin how, bool *is_ambiguous)
{
	uint32_t found = STRUCTURE_NONE;
	uint64_t first = map_get(&names->by_hash, hash_bytes(name, strlen(name)), how);
	for (uint32_t i = first == MAP_NONE ? STRUCTURE_NONE : (uint32_t)first; i != STRUCTURE_NONE;
	     i = names->entries.at[i].next) {
		const struct name_entry *e = &names->entries.at[i];
		if (strcmp(e->name, name) != 0)
			continue;
		*is_ambiguous |= found != STRUCTURE_NONE && found != e->scope;
		found = e->scope < found ? e->scope : found;
	}
	return found;
}

uint32_t structure_find_function(const struct structure *s, const char *name, bool *is_ambiguous)
{
	bool several = false;
	uint32_t found = STRUCTURE_NONE;
	if (s->names)
		found = find_name(s->names, name, LINKAGE_NAME, &several);
	if (s->names && found == STRUCTURE_NONE)
		found = find_name(s->names, name, OTHER_NAME, &several);
	if (is_ambiguous)
		*is_ambiguous = several;
	return found;
}

uint64_t structure_fingerprint(const struct structure *s)
{
	return s->header->fingerprint;
}

const char *structure_debug_file(const struct structure *s)
{
	return string_at(s, s->header->debug_file);
}

const char *structure_producer(const struct structure *s)
{
	return string_at(s, s->header->producer);
}

void structure_binary_stat(const struct structure *s, uint64_t *n_bytes, uint64_t *mtime_ns)
{
	*n_bytes = s->header->binary_bytes;
	*mtime_ns = s->header->binary_mtime_ns;
}

void structure_key(char key[STRUCTURE_KEY_BYTES], const uint8_t *build_id, size_t build_id_bytes,
		   const char *path, uint64_t file_bytes, uint64_t mtime_ns)
{
	if (build_id_bytes > STRUCTURE_BUILD_ID_MAX)
		build_id_bytes = STRUCTURE_BUILD_ID_MAX;
	for (size_t i = 0; i < build_id_bytes; i++)
		snprintf(key + 2 * i, 3, "%02x", build_id[i]);
	if (build_id_bytes > 0)
		return;
	uint64_t facts[2] = {file_bytes, mtime_ns};
	uint64_t h = fnv64(FNV64_START, path, strlen(path));
	snprintf(key, STRUCTURE_KEY_BYTES, "x%016llx",
		 (unsigned long long)hash_u64(fnv64(h, facts, sizeof facts)));
}
