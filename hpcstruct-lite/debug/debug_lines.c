/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Line tables and file numbers of units. A file number belongs to the unit that uses it, even if a
 * name comes from another unit (LTO, dwz). Test: tests/cli/struct/struct_judge.sh.
 */
#include "hpcstruct-lite/debug/debug_internal.h"
#include "hpcstruct-lite/debug/line_program.h"
#include "hpcstruct-lite/debug/source_path.h"

#include <string.h>

static struct line_sections sections_of(const struct image *image)
{
	return (struct line_sections){debug_bytes(image, ".debug_line"),
				      debug_bytes(image, ".debug_line_str"),
				      debug_bytes(image, ".debug_str")};
}

/*
 * Finds a unit's line table and its compilation directory (NULL: not given). Returns false if it
 * has no line table.
 */
static bool find_table(Dwarf_Debug dbg, Dwarf_Die unit_die, uint64_t *offset, const char **comp_dir)
{
	Dwarf_Attribute a = NULL;
	Dwarf_Error error = NULL;
	Dwarf_Off at = 0;
	bool found = false;
	*comp_dir = NULL;
	int result = dwarf_attr(unit_die, DW_AT_stmt_list, &a, &error);
	if (result == DW_DLV_OK) {
		Dwarf_Unsigned number = 0; /* DWARF 2 and 3 use plain numbers */
		if (dwarf_global_formref(a, &at, &error) == DW_DLV_OK) {
			found = true;
		} else {
			debug_forget(dbg, error);
			found = dwarf_formudata(a, &number, &error) == DW_DLV_OK;
			at = number;
			if (!found)
				debug_forget(dbg, error);
		}
		dwarf_dealloc(dbg, a, DW_DLA_ATTR);
	} else if (result == DW_DLV_ERROR) {
		debug_forget(dbg, error);
	}
	*offset = at;
	if (dwarf_attr(unit_die, DW_AT_comp_dir, &a, &error) == DW_DLV_OK) {
		char *text = NULL;
		if (dwarf_formstring(a, &text, &error) == DW_DLV_OK)
			*comp_dir = text;
		dwarf_dealloc(dbg, a, DW_DLA_ATTR);
	}
	return found;
}

/*
 * Adds the paths of a table to the unit's files. Before DWARF 5 there is no file 0. Since DWARF 5,
 * directory 0 is the compilation directory.
 */
static bool take_files(struct debug_session *s, const struct line_header *h, const char *comp_dir,
		       struct debug_file_table *t)
{
	if (h->version >= 5 && h->dirs.n > 0 && *h->dirs.at[0])
		comp_dir = h->dirs.at[0];
	for (size_t i = t->ids.n; i < h->files.n; i++) {
		const struct line_file *f = &h->files.at[i];
		const char *dir = f->dir > 0 && f->dir < h->dirs.n ? h->dirs.at[f->dir] : NULL;
		uint32_t *id = vec_push(&t->ids);
		if (!id)
			return false;
		*id = source_path_add(&s->unit->files, comp_dir, dir, f->name);
		if (*id == STRTAB_FAILED && *f->name)
			return false;
	}
	return true;
}

static uint32_t id_of(const struct debug_file_table *t, uint64_t number)
{
	return number < t->ids.n ? t->ids.at[number] : DEBUG_NONE;
}

/* The context that turns a row of the table into a row of the unit. */
struct row_taker {
	struct debug_session *session;
	const struct line_header *header;
	const char *comp_dir;
};

static bool take_row(void *arg, const struct line_row *r)
{
	const struct row_taker *t = arg;
	struct debug_session *s = t->session;
	struct debug_row *row = vec_push(&s->unit->rows);
	if (!row || (s->files.ids.n < t->header->files.n &&
		     !take_files(s, t->header, t->comp_dir, &s->files)))
		return false;
	uint32_t id = id_of(&s->files, r->file);
	bool known = r->line > 0 && r->line < UINT32_MAX && id != DEBUG_NONE;
	*row = (struct debug_row){r->link_addr, known ? id : DEBUG_NONE,
				  known ? (uint32_t)r->line : 0, r->is_end};
	return true;
}

static bool report(struct debug_session *s, enum line_result r, uint64_t where)
{
	if (r == LINE_DAMAGED)
		debug_complain(s, ".debug_line", where,
			       "the line table is damaged; used up to there", NULL);
	return r != LINE_NO_MEMORY;
}

bool debug_read_lines(struct debug_session *s)
{
	uint64_t offset, where;
	struct row_taker taker = {.session = s};
	struct line_sections sections = sections_of(s->input.image);
	struct line_header header;
	if (!find_table(s->main.dbg, s->unit_die, &offset, &taker.comp_dir))
		return true;
	enum line_result r = line_header_read(&sections, offset, &header, &where);
	if (r != LINE_OK)
		return report(s, r, where);
	taker.header = &header;
	bool ok = take_files(s, &header, taker.comp_dir, &s->files);
	if (ok) {
		r = line_program_run(&sections, &header, take_row, &taker, &where);
		ok = report(s, r, where);
	}
	line_header_free(&header);
	return ok;
}

/* Fills the file table of another unit. Does not read its rows. */
static bool read_foreign(struct debug_session *s, const struct image *image, Dwarf_Debug dbg,
			 Dwarf_Off unit_die_offset, struct debug_file_table *t)
{
	Dwarf_Die die = NULL;
	Dwarf_Error error = NULL;
	if (dwarf_offdie_b(dbg, unit_die_offset, 1, &die, &error) != DW_DLV_OK) {
		debug_forget(dbg, error);
		return true;
	}
	uint64_t offset, where;
	const char *comp_dir;
	struct line_sections sections = sections_of(image);
	struct line_header header;
	bool ok = true;
	if (find_table(dbg, die, &offset, &comp_dir)) {
		enum line_result r = line_header_read(&sections, offset, &header, &where);
		ok = report(s, r, where);
		if (r == LINE_OK) {
			ok = take_files(s, &header, comp_dir, t);
			line_header_free(&header);
		}
	}
	dwarf_dealloc(dbg, die, DW_DLA_DIE);
	return ok;
}

uint32_t debug_file(struct debug_session *s, Dwarf_Die die, enum debug_place place, uint64_t number)
{
	Dwarf_Debug dbg = debug_of(s, place);
	Dwarf_Off unit_die = 0;
	Dwarf_Error error = NULL;
	if (dwarf_CU_dieoffset_given_die(die, &unit_die, &error) != DW_DLV_OK) {
		debug_forget(dbg, error);
		return DEBUG_NONE;
	}
	if (place == DEBUG_MAIN && unit_die == s->unit_die_offset)
		return id_of(&s->files, number);
	for (size_t i = s->foreign.n; i-- > 0;)
		if (s->foreign.at[i].unit_die == unit_die && s->foreign.at[i].place == place)
			return id_of(&s->foreign.at[i], number);
	struct debug_file_table *t = vec_push(&s->foreign);
	if (!t)
		return DEBUG_NONE;
	t->unit_die = unit_die;
	t->place = place;
	read_foreign(s, place == DEBUG_MAIN ? s->input.image : s->input.alternate, dbg, unit_die,
		     t);
	return id_of(t, number);
}
