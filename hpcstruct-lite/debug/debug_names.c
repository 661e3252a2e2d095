/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Qualified names of functions without a linkage name: gcc writes none for lambdas, static
 * functions and members of classes that no other file can see. We put the name together from the
 * entries that enclose the named one (DWARF 5, sections 3.2.2 and 5.7), as gdb does. Unlike gdb, we
 * include the function that contains a lambda. Test: tests/cli/struct/struct_judge.sh.
 */
#include "hpcstruct-lite/debug/debug_internal.h"

#include "common/base/sorted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OUTER 64       /* namespaces, classes and functions around one function */
#define MAX_NAME_BYTES 16384u

/* Values of DW_AT_language that older headers of libdwarf lack. */
#define LANG_C_PLUS_PLUS_17 0x2b
#define LANG_C_PLUS_PLUS_20 0x2c

struct namer {
	struct debug_session *session;
	VEC(char) text;
	uint32_t closure;   /* entry in `outline` of the lambda that the name is a member of */
	const struct debug_outline *outline;
	unsigned n_outer;
};

const char *debug_name_separator(uint64_t language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case LANG_C_PLUS_PLUS_17:
	case LANG_C_PLUS_PLUS_20:
	case DW_LANG_ObjC_plus_plus: return "::";
	case DW_LANG_D: return ".";
	default: return NULL;
	}
}

/* ---- entries and those around them ---- */

static Dwarf_Die die_at(struct debug_session *s, enum debug_place place, uint64_t offset)
{
	Dwarf_Die die = NULL;
	Dwarf_Error error = NULL;
	if (dwarf_offdie_b(debug_of(s, place), offset, place != DEBUG_TYPES, &die, &error) ==
	    DW_DLV_OK)
		return die;
	debug_forget(debug_of(s, place), error);
	return NULL;
}

static struct debug_facts facts_at(struct debug_session *s, enum debug_place place, uint64_t offset)
{
	struct debug_facts f = {0};
	Dwarf_Die die = die_at(s, place, offset);
	if (die) {
		debug_read_facts(s, die, place, &f, DEBUG_NONE);
		dwarf_dealloc(debug_of(s, place), die, DW_DLA_DIE);
	}
	return f;
}

bool debug_outline_add(struct debug_outline *o, Dwarf_Debug dbg, Dwarf_Die die, uint32_t outer,
		       uint32_t *id)
{
	Dwarf_Off offset = 0;
	Dwarf_Half tag = 0;
	Dwarf_Error error = NULL;
	struct debug_entry *e = vec_push(&o->entries);
	if (!e)
		return false;
	if (dwarf_dieoffset(die, &offset, &error) != DW_DLV_OK ||
	    dwarf_tag(die, &tag, &error) != DW_DLV_OK)
		debug_forget(dbg, error);
	*e = (struct debug_entry){offset, outer, tag};
	*id = (uint32_t)(o->entries.n - 1);
	return true;
}

/* Adds the entries below an entry of a unit that the walk over the DIEs does not reach. */
static bool outline_below(struct debug_session *s, struct debug_outline *o, Dwarf_Die parent,
			  uint32_t outer, unsigned depth)
{
	Dwarf_Debug dbg = debug_of(s, o->place);
	Dwarf_Die die = NULL, next = NULL;
	Dwarf_Error error = NULL;
	bool ok = true;
	int result = depth < MAX_OUTER ? dwarf_child(parent, &die, &error) : DW_DLV_NO_ENTRY;
	while (result == DW_DLV_OK && ok) {
		uint32_t id = 0;
		if (debug_may_hold_functions(s, die))
			ok = debug_outline_add(o, dbg, die, outer, &id) &&
			     outline_below(s, o, die, id, depth + 1);
		result = ok ? dwarf_siblingof_b(dbg, die, o->place != DEBUG_TYPES, &next, &error)
			    : DW_DLV_NO_ENTRY;
		dwarf_dealloc(dbg, die, DW_DLA_DIE);
		die = next;
	}
	if (result == DW_DLV_ERROR)
		debug_forget(dbg, error);
	return ok;
}

void debug_outline_free(struct debug_outline *o)
{
	if (o)
		vec_free(&o->entries);
	free(o);
}

/*
 * Returns the offset of the DIE of the unit that contains the entry at `offset`; 0: no unit does.
 */
