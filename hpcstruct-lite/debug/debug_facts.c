/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads attributes of DIEs and code ranges. Finds the names of functions through abstract origins
 * and specifications, which may be in other units or in dwz's alternate file. Test:
 * tests/cli/struct/struct_judge.sh.
 */
#include "hpcstruct-lite/debug/debug_internal.h"

#include <string.h>

#define MAX_CHAIN 16 /* origins and specifications to follow from one DIE */

/*
 * Adds a range. Ranges outside the executable sections are left over from functions that the linker
 * discarded.
 */
static bool add_range(struct debug_session *s, uint32_t scope, uint64_t start, uint64_t end)
{
	if (end <= start || !image_is_code(s->input.code, start) ||
	    !image_is_code(s->input.code, end - 1))
		return true;
	struct debug_range *r = vec_push(&s->unit->ranges);
	if (!r)
		return false;
	*r = (struct debug_range){start, end, scope};
	return true;
}

struct range_taker {
	struct debug_session *session;
	uint32_t scope;
};

static bool take_range(void *arg, uint64_t start, uint64_t end)
{
	const struct range_taker *t = arg;
	return add_range(t->session, t->scope, start, end);
}

/* Adds the ranges of a list to a scope. */
static bool read_ranges(struct debug_session *s, Dwarf_Attribute attribute, uint32_t scope)
{
	const char *section = s->lists.version < 5 ? ".debug_ranges" : ".debug_rnglists";
	Dwarf_Half form = 0;
	Dwarf_Unsigned index = 0;
	Dwarf_Off offset = 0;
	Dwarf_Error error = NULL;
	uint64_t at = 0, where = 0;
	int result = dwarf_whatform(attribute, &form, &error);
	if (result == DW_DLV_OK && form == DW_FORM_rnglistx) {
		result = dwarf_formudata(attribute, &index, &error);
		if (result == DW_DLV_OK && !range_list_find(&s->lists, index, &at)) {
			debug_complain(s, section, s->lists.rnglists_base,
				       "there is no range list of a number that is used", NULL);
			return true;
		}
	} else if (result == DW_DLV_OK) {
		result = dwarf_global_formref(attribute, &offset, &error);
		if (result != DW_DLV_OK) { /* DWARF 3 uses plain numbers */
			debug_forget(s->main.dbg, error);
			error = NULL;
			result = dwarf_formudata(attribute, &index, &error);
			offset = index;
		}
		at = offset;
	}
	if (result != DW_DLV_OK) {
		debug_complain(s, ".debug_info", s->unit->offset,
			       "an attribute with code ranges cannot be read in the unit", error);
		return true;
	}
	struct range_taker taker = {s, scope};
	enum range_result r = range_list_read(&s->lists, at, take_range, &taker, &where);
	if (r == RANGE_DAMAGED)
		debug_complain(s, section, where, "a range list is damaged; used up to there",
			       NULL);
	return r != RANGE_STOPPED;
}

static void take_number(struct debug_session *s, Dwarf_Debug dbg, Dwarf_Attribute attribute,
			uint64_t *value, bool *has)
{
	Dwarf_Unsigned u = 0;
	Dwarf_Signed n = 0;
	Dwarf_Error error = NULL;
	(void)s;
	if (dwarf_formudata(attribute, &u, &error) == DW_DLV_OK) {
		*value = u;
		*has = true;
		return;
	}
	debug_forget(dbg, error);
	error = NULL;
	if (dwarf_formsdata(attribute, &n, &error) == DW_DLV_OK &&
	    n >= 0) { /* gcc 4 used signed forms */
		*value = (uint64_t)n;
		*has = true;
		return;
	}
	debug_forget(dbg, error);
}

static void take_address(Dwarf_Debug dbg, Dwarf_Attribute attribute, uint64_t *value, bool *has)
{
	Dwarf_Addr a = 0;
	Dwarf_Error error = NULL;
	if (dwarf_formaddr(attribute, &a, &error) == DW_DLV_OK) {
		*value = a;
		*has = true;
	} else {
		debug_forget(dbg, error);
	}
}

