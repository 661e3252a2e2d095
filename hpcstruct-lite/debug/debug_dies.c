/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks over the DIEs of a unit, for functions with code and the calls inlined into them. DIEs are
 * classified once for each abbreviation, so types and variables only cost the step over them. Test:
 * tests/cli/struct/struct_judge.sh.
 */
#include "hpcstruct-lite/debug/debug_internal.h"

#include "common/base/sorted.h"

#define MAX_DEPTH 1024
#define MAX_CACHED_CODE (1 << 16)

static bool has(struct debug_session *s, Dwarf_Die die, Dwarf_Half attribute)
{
	Dwarf_Bool yes = 0;
	Dwarf_Error error = NULL;
	if (dwarf_hasattr(die, attribute, &yes, &error) != DW_DLV_OK) {
		debug_forget(s->main.dbg, error);
		return false;
	}
	return yes != 0;
}

static enum debug_die_class classify_tag(struct debug_session *s, Dwarf_Die die)
{
	Dwarf_Half tag = 0;
	Dwarf_Error error = NULL;
	if (dwarf_tag(die, &tag, &error) != DW_DLV_OK) {
		debug_forget(s->main.dbg, error);
		return DIE_SKIP;
	}
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_entry_point:
		return has(s, die, DW_AT_low_pc) || has(s, die, DW_AT_ranges) ? DIE_FUNCTION
									      : DIE_ENTER;
	case DW_TAG_inlined_subroutine:
		return has(s, die, DW_AT_low_pc) || has(s, die, DW_AT_ranges) ? DIE_INLINED
									      : DIE_ENTER;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type: /* Rust puts methods there */
	case DW_TAG_lexical_block:
	case DW_TAG_common_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return DIE_ENTER;
	default:
		return DIE_SKIP;
	}
}

static enum debug_die_class classify(struct debug_session *s, Dwarf_Die die)
{
	int code = dwarf_die_abbrev_code(die);
	if (code < 0 || code >= MAX_CACHED_CODE)
		return classify_tag(s, die);
	if ((size_t)code >= s->classes.n &&
	    !vec_extend(&s->classes, (size_t)code + 1 - s->classes.n))
		return classify_tag(s, die);
	uint8_t *known = &s->classes.at[code];
	if (*known == DIE_UNKNOWN)
		*known = (uint8_t)classify_tag(s, die);
	return (enum debug_die_class)*known;
}

bool debug_may_hold_functions(struct debug_session *s, Dwarf_Die die)
{
	return classify_tag(s, die) != DIE_SKIP;
}

/*
 * Adds the scope of a function (parent DEBUG_NONE) or of an inlined call. Returns DEBUG_NONE when
 * out of memory.
 */
static uint32_t add_scope(struct debug_session *s, Dwarf_Die die, uint32_t parent)
{
	uint32_t id = (uint32_t)s->unit->scopes.n;
	size_t n_ranges = s->unit->ranges.n;
	if (!vec_push(&s->unit->scopes))
		return DEBUG_NONE;
	struct debug_facts f;
	if (!debug_read_facts(s, die, DEBUG_MAIN, &f, id))
		return DEBUG_NONE;
	if (parent == DEBUG_NONE && f.name && !f.linkage_name && !s->is_assembler) {
		const char **slot = vec_push(&s->unit->plain_names);
		if (!slot)
			return DEBUG_NONE;
		*slot = f.name;
	}
	uint32_t definition = 0;
	/* otherwise it has no code left, and its name does not matter */
	if (s->unit->ranges.n > n_ranges) {
		definition = debug_define(s, die, &f);
		if (definition == DEBUG_NONE)
			return DEBUG_NONE;
	}
	uint64_t entry = f.has_low && !f.has_ranges ? f.low : 0;
	if (f.has_entry && image_is_code(s->input.code, f.entry))
		entry = f.entry;
	else if (f.has_ranges && s->unit->ranges.n > n_ranges)
		entry = s->unit->ranges.at[n_ranges].start;
	s->unit->scopes.at[id] = (struct debug_scope){
		.parent = parent,
		.definition = definition,
		.call_file = parent != DEBUG_NONE && f.has_call_file
				     ? debug_file(s, die, DEBUG_MAIN, f.call_file)
				     : DEBUG_NONE,
		.call_line = f.call_line < UINT32_MAX ? (uint32_t)f.call_line : 0,
		.entry = entry,
	};
	return id;
}

/* The scope that encloses an entry, and the enclosing entry of the outline. */
struct around {
	uint32_t scope, entry;
	unsigned depth;
};

static bool walk(struct debug_session *s, Dwarf_Die parent_die, struct around around);