static uint64_t unit_around(struct debug_session *s, enum debug_place place, uint64_t offset)
{
	Dwarf_Die die = die_at(s, place, offset);
	Dwarf_Off unit = 0;
	Dwarf_Error error = NULL;
	if (!die)
		return 0;
	if (dwarf_CU_dieoffset_given_die(die, &unit, &error) != DW_DLV_OK)
		debug_forget(debug_of(s, place), error);
	dwarf_dealloc(debug_of(s, place), die, DW_DLA_DIE);
	return unit;
}

static struct debug_outline *add_outline(struct debug_session *s, enum debug_place place,
					 uint64_t unit)
{
	struct debug_outline *o = calloc(1, sizeof *o), **slot = o ? vec_push(&s->outlines) : NULL;
	Dwarf_Die root = slot ? die_at(s, place, unit) : NULL;
	if (!slot) {
		free(o);
		return NULL;
	}
	*slot = o;
	*o = (struct debug_outline){.unit_die = unit, .place = place};
	if (root) {
		outline_below(s, o, root, DEBUG_NONE, 0);
		dwarf_dealloc(debug_of(s, place), root, DW_DLA_DIE);
	}
	return o;
}

/* Returns the outline of the unit that contains the entry at `offset`, or NULL. */
static const struct debug_outline *outline_of(struct debug_session *s, enum debug_place place,
					      uint64_t offset)
{
	if (place == DEBUG_MAIN && offset >= s->unit_die_offset && offset < s->unit_end)
		return &s->outline;
	const uint64_t unit = unit_around(s, place, offset);
	for (size_t i = 0; i < s->outlines.n; i++)
		if (s->outlines.at[i]->unit_die == unit && s->outlines.at[i]->place == place)
			return s->outlines.at[i];
	return unit ? add_outline(s, place, unit) : NULL;
}

static uint32_t entry_at(const struct debug_outline *o, uint64_t offset)
{
	size_t n = sorted_up_to(o->entries.at, o->entries.n, offset, offset);
	return n && o->entries.at[n - 1].offset == offset ? (uint32_t)(n - 1) : DEBUG_NONE;
}

static bool is_class(uint16_t tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_interface_type;
}

static bool is_function(uint16_t tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_entry_point;
}

/* ---- names ---- */

static void put(struct namer *n, const char *text)
{
	const size_t n_bytes = strlen(text);
	if (n->text.n + n_bytes > MAX_NAME_BYTES)
		return;
	char *at = n_bytes ? vec_extend(&n->text, n_bytes) : NULL;
	if (at)
		memcpy(at, text, n_bytes);
}

/* Returns the function that encloses an entry, or DEBUG_NONE. */
static uint32_t function_around(const struct debug_outline *o, uint32_t entry)
{
	do
		entry = o->entries.at[entry].outer;
	while (entry != DEBUG_NONE && !is_function(o->entries.at[entry].tag));
	return entry;
}

/* Returns the name of a class, which may be only in its type unit. NULL: it has none. */
static const char *class_name(struct debug_session *s, const struct debug_outline *o,
			      uint32_t entry)
{
	struct debug_facts f = facts_at(s, o->place, o->entries.at[entry].offset);
	enum debug_place place;
	uint64_t offset;
	if (!f.name && f.has_signature && debug_find_type(s, f.signature, &place, &offset))
		f = facts_at(s, place, offset);
	return f.name;
}

/*
 * Finds the entry of a class that is inside the class's namespace. This is the class itself, or its
 * declaration if the class is outside its namespace, as in type units.
 */
static const struct debug_outline *home_of(struct debug_session *s, const struct debug_outline *o,
					   uint32_t *entry)
{
	for (int i = 0; i < MAX_OUTER && o->entries.at[*entry].outer == DEBUG_NONE; i++) {
		const struct debug_facts f = facts_at(s, o->place, o->entries.at[*entry].offset);
		enum debug_place place = f.origin_place;
		uint64_t offset = f.origin;
		if (!f.has_origin &&
		    !(f.has_signature && debug_find_type(s, f.signature, &place, &offset)))
			break;
		const struct debug_outline *next = outline_of(s, place, offset);
		const uint32_t at = next ? entry_at(next, offset) : DEBUG_NONE;
		if (at == DEBUG_NONE)
			break;
		o = next;
		*entry = at;
	}
	return o;
}

/* "<lambda>", and "<lambda#2>" for the next one in the same function. */
static void put_closure(struct namer *n, const struct debug_outline *o, uint32_t entry)
{
	const uint32_t around = function_around(o, entry);
	unsigned number = 1;
	for (uint32_t i = around; around != DEBUG_NONE && i < entry; i++)
		number += is_class(o->entries.at[i].tag) && function_around(o, i) == around &&
			  !class_name(n->session, o, i);
	char text[32];
	snprintf(text, sizeof text, number > 1 ? "<lambda#%u>" : "<lambda>", number);
	put(n, text);
}