/* DW_AT_high_pc is an address, or the distance from DW_AT_low_pc if its form is a number. */
static void take_high(struct debug_session *s, Dwarf_Debug dbg, Dwarf_Attribute attribute,
		      struct debug_facts *f)
{
	Dwarf_Half form = 0;
	Dwarf_Error error = NULL;
	if (dwarf_whatform(attribute, &form, &error) != DW_DLV_OK) {
		debug_forget(dbg, error);
		return;
	}
	bool is_address = form == DW_FORM_addr || form == DW_FORM_addrx ||
			  (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4) ||
			  form == DW_FORM_GNU_addr_index;
	if (is_address) {
		take_address(dbg, attribute, &f->high, &f->has_high);
		return;
	}
	take_number(s, dbg, attribute, &f->high, &f->has_high);
	f->high_is_distance = true;
}

/*
 * Returns a string, or NULL if it is in the alternate file and we do not have that. libdwarf would
 * return an error text as the string.
 */
static const char *take_string(const struct debug_session *s, Dwarf_Debug dbg,
			       Dwarf_Attribute attribute)
{
	char *text = NULL;
	Dwarf_Half form = 0;
	Dwarf_Error error = NULL;
	if (!s->alternate.dbg && dwarf_whatform(attribute, &form, &error) == DW_DLV_OK &&
	    (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup))
		return NULL;
	if (dwarf_formstring(attribute, &text, &error) == DW_DLV_OK)
		return text;
	debug_forget(dbg, error);
	return NULL;
}

static void take_origin(struct debug_session *s, Dwarf_Debug dbg, Dwarf_Attribute attribute,
			enum debug_place place, struct debug_facts *f)
{
	Dwarf_Half form = 0;
	Dwarf_Off offset = 0;
	Dwarf_Error error = NULL;
	if (dwarf_whatform(attribute, &form, &error) != DW_DLV_OK ||
	    dwarf_global_formref(attribute, &offset, &error) != DW_DLV_OK) {
		debug_forget(dbg, error);
		return;
	}
	bool elsewhere =
		form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
	if (elsewhere && !s->alternate.dbg)
		return;
	f->origin = offset;
	f->origin_place = elsewhere ? DEBUG_ALTERNATE : place;
	f->has_origin = true;
}

static void take_signature(Dwarf_Debug dbg, Dwarf_Attribute attribute, struct debug_facts *f)
{
	Dwarf_Sig8 signature;
	Dwarf_Error error = NULL;
	if (dwarf_formsig8(attribute, &signature, &error) == DW_DLV_OK) {
		memcpy(&f->signature, &signature, sizeof f->signature);
		f->has_signature = true;
	} else {
		debug_forget(dbg, error);
	}
}

static void take_attribute(struct debug_session *s, Dwarf_Debug dbg, Dwarf_Attribute a,
			   Dwarf_Half what, enum debug_place place, struct debug_facts *f)
{
	bool ignored;
	switch (what) {
	case DW_AT_name:
		f->name = take_string(s, dbg, a);
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		f->linkage_name = take_string(s, dbg, a);
		break;
	case DW_AT_decl_file:
		take_number(s, dbg, a, &f->decl_file, &f->has_decl_file);
		break;
	case DW_AT_decl_line:
		take_number(s, dbg, a, &f->decl_line, &ignored);
		break;
	case DW_AT_call_file:
		take_number(s, dbg, a, &f->call_file, &f->has_call_file);
		break;
	case DW_AT_call_line:
		take_number(s, dbg, a, &f->call_line, &ignored);
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		take_origin(s, dbg, a, place, f);
		break;
	case DW_AT_signature:
		take_signature(dbg, a, f);
		break;
	case DW_AT_low_pc:
		take_address(dbg, a, &f->low, &f->has_low);
		break;
	case DW_AT_high_pc:
		take_high(s, dbg, a, f);
		break;
	case DW_AT_entry_pc:
		take_address(dbg, a, &f->entry, &f->has_entry);
		break;
	default:
		break;
	}
}

bool debug_read_facts(struct debug_session *s, Dwarf_Die die, enum debug_place place,
		      struct debug_facts *f, uint32_t ranges_of)
{
	Dwarf_Debug dbg = debug_of(s, place);
	Dwarf_Attribute *list = NULL;
	Dwarf_Signed n = 0;
	Dwarf_Error error = NULL;
	*f = (struct debug_facts){0};
	int result = dwarf_attrlist(die, &list, &n, &error);
	if (result != DW_DLV_OK) {
		if (result == DW_DLV_ERROR)
			debug_complain(s, ".debug_info", s->unit->offset,
				       "an entry of the unit cannot be read", error);
		return true;
	}
	bool ok = true;
	for (Dwarf_Signed i = 0; i < n; i++) {
		Dwarf_Half what = 0;
		if (dwarf_whatattr(list[i], &what, &error) == DW_DLV_OK) {
			if (what == DW_AT_ranges && ranges_of != DEBUG_NONE && ok) {
				f->has_ranges = true;
				ok = read_ranges(s, list[i], ranges_of);
			} else {
				take_attribute(s, dbg, list[i], what, place, f);
			}
		}
		dwarf_dealloc(dbg, list[i], DW_DLA_ATTR);
	}
	dwarf_dealloc(dbg, list, DW_DLA_LIST);
	if (ok && ranges_of != DEBUG_NONE && !f->has_ranges && f->has_low && f->has_high)
		ok = add_range(s, ranges_of, f->low,
			       f->high_is_distance ? f->low + f->high : f->high);
	return ok;
}