static bool visit(struct debug_session *s, Dwarf_Die die, struct around around)
{
	enum debug_die_class class = classify(s, die);
	if (class == DIE_SKIP)
		return true;
	if (class == DIE_FUNCTION)
		around.scope = add_scope(s, die, DEBUG_NONE);
	else if (class == DIE_INLINED)
		around.scope = add_scope(s, die, around.scope);
	if (class != DIE_ENTER && around.scope == DEBUG_NONE)
		return false;
	if (s->separator &&
	    !debug_outline_add(&s->outline, s->main.dbg, die, around.entry, &around.entry))
		return false;
	around.depth++;
	return walk(s, die, around);
}

static bool walk(struct debug_session *s, Dwarf_Die parent_die, struct around around)
{
	Dwarf_Debug dbg = s->main.dbg;
	Dwarf_Die die = NULL, next = NULL;
	Dwarf_Error error = NULL;
	if (around.depth > MAX_DEPTH) {
		debug_complain(s, ".debug_info", s->unit->offset,
			       "entries nested too deep in the unit", NULL);
		return true;
	}
	int result = dwarf_child(parent_die, &die, &error);
	bool ok = true;
	while (result == DW_DLV_OK && ok) {
		ok = visit(s, die, around);
		result = ok ? dwarf_siblingof_b(dbg, die, 1, &next, &error) : DW_DLV_NO_ENTRY;
		dwarf_dealloc(dbg, die, DW_DLA_DIE);
		die = next;
	}
	if (result == DW_DLV_ERROR) {
		Dwarf_Off at = s->unit->offset;
		debug_complain(s, ".debug_info", at,
			       "the rest of the unit's entries cannot be read", error);
	}
	return ok;
}

/* Returns an offset or address from the unit's own DIE; 0 if it has none. */
static uint64_t unit_number(struct debug_session *s, Dwarf_Half attribute)
{
	Dwarf_Attribute a = NULL;
	Dwarf_Off offset = 0;
	Dwarf_Error error = NULL;
	if (dwarf_attr(s->unit_die, attribute, &a, &error) != DW_DLV_OK) {
		debug_forget(s->main.dbg, error);
		return 0;
	}
	if (dwarf_global_formref(a, &offset, &error) != DW_DLV_OK)
		debug_forget(s->main.dbg, error);
	dwarf_dealloc(s->main.dbg, a, DW_DLA_ATTR);
	return offset;
}

/* Reads the bases that range lists are relative to. */
static void read_bases(struct debug_session *s)
{
	Dwarf_Addr base = 0;
	Dwarf_Error error = NULL;
	if (dwarf_lowpc(s->unit_die, &base, &error) != DW_DLV_OK)
		debug_forget(s->main.dbg, error);
	s->lists.base = base;
	s->lists.rnglists_base = unit_number(s, DW_AT_rnglists_base);
	s->lists.addr_base = unit_number(s, DW_AT_addr_base);
}

/* Returns false only when out of memory. */
static bool find_needed(struct debug_session *s, bool *is_needed)
{
	const struct debug_input *input = &s->input;
	struct debug_facts f;
	bool ok = debug_read_facts(s, s->unit_die, DEBUG_MAIN, &f, 0);
	*is_needed = s->unit->ranges.n == 0 || s->unit->incomplete;
	for (size_t i = 0; i < s->unit->ranges.n && !*is_needed; i++) {
		const struct debug_range *r = &s->unit->ranges.at[i];
		size_t first =
			sorted_prefix(input->n_link_addrs, k, input->link_addrs[k] < r->start);
		*is_needed = first < input->n_link_addrs && input->link_addrs[first] < r->end;
	}
	vec_clear(&s->unit->ranges);
	return ok;
}

bool debug_is_needed(struct debug_session *s, bool *is_needed)
{
	read_bases(s);
	*is_needed = true;
	return s->input.n_link_addrs == 0 || find_needed(s, is_needed);
}

static uint64_t unit_language(struct debug_session *s)
{
	Dwarf_Unsigned language = 0;
	Dwarf_Error error = NULL;
	if (dwarf_srclang(s->unit_die, &language, &error) == DW_DLV_ERROR)
		debug_forget(s->main.dbg, error);
	return language;
}

bool debug_read_dies(struct debug_session *s)
{
	const uint64_t language = unit_language(s);
	s->separator = debug_name_separator(language);
	s->is_assembler = language == DW_LANG_Mips_Assembler;
	s->unit->is_split |=
		has(s, s->unit_die, DW_AT_GNU_dwo_name) || has(s, s->unit_die, DW_AT_dwo_name);
	return walk(s, s->unit_die, (struct around){DEBUG_NONE, DEBUG_NONE, 0});
}