static void put_function(struct namer *n, enum debug_place place, uint64_t offset);

/* Appends the names of the entries that enclose an entry, with separators. */
static void put_outer(struct namer *n, const struct debug_outline *o, uint32_t entry)
{
	if (entry == DEBUG_NONE || n->n_outer++ >= MAX_OUTER)
		return;
	const struct debug_entry *e = &o->entries.at[entry];
	if (is_function(e->tag)) {
		put_function(n, o->place, e->offset);
		put(n, "(...)");
		put(n, n->session->separator);
		return;
	}
	const bool class = is_class(e->tag) || e->tag == DW_TAG_enumeration_type;
	uint32_t at = entry;
	const struct debug_outline *home = class ? home_of(n->session, o, &at) : o;
	put_outer(n, home, home->entries.at[at].outer);
	if (!class && e->tag != DW_TAG_namespace && e->tag != DW_TAG_module)
		return;
	const char *name = class_name(n->session, o, entry);
	if (!name && class)
		put_closure(n, o, entry);
	else
		put(n, name ? name : "(anonymous namespace)");
	put(n, n->session->separator);
}

static bool is_call_operator(const char *name)
{
	static const char call[] = "operator()";
	return strncmp(name, call, sizeof call - 1) == 0;
}

/* Appends the name of the function at `offset`. The name may come from its origin. */
static void put_function(struct namer *n, enum debug_place place, uint64_t offset)
{
	struct debug_facts f = facts_at(n->session, place, offset);
	for (int i = 0; !f.name && f.has_origin && i < MAX_OUTER; i++) {
		place = f.origin_place;
		offset = f.origin;
		f = facts_at(n->session, place, offset);
	}
	if (!f.name)
		return;
	const struct debug_outline *o = outline_of(n->session, place, offset);
	const uint32_t entry = o ? entry_at(o, offset) : DEBUG_NONE;
	const uint32_t outer = entry != DEBUG_NONE ? o->entries.at[entry].outer : DEBUG_NONE;
	put_outer(n, o, outer);
	n->closure = DEBUG_NONE;
	if (outer != DEBUG_NONE && is_class(o->entries.at[outer].tag) &&
	    is_call_operator(f.name) &&
	    !class_name(n->session, o, outer)) {
		n->text.n -= strlen(n->session->separator); /* the lambda itself */
		n->closure = outer;
		n->outline = o;
		return;
	}
	put(n, f.name);
}

/* A lambda's function has no place in the source, but its class has one. */
static void take_place(struct namer *n, struct debug_definition *d)
{
	struct debug_session *s = n->session;
	if (d->line != 0 || n->closure == DEBUG_NONE)
		return;
	const struct debug_outline *o = n->outline;
	Dwarf_Die die = die_at(s, o->place, o->entries.at[n->closure].offset);
	struct debug_facts f = {0};
	if (!die)
		return;
	debug_read_facts(s, die, o->place, &f, DEBUG_NONE);
	if (f.decl_line > 0 && f.decl_line < UINT32_MAX && f.has_decl_file) {
		d->line = (uint32_t)f.decl_line;
		d->file = debug_file(s, die, o->place, f.decl_file);
	}
	dwarf_dealloc(debug_of(s, o->place), die, DW_DLA_DIE);
}

bool debug_qualify_names(struct debug_session *s)
{
	struct namer n = {.session = s};
	bool ok = true;
	for (size_t i = 0; i < s->unqualified.n && ok; i++) {
		struct debug_unqualified *u = &s->unqualified.at[i];
		vec_clear(&n.text);
		n.n_outer = 0;
		n.closure = DEBUG_NONE;
		put_function(&n, u->place, u->offset);
		u->id = strtab_add(&s->unit->names, n.text.n ? n.text.at : "", n.text.n);
		ok = u->id != STRTAB_FAILED;
		take_place(&n, &s->unit->definitions.at[u->definition]);
	}
	vec_free(&n.text);
	/* All strings have been added, so they no longer move until the next unit. */
	for (size_t i = 0; i < s->unqualified.n && ok; i++) {
		const struct debug_unqualified *u = &s->unqualified.at[i];
		const char *name = strtab_get(&s->unit->names, u->id);
		if (*name)
			s->unit->definitions.at[u->definition].name = name;
	}
	return ok;
}
