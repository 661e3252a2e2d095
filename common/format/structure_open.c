/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a structure file; see structure.h. Checks here everything that lookups rely on. Never reads
 * outside the given bytes, whatever they contain. Tests: tests/unit/common/test_structure.c,
 * tests/fuzz/fuzz_structure.c.
 */
#include "common/format/structure_internal.h"

#include "common/base/log.h"

#include <stdlib.h>
#include <string.h>

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
	[STRUCTURE_WAITS] = sizeof(struct structure_wait_record),
	[STRUCTURE_CAUSES] = sizeof(struct structure_cause_record),
};

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
		struct structure_table *t = &s->tables[e->kind];
		size_t align = record_bytes[e->kind] < 8 ? record_bytes[e->kind] : 8;
		if (t->at || e->record_bytes < record_bytes[e->kind] ||
		    e->record_bytes % align != 0 || e->n_bytes % e->record_bytes != 0 ||
		    e->n_bytes / e->record_bytes >= STRUCTURE_NONE)
			return damaged(s, "section", i);
		*t = (struct structure_table){s->bytes + e->offset, e->n_bytes / e->record_bytes,
				    e->record_bytes, e->n_bytes};
	}
	const struct structure_table *strings = &s->tables[STRUCTURE_STRINGS];
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
		if (!is_string(s, structure_file_at(s, i)))
			return damaged(s, "source file", i);
	for (size_t i = 0; i < s->tables[STRUCTURE_DEFINITIONS].n; i++) {
		const struct structure_definition_record *d = structure_definition_at(s, i);
		if (!is_string(s, d->name) || !is_string(s, d->linkage_name) ||
		    !is_index_or_none(s, STRUCTURE_FILES, d->file))
			return damaged(s, "definition", i);
	}
	uint32_t last = 0;
	for (size_t i = 0; i < s->tables[STRUCTURE_ALIASES].n; i++) {
		const struct structure_alias_record *a = structure_alias_at(s, i);
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
		const struct structure_scope_record *r = structure_scope_at(s, i);
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
	       structure_scope_at(s, i)->kind == STRUCTURE_FUNCTION;
}

static enum status check_gpu(const struct structure *s)
{
	for (size_t i = 0; i < s->tables[STRUCTURE_RESOURCES].n; i++) {
		const struct structure_resources_record *r = structure_resources_at(s, i);
		if (!is_function_scope(s, r->scope) ||
		    (i > 0 && structure_resources_at(s, i - 1)->scope >= r->scope))
			return damaged(s, "resources", i);
	}
	for (size_t i = 0; i < s->tables[STRUCTURE_CALLS].n; i++) {
		const struct structure_call_record *c = structure_call_at(s, i);
		if ((c->target != STRUCTURE_NONE && !is_function_scope(s, c->target)) ||
		    (i > 0 && structure_call_at(s, i - 1)->link_addr >= c->link_addr))
			return damaged(s, "call", i);
	}
	return STATUS_OK;
}

/* Each wait has a cause, and each cause belongs to a wait. */
static enum status check_waits(const struct structure *s)
{
	size_t n = s->tables[STRUCTURE_WAITS].n, n_causes = s->tables[STRUCTURE_CAUSES].n;
	for (size_t i = 0; i < n; i++) {
		const struct structure_wait_record *w = structure_wait_at(s, i);
		const struct structure_wait_record *last =
			i > 0 ? structure_wait_at(s, i - 1) : NULL;
		if (w->first >= n_causes || (last ? last->first >= w->first : w->first != 0) ||
		    (last && last->link_addr >= w->link_addr))
			return damaged(s, "wait", i);
	}
	if (n == 0 && n_causes > 0)
		return damaged(s, "causes without a wait, number", n_causes);
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
		const struct structure_region_record *r = structure_region_at(s, i);
		if (r->start < end || r->n_bytes > UINT32_MAX ||
		    r->start > UINT64_MAX - r->n_bytes || r->first != next ||
		    r->n_intervals > s->tables[STRUCTURE_INTERVALS].n - next)
			return damaged(s, "region", i);
		for (uint32_t k = 0; k < r->n_intervals; k++) {
			size_t at = next + k;
			const struct structure_interval_record *v = structure_interval_at(s, at);
			bool rises = k == 0 || structure_interval_at(s, at - 1)->offset < v->offset;
			if (!rises || v->offset >= r->n_bytes || !interval_ok(s, v))
				return damaged(s, "interval", at);
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
	if (status == STATUS_OK)
		status = check_waits(s);
	if (status != STATUS_OK) {
		free(s);
		return status;
	}
	s->name = NULL; /* we borrowed the caller's string for messages only */
	*out = s;
	return STATUS_OK;
}

void structure_close(struct structure *s)
{
	if (s && s->names)
		structure_free_names(s->names);
	free(s);
}
