/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Line tables and file numbers of units. A number means something only together with the unit it is used in, also when a name comes from another
 * unit (LTO, dwz). Test: tests/cli/struct-judge.sh.
 */
#include "hpcstruct-lite/debug/debug_internal.h"

#include <string.h>

/* Adds a path without its "./" and "//" parts. ".." stays: behind a symbolic link it is not what it seems. */
static uint32_t add_path(struct strtab *files, const char *const parts[3])
{
	struct { char *at; size_t n, capacity; } path = {0};
	uint32_t id = STRTAB_FAILED;
	for (int i = 0; i < 3; i++) {
		for (const char *p = parts[i]; p && *p;) {
			size_t n = strcspn(p, "/");
			bool skip = n == 0 || (n == 1 && *p == '.');
			bool slash = (path.n > 0 && path.at[path.n - 1] != '/' && !skip) || (p == parts[i] && *p == '/' && path.n == 0);
			char *at = vec_extend(&path, (skip ? 0 : n) + slash);
			if (!at && (!skip || slash))
				goto done;
			if (slash)
				*at++ = '/';
			if (!skip)
				memcpy(at, p, n);
			p += n + (p[n] == '/');
		}
	}
	id = strtab_add(files, path.n ? path.at : "", path.n);
done:
	vec_free(&path);
	return id;
}

/* Joins compilation directory, directory and name; each may be NULL, and one that is absolute makes those before it void. */
static uint32_t add_file(struct strtab *files, const char *comp_dir, const char *dir, const char *name)
{
	if (!name || !*name)
		return DEBUG_NONE;
	if (name[0] == '/')
		dir = comp_dir = NULL;
	else if (dir && dir[0] == '/')
		comp_dir = NULL;
	const char *const parts[3] = {comp_dir, dir, name};
	return add_path(files, parts);
}

/* One entry of the file table; *id is DEBUG_NONE where the table has none. */
static bool file_at(struct debug_session *s, Dwarf_Line_Context context, Dwarf_Signed i, const char *comp_dir, unsigned version, uint32_t *id)
{
	const char *name = NULL, *dir = NULL;
	Dwarf_Unsigned dir_index = 0, mtime = 0, n_bytes = 0;
	Dwarf_Form_Data16 *md5 = NULL;
	Dwarf_Error error = NULL;
	*id = DEBUG_NONE;
	if (dwarf_srclines_files_data_b(context, i, &name, &dir_index, &mtime, &n_bytes, &md5, &error) != DW_DLV_OK) {
		debug_forget(s->main.dbg, error);
		return true;
	}
	if ((version >= 5 || dir_index > 0) && dwarf_srclines_include_dir_data(context, (Dwarf_Signed)dir_index, &dir, &error) != DW_DLV_OK) {
		debug_forget(s->main.dbg, error);
		dir = NULL;
	}
	*id = add_file(&s->unit->files, comp_dir, dir, name);
	return *id != STRTAB_FAILED || !name || !*name;
}

static bool read_files(struct debug_session *s, Dwarf_Line_Context context, unsigned version)
{
	const char *comp_dir = NULL;
	Dwarf_Signed first = 0, n = 0, end = 0;
	Dwarf_Error error = NULL;
	if (dwarf_srclines_comp_dir(context, &comp_dir, &error) != DW_DLV_OK) {
		debug_forget(s->main.dbg, error);
		error = NULL;
	}
	if (dwarf_srclines_files_indexes(context, &first, &n, &end, &error) != DW_DLV_OK) {
		debug_forget(s->main.dbg, error);
		return true;
	}
	for (Dwarf_Signed i = 0; i < end; i++) {
		uint32_t *id = vec_push(&s->files.ids);
		if (!id)
			return false;
		*id = DEBUG_NONE;
		if (i >= first && !file_at(s, context, i, comp_dir, version, id))
			return false;
	}
	return true;
}

static uint32_t id_of(const struct debug_file_table *t, uint64_t number)
{
	return number < t->ids.n ? t->ids.at[number] : DEBUG_NONE;
}

