/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens sessions and moves from one unit to the next; see debug.h. The list of units is read here
 * without libdwarf, because libdwarf can only step through the headers one by one. Test:
 * tests/cli/struct/struct_judge.sh.
 */
#include "hpcstruct-lite/debug/debug_internal.h"

#include "common/base/cursor.h"
#include "common/base/log.h"

#include <stdlib.h>
#include <string.h>

void debug_unit_free(struct debug_unit *unit)
{
	strtab_free(&unit->files);
	strtab_free(&unit->names);
	vec_free(&unit->definitions);
	vec_free(&unit->scopes);
	vec_free(&unit->ranges);
	vec_free(&unit->rows);
	vec_free(&unit->resources);
	vec_free(&unit->plain_names);
}

bool debug_has_units(const struct image *image)
{
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (s->bytes && s->n_bytes > 0 && strcmp(s->name, ".debug_info") == 0)
			return true;
	}
	return false;
}

enum status debug_list_units(const struct image *image, struct debug_unit_places *places,
			     bool *damaged)
{
	const struct image_section *s = image_find(image, ".debug_info");
	*damaged = false;
	if (!s)
		return STATUS_OK;
	struct cursor c = cursor_make(s->bytes, s->n_bytes);
	while (cursor_left(&c) > 0) {
		uint64_t at = cursor_offset(&c), n_bytes = cursor_u32(&c);
		if (n_bytes == UINT32_MAX)
			n_bytes = cursor_u64(&c);
		struct cursor unit = cursor_sub(&c, n_bytes);
		unsigned version = cursor_u16(&unit),
			 type = version >= 5 ? cursor_u8(&unit) : DW_UT_compile;
		if (!cursor_ok(&unit) || version < 2 || version > 5) {
			log_warn(image->path,
				 "section .debug_info at offset 0x%llx: %s; the units from there "
				 "on are not used",
				 (unsigned long long)at,
				 cursor_ok(&unit) ? "unknown DWARF version"
						  : "unit header cut off");
			*damaged = true;
			break;
		}
		if (type != DW_UT_compile && type != DW_UT_partial && type != DW_UT_skeleton)
			continue;
		struct debug_unit_place *p = vec_push(places);
		if (!p) {
			log_error(image->path, "out of memory");
			return STATUS_NO_MEMORY;
		}
		*p = (struct debug_unit_place){at, cursor_offset(&c) - at};
	}
	return STATUS_OK;
}

enum status debug_session_open(const struct debug_input *input, struct debug_session **out)
{
	struct debug_session *s = calloc(1, sizeof *s);
	if (!s) {
		log_error(input->image->path, "out of memory");
		return STATUS_NO_MEMORY;
	}
	s->input = *input;
	s->lists.ranges = debug_bytes(input->image, ".debug_ranges");
	s->lists.rnglists = debug_bytes(input->image, ".debug_rnglists");
	s->lists.addr = debug_bytes(input->image, ".debug_addr");
	enum status status = debug_object_open(input->image, &s->main);
	if (status == STATUS_OK && input->alternate &&
	    debug_object_open(input->alternate, &s->alternate) == STATUS_OK) {
		Dwarf_Error error = NULL;
		if (dwarf_set_tied_dbg(s->main.dbg, s->alternate.dbg, &error) != DW_DLV_OK)
			debug_forget(s->main.dbg, error);
	}
	if (status != STATUS_OK) {
		debug_session_close(s);
		return status;
	}
	*out = s;
	return STATUS_OK;
}

static void free_outlines(struct debug_session *s)
{
	for (size_t i = 0; i < s->outlines.n; i++)
		debug_outline_free(s->outlines.at[i]);
	vec_clear(&s->outlines);
}

void debug_session_close(struct debug_session *s)
{
	if (!s)
		return;
	debug_object_close(&s->main);
	debug_object_close(&s->alternate);
	vec_free(&s->classes);
	map_free(&s->definitions);
	map_free(&s->types);
	vec_free(&s->files.ids);
	for (size_t i = 0; i < s->foreign.n; i++)
		vec_free(&s->foreign.at[i].ids);
	vec_free(&s->foreign);
	free_outlines(s);
	vec_free(&s->outlines);
	vec_free(&s->outline.entries);
	vec_free(&s->unqualified);
	free(s);
}