/* A definition, and the entry that its name comes from. */
struct named {
	struct debug_definition d;
	Dwarf_Off offset;
	enum debug_place place;
};

static void take_name(struct debug_session *s, struct named *n, Dwarf_Die die,
		      enum debug_place place, const char *name)
{
	Dwarf_Error error = NULL;
	n->d.name = name;
	n->place = place;
	if (dwarf_dieoffset(die, &n->offset, &error) != DW_DLV_OK)
		debug_forget(debug_of(s, place), error);
}

/* Adds the facts that the definition does not have yet. */
static void fill(struct debug_session *s, struct named *n, Dwarf_Die die, enum debug_place place,
		 const struct debug_facts *f)
{
	struct debug_definition *d = &n->d;
	if (!d->name && f->name)
		take_name(s, n, die, place, f->name);
	if (!d->linkage_name)
		d->linkage_name = f->linkage_name;
	if (d->line == 0 && f->decl_line > 0 && f->decl_line < UINT32_MAX)
		d->line = (uint32_t)f->decl_line;
	if (d->file == DEBUG_NONE && f->has_decl_file)
		d->file = debug_file(s, die, place, f->decl_file);
}

/* Follows abstract origins and specifications, starting with `facts`. */
static struct named resolve(struct debug_session *s, const struct debug_facts *facts,
			    struct named n)
{
	struct debug_facts f = *facts;
	for (int i = 0; i < MAX_CHAIN && f.has_origin; i++) {
		enum debug_place place = f.origin_place;
		Dwarf_Debug dbg = debug_of(s, place);
		Dwarf_Die die = NULL;
		Dwarf_Error error = NULL;
		uint64_t at = f.origin;
		if (dwarf_offdie_b(dbg, at, place != DEBUG_TYPES, &die, &error) != DW_DLV_OK) {
			debug_complain(s, ".debug_info", at,
				       "the entry that names a function cannot be read", error);
			break;
		}
		debug_read_facts(s, die, place, &f, DEBUG_NONE);
		fill(s, &n, die, place, &f);
		dwarf_dealloc(dbg, die, DW_DLA_DIE);
	}
	return n;
}

/* gcc gives the function of a lambda a linkage name, but only its class a line. */
static bool lacks_place(const struct debug_definition *d)
{
	return d->line == 0 && strncmp(d->name, "operator()", strlen("operator()")) == 0;
}

static uint32_t add_definition(struct debug_session *s, struct named n)
{
	struct debug_definition *slot = vec_push(&s->unit->definitions);
	if (!slot)
		return DEBUG_NONE;
	*slot = n.d;
	const uint32_t id = (uint32_t)(s->unit->definitions.n - 1);
	if (!s->separator || !n.d.name || (n.d.linkage_name && !lacks_place(&n.d)))
		return id;
	struct debug_unqualified *u = vec_push(&s->unqualified);
	if (!u)
		return DEBUG_NONE;
	*u = (struct debug_unqualified){.definition = id, .offset = n.offset, .place = n.place};
	return id;
}

uint32_t debug_define(struct debug_session *s, Dwarf_Die die, const struct debug_facts *f)
{
	static const struct named nothing = {.d = {.file = DEBUG_NONE}};
	bool own = f->name || f->linkage_name || f->has_decl_file || f->decl_line;
	if (!f->has_origin || own) {
		struct named n = nothing;
		fill(s, &n, die, DEBUG_MAIN, f);
		return add_definition(s, resolve(s, f, n));
	}
	uint64_t known = map_get(&s->definitions, f->origin, f->origin_place);
	if (known != MAP_NONE)
		return (uint32_t)known;
	uint32_t id = add_definition(s, resolve(s, f, nothing));
	if (id != DEBUG_NONE)
		map_put(&s->definitions, f->origin, f->origin_place, id);
	return id;
}
