/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Type units (DWARF 5, section 7.5.1.3; -fdebug-types-section). A class in a type unit has a
 * declaration with its signature in other units, sometimes without its name or its namespaces. The
 * headers are read without libdwarf, because its position in the list of units must not change.
 * Test: tests/cli/struct/struct_judge.sh.
 */
#include "hpcstruct-lite/debug/debug_internal.h"

#include "common/base/cursor.h"

/* Returns false at damage, which debug_list_units() has already logged. */
static bool read_header(struct debug_session *s, struct cursor *c, bool is_types)
{
	const uint64_t at = cursor_offset(c);
	uint64_t n_bytes = cursor_u32(c);
	const bool is_long = n_bytes == UINT32_MAX;
	if (is_long)
		n_bytes = cursor_u64(c);
	struct cursor unit = cursor_sub(c, n_bytes);
	const unsigned version = cursor_u16(&unit);
	if (!cursor_ok(&unit))
		return false;
	if (!is_types && (version < 5 || cursor_u8(&unit) != DW_UT_type))
		return true;
	cursor_bytes(&unit, (is_long ? 8 : 4) + 1); /* abbreviations and the size of an address */
	const uint64_t signature = cursor_u64(&unit),
		       type = is_long ? cursor_u64(&unit) : cursor_u32(&unit);
	if (cursor_ok(&unit) && type < UINT32_MAX)
		map_put(&s->types, signature, 0, 2 * (at + type) + is_types);
	return cursor_ok(&unit);
}

static void list_types(struct debug_session *s)
{
	static const char *const sections[] = {".debug_info", ".debug_types"};
	s->has_types = true;
	for (unsigned i = 0; i < 2; i++) {
		const struct section_bytes b = debug_bytes(s->input.image, sections[i]);
		struct cursor c = cursor_make(b.at, b.n_bytes);
		while (cursor_left(&c) > 0 && read_header(s, &c, i == 1))
			;
	}
}

bool debug_find_type(struct debug_session *s, uint64_t signature, enum debug_place *place,
		     uint64_t *offset)
{
	if (!s->has_types)
		list_types(s);
	const uint64_t found = map_get(&s->types, signature, 0);
	if (found == MAP_NONE)
		return false;
	*place = found & 1 ? DEBUG_TYPES : DEBUG_MAIN;
	*offset = found / 2;
	return true;
}