static void clear(struct debug_session *s, uint64_t offset, struct debug_unit *unit)
{
	unit->offset = offset;
	strtab_free(&unit->files);
	strtab_free(&unit->names);
	vec_clear(&unit->definitions);
	vec_clear(&unit->scopes);
	vec_clear(&unit->ranges);
	vec_clear(&unit->rows);
	vec_clear(&unit->plain_names);
	unit->incomplete = false;
	unit->is_split = false;
	s->unit = unit;
	s->n_said = 0;
	vec_clear(&s->classes);
	map_free(&s->definitions);
	vec_clear(&s->files.ids);
	for (size_t i = 0; i < s->foreign.n; i++)
		vec_free(&s->foreign.at[i].ids);
	vec_clear(&s->foreign);
	free_outlines(s);
	vec_clear(&s->outline.entries);
	vec_clear(&s->unqualified);
}

/* Moves libdwarf to the header at `offset`. Returns false if it did not get there. */
static bool seek(struct debug_session *s, uint64_t offset, Dwarf_Error *error)
{
	bool wrapped = false;
	for (;;) {
		Dwarf_Unsigned length = 0, type_offset = 0, next = 0;
		Dwarf_Off abbrev_offset = 0;
		Dwarf_Half version = 0, address_size = 0, length_size = 0, extension_size = 0,
			   type = 0;
		Dwarf_Sig8 signature;
		uint64_t at = s->next_header;
		int result =
			dwarf_next_cu_header_d(s->main.dbg, 1, &length, &version, &abbrev_offset,
					       &address_size, &length_size, &extension_size,
					       &signature, &type_offset, &next, &type, error);
		if (result == DW_DLV_ERROR)
			return false;
		if (result == DW_DLV_NO_ENTRY) {
			s->next_header = 0;
			if (wrapped)
				return false;
			wrapped = true;
			continue;
		}
		s->next_header = next;
		if (at == offset) {
			s->unit->is_split = type == DW_UT_skeleton;
			s->lists.version = version;
			s->lists.offset_bytes = length_size == 8 ? 8 : 4;
			s->unit_end = next;
			return true;
		}
	}
}

enum status debug_read_unit(struct debug_session *s, uint64_t offset, struct debug_unit *unit)
{
	clear(s, offset, unit);
	Dwarf_Error error = NULL;
	if (!seek(s, offset, &error)) {
		debug_complain(s, ".debug_info", offset, "the unit cannot be read", error);
		return STATUS_OK;
	}
	int result = dwarf_siblingof_b(s->main.dbg, NULL, 1, &s->unit_die, &error);
	if (result != DW_DLV_OK) {
		if (result == DW_DLV_ERROR)
			debug_complain(s, ".debug_info", offset, "the unit cannot be read", error);
		return STATUS_OK;
	}
	Dwarf_Off die_offset = 0;
	if (dwarf_dieoffset(s->unit_die, &die_offset, &error) != DW_DLV_OK)
		debug_forget(s->main.dbg, error);
	s->unit_die_offset = die_offset;
	Dwarf_Half tag = 0;
	error = NULL;
	if (dwarf_tag(s->unit_die, &tag, &error) != DW_DLV_OK)
		debug_forget(s->main.dbg, error);
	bool ok = true, is_needed = tag != DW_TAG_type_unit;
	if (is_needed)
		ok = debug_is_needed(s, &is_needed);
	if (ok && is_needed)
		ok = debug_read_lines(s) && debug_read_dies(s) && debug_qualify_names(s);
	dwarf_dealloc(s->main.dbg, s->unit_die, DW_DLA_DIE);
	s->unit_die = NULL;
	if (!ok) {
		log_error(s->input.image->path, "out of memory");
		return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}
