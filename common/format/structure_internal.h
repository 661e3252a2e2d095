/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An open structure file, shared by the files of its reader. structure_open() has validated every
 * index and string, so the functions below check nothing. Only structure*.c includes this file.
 */
#ifndef COMMON_FORMAT_STRUCTURE_INTERNAL_H
#define COMMON_FORMAT_STRUCTURE_INTERNAL_H

#include "common/format/structure.h"
#include "common/format/structure_layout.h"

/* Records of one section, `stride` bytes apart. */
struct structure_table {
	const uint8_t *at;
	size_t n, stride, n_bytes;
};

struct structure {
	const char *name; /* for messages; NULL after structure_open() */
	const uint8_t *bytes;
	size_t n_bytes;
	const struct structure_header *header;
	struct structure_table tables[STRUCTURE_N_SECTIONS];
	struct structure_names *names; /* after structure_index_names() */
};

/* structure_KIND_at(s, i) returns record `i` of a section that has more than `i` records. */
#define STRUCTURE_RECORD_AT(record_kind, section) \
	static inline const struct structure_##record_kind##_record *structure_##record_kind##_at( \
		const struct structure *s, size_t i) \
	{ \
		return (const void *)(s->tables[section].at + i * s->tables[section].stride); \
	}
STRUCTURE_RECORD_AT(definition, STRUCTURE_DEFINITIONS)
STRUCTURE_RECORD_AT(scope, STRUCTURE_SCOPES)
STRUCTURE_RECORD_AT(region, STRUCTURE_REGIONS)
STRUCTURE_RECORD_AT(interval, STRUCTURE_INTERVALS)
STRUCTURE_RECORD_AT(alias, STRUCTURE_ALIASES)
STRUCTURE_RECORD_AT(resources, STRUCTURE_RESOURCES)
STRUCTURE_RECORD_AT(call, STRUCTURE_CALLS)
STRUCTURE_RECORD_AT(wait, STRUCTURE_WAITS)
STRUCTURE_RECORD_AT(cause, STRUCTURE_CAUSES)

/* Offset of the path of source file `i` in the strings. */
static inline uint32_t structure_file_at(const struct structure *s, size_t i)
{
	const struct structure_table *t = &s->tables[STRUCTURE_FILES];
	return *(const uint32_t *)(const void *)(t->at + i * t->stride);
}

/* The string at an offset in the section of strings. */
static inline const char *structure_string(const struct structure *s, uint32_t offset)
{
	return (const char *)s->tables[STRUCTURE_STRINGS].at + offset;
}

/* Frees what structure_index_names() made. */
void structure_free_names(struct structure_names *names);

#endif