static bool read_row(struct debug_session *s, Dwarf_Line line)
{
	Dwarf_Addr address = 0;
	Dwarf_Unsigned number = 0, file = 0;
	Dwarf_Bool is_end = 0;
	Dwarf_Error error = NULL;
	if (dwarf_lineaddr(line, &address, &error) != DW_DLV_OK || dwarf_lineno(line, &number, &error) != DW_DLV_OK ||
		dwarf_line_srcfileno(line, &file, &error) != DW_DLV_OK || dwarf_lineendsequence(line, &is_end, &error) != DW_DLV_OK) {
		debug_complain(s, ".debug_line", s->unit->offset, "a row of the unit's line table cannot be read", error);
		return true;
	}
	struct debug_row *row = vec_push(&s->unit->rows);
	if (!row)
		return false;
	uint32_t id = id_of(&s->files, file);
	bool known = number > 0 && number < UINT32_MAX && id != DEBUG_NONE;
	*row = (struct debug_row){address, known ? id : DEBUG_NONE, known ? (uint32_t)number : 0, is_end != 0};
	return true;
}

bool debug_read_lines(struct debug_session *s)
{
	Dwarf_Unsigned version = 0;
	Dwarf_Small n_tables = 0;
	Dwarf_Line_Context context = NULL;
	Dwarf_Error error = NULL;
	int result = dwarf_srclines_b(s->unit_die, &version, &n_tables, &context, &error);
	if (result != DW_DLV_OK) {
		if (result == DW_DLV_ERROR)
			debug_complain(s, ".debug_line", s->unit->offset, "the line table of the unit at this offset of .debug_info cannot be read", error);
		return true;
	}
	bool ok = read_files(s, context, (unsigned)version);
	Dwarf_Line *lines = NULL;
	Dwarf_Signed n = 0;
	if (ok && dwarf_srclines_from_linecontext(context, &lines, &n, &error) != DW_DLV_OK)
		debug_complain(s, ".debug_line", s->unit->offset, "the line table of the unit at this offset of .debug_info cannot be read", error);
	ok = ok && (n == 0 || vec_reserve(&s->unit->rows, (size_t)n));
	for (Dwarf_Signed i = 0; i < n && ok; i++)
		ok = read_row(s, lines[i]);
	dwarf_srclines_dealloc_b(context);
	return ok;
}

/* Fills the table of another unit, whose line rows do not matter. */
static bool read_foreign(struct debug_session *s, Dwarf_Debug dbg, Dwarf_Off unit_die_offset, struct debug_file_table *t)
{
	Dwarf_Die die = NULL;
	Dwarf_Error error = NULL;
	char **names = NULL;
	Dwarf_Signed n = 0;
	if (dwarf_offdie_b(dbg, unit_die_offset, 1, &die, &error) != DW_DLV_OK) {
		debug_forget(dbg, error);
		return true;
	}
	Dwarf_Half version = 0, offset_size = 0;
	if (dwarf_get_version_of_die(die, &version, &offset_size) != DW_DLV_OK)
		version = 4;
	bool ok = true;
	if (dwarf_srcfiles(die, &names, &n, &error) == DW_DLV_OK) {
		if (version < 5) {
			uint32_t *none = vec_push(&t->ids);
			ok = none != NULL;
			if (ok)
				*none = DEBUG_NONE;
		}
		for (Dwarf_Signed i = 0; i < n && ok; i++) {
			uint32_t *id = vec_push(&t->ids);
			ok = id != NULL;
			if (ok)
				*id = add_file(&s->unit->files, NULL, NULL, names[i]);
		}
		for (Dwarf_Signed i = 0; i < n; i++)
			dwarf_dealloc(dbg, names[i], DW_DLA_STRING);
		dwarf_dealloc(dbg, names, DW_DLA_LIST);
	} else {
		debug_forget(dbg, error);
	}
	dwarf_dealloc_die(die);
	return ok;
}

uint32_t debug_file(struct debug_session *s, Dwarf_Die die, enum debug_place place, uint64_t number)
{
	Dwarf_Debug dbg = place == DEBUG_MAIN ? s->main.dbg : s->alternate.dbg;
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
	read_foreign(s, dbg, unit_die, t);
	return id_of(&s->foreign.at[s->foreign.n - 1], number);
}
