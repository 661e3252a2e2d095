/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Go's table of functions as one unit of debug information. See go_table.h. Functions come in order
 * and end where the next one begins. Three tables of (pc difference, value difference) say for each
 * pc the file, the line, and the entry of the function's tree of inlined calls; an entry names the
 * function and an instruction at the place of the call, by which its caller is found. Work is
 * bounded by the bytes of code. Test: tests/cli/struct/struct_go.sh.
 */
#include "hpcstruct-lite/debug/go_table.h"

#include "common/base/log.h"
#include "common/base/map.h"
#include "common/base/sorted.h"
#include "hpcstruct-lite/debug/go_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 1 << 16, DEPTH_MAX = 64, PCDATA_CALL = 2, FUNCDATA_CALLS = 3, NONE = -1 };

/* A value that holds up to an offset from the function's entry. */
struct run {
	uint64_t end;
	int32_t value;
};

struct runs {
	VEC(struct run);
};

struct function {
	uint64_t entry, n_bytes;
	struct go_bytes record;      /* struct _func */
	uint32_t name, unit;         /* offset in names; index in units */
	uint32_t start_line;         /* 0: not said */
	uint64_t calls;              /* offset of the tree of inlined calls in extra */
	bool has_calls;
	uint32_t scope;
};

struct reader {
	struct go_table table;
	struct debug_unit *unit;
	struct map definitions;      /* offset of a name -> definition */
	struct map calls;            /* entry of the tree of the function at hand -> scope */
	struct runs files, lines, call;
	uint64_t n_damaged;
	bool no_memory;
};

/* ---- values by pc ---- */

static bool read_varint(struct go_bytes b, uint64_t *at, uint32_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 35 && *at < b.n; shift += 7) {
		uint8_t byte = b.at[(*at)++];
		*value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Offset 0: there is no table, and no value. False: damaged, or no memory. */
static bool read_runs(struct reader *r, uint32_t offset, uint64_t n_bytes, struct runs *runs)
{
	uint64_t at = offset, pc = 0;
	uint32_t value = (uint32_t)NONE;
	vec_clear(runs);
	while (offset && pc < n_bytes) {
		uint32_t change, distance;
		if (!read_varint(r->table.pcs, &at, &change) || (change == 0 && pc > 0))
			break;
		value += (change & 1) ? ~(change >> 1) : change >> 1;
		if (!read_varint(r->table.pcs, &at, &distance) || distance == 0)
			return false;
		pc += (uint64_t)distance * r->table.quantum;
		struct run *to = vec_push(runs);
		if (!to) {
			r->no_memory = true;
			return false;
		}
		*to = (struct run){pc, (int32_t)value};
	}
	return true;
}

static int32_t value_at(const struct runs *runs, uint64_t offset)
{
	size_t i = sorted_up_to(runs->at, runs->n, end, offset);
	return i < runs->n ? runs->at[i].value : NONE;
}

/* ---- names ---- */

static const char *string_at(struct go_bytes b, uint64_t offset)
{
	return offset < b.n && memchr(b.at + offset, 0, b.n - offset) ? (const char *)b.at + offset
		: NULL;
}

/* The unit's number of a file of a function. */
static uint32_t file_of(struct reader *r, const struct function *f, int32_t file)
{
	uint32_t offset;
	if (file < 0 || !go_u32(r->table.units, 4 * ((uint64_t)f->unit + (uint32_t)file), &offset)
		|| offset == UINT32_MAX)
		return DEBUG_NONE;
	const char *path = string_at(r->table.files, offset);
	if (!path || !path[0])
		return DEBUG_NONE;
	uint32_t id = strtab_add_z(&r->unit->files, path);
	r->no_memory |= id == STRTAB_FAILED;
	return id == STRTAB_FAILED ? DEBUG_NONE : id;
}

/*
 * One for each name: that of the function itself where it is not inlined, which comes first.
 * DEBUG_NONE: no such name.
 */
static uint32_t get_definition(struct reader *r, uint32_t name, uint32_t file, uint32_t line)
{
	uint64_t id = map_put(&r->definitions, name, 0, r->unit->definitions.n);
	if (id != r->unit->definitions.n) {
		r->no_memory |= id == MAP_NONE;
		return id == MAP_NONE ? DEBUG_NONE : (uint32_t)id;
	}
	struct debug_definition *d = vec_push(&r->unit->definitions);
	r->no_memory |= !d;
	if (!d)
		return DEBUG_NONE;
	bool has_place = file != DEBUG_NONE && line > 0;
	*d = (struct debug_definition){.name = string_at(r->table.names, name),
				       .file = has_place ? file : DEBUG_NONE,
				       .line = has_place ? line : 0};
	return (uint32_t)id;
}

/* ---- functions ---- */

static bool read_function(struct reader *r, uint64_t i, struct function *f)
{
	const struct go_table *t = &r->table;
	uint32_t entry, next, record, n_pcdata, unused;
	const uint32_t fixed = t->is_1_20 ? 44 : 40;
	*f = (struct function){.scope = DEBUG_NONE};
	if (!go_u32(t->functions, i * 8, &entry) || !go_u32(t->functions, i * 8 + 4, &record)
		|| !go_u32(t->functions, i * 8 + 8, &next)
		|| next <= entry || record > t->functions.n || t->functions.n - record < fixed)
		return false;
	f->entry = t->text + entry;
	f->n_bytes = next - entry;
	f->record = (struct go_bytes){t->functions.at + record, t->functions.n - record};
	if (!go_u32(f->record, 0, &unused) || unused != entry || !go_u32(f->record, 4, &f->name)
		|| !go_u32(f->record, 32, &f->unit))
		return false;
	if (t->is_1_20 && (!go_u32(f->record, 36, &f->start_line) || f->start_line > INT32_MAX))
		f->start_line = 0;
	const char *name = string_at(t->names, f->name);
	if (!name || !name[0] || !go_u32(f->record, 28, &n_pcdata))
		return false;
	uint32_t calls;
	f->has_calls =
		t->extra.at && n_pcdata > PCDATA_CALL && f->record.at[fixed - 1] > FUNCDATA_CALLS &&
		go_u32(f->record, fixed + 4 * ((uint64_t)n_pcdata + FUNCDATA_CALLS), &calls) &&
		calls != UINT32_MAX;
	f->calls = f->has_calls ? calls : 0;
	return true;
}

static bool add_scope(struct reader *r, uint32_t parent, uint32_t definition, uint32_t *scope)
{
	struct debug_scope *s = vec_push(&r->unit->scopes);
	r->no_memory |= !s;
	if (!s)
		return false;
	*s = (struct debug_scope){
		.parent = parent, .definition = definition, .call_file = DEBUG_NONE};
	*scope = (uint32_t)(r->unit->scopes.n - 1);
	return true;
}

static void add_range(struct reader *r, uint64_t start, uint64_t end, uint32_t scope)
{
	struct debug_range *range = vec_push(&r->unit->ranges);
	r->no_memory |= !range;
	if (range)
		*range = (struct debug_range){start, end, scope};
}

/* ---- inlined calls ---- */

/*
 * The scope of an entry of the tree, made with its callers when it is first met. False: the tree
 * makes no sense.
 */
static bool get_call(struct reader *r, const struct function *f, int32_t entry, unsigned depth,
	uint32_t *scope)
{
	const struct go_table *t = &r->table;
	uint32_t name, parent_pc, start_line = 0, parent = f->scope;
	uint64_t known = map_get(&r->calls, (uint32_t)entry, 0);
	if (known != MAP_NONE) {
		*scope = (uint32_t)known;
		return true;
	}
	uint64_t at = f->calls + (uint64_t)(uint32_t)entry * (t->is_1_20 ? 16 : 20);
	bool ok = entry >= 0 && entry < CALLS_MAX && depth < DEPTH_MAX
		&& go_u32(t->extra, at + (t->is_1_20 ? 4 : 12), &name)
		&& go_u32(t->extra, at + (t->is_1_20 ? 8 : 16), &parent_pc)
		&& (!t->is_1_20 || go_u32(t->extra, at + 12, &start_line));
	if (!ok || parent_pc >= f->n_bytes || start_line > INT32_MAX || !string_at(t->names, name)
		|| !*string_at(t->names, name))
		return false;
	int32_t caller = value_at(&r->call, parent_pc);
	if (caller == entry || (caller >= 0 && !get_call(r, f, caller, depth + 1, &parent)))
		return false;
	uint32_t definition = get_definition(r, name, DEBUG_NONE, 0);
	if (definition == DEBUG_NONE || !add_scope(r, parent, definition, scope))
		return false;
	struct debug_scope *s = &r->unit->scopes.at[*scope];
	int32_t line = value_at(&r->lines, parent_pc);
	s->call_file = file_of(r, f, value_at(&r->files, parent_pc));
	s->call_line = s->call_file != DEBUG_NONE && line > 0 ? (uint32_t)line : 0;
	s->call_file = s->call_line ? s->call_file : DEBUG_NONE;
	s->entry = f->entry;
	r->no_memory |= map_put(&r->calls, (uint32_t)entry, 0, *scope) == MAP_NONE;
	return !r->no_memory;
}

/*
 * Ranges of all inlined calls of a function; what was made is taken back where the tree makes no
 * sense.
 */
static bool read_calls(struct reader *r, const struct function *f)
{
	size_t n_scopes = r->unit->scopes.n, n_ranges = r->unit->ranges.n;
	bool ok = true;
	map_free(&r->calls);
	for (size_t i = 0; i < r->call.n && ok; i++) {
		uint64_t start = i ? r->call.at[i - 1].end : 0, end = r->call.at[i].end < f->n_bytes
			? r->call.at[i].end : f->n_bytes;
		uint32_t scope;
		if (r->call.at[i].value < 0 || start >= end)
			continue;
		ok = get_call(r, f, r->call.at[i].value, 0, &scope);
		for (; ok && scope != f->scope; scope = r->unit->scopes.at[scope].parent)
			add_range(r, f->entry + start, f->entry + end, scope);
	}
	if (!ok) {
		r->unit->scopes.n = n_scopes;
		r->unit->ranges.n = n_ranges;
	}
	return ok;
}

/* ---- lines ---- */

static void add_row(struct reader *r, uint64_t link_addr, uint32_t file, int32_t line, bool is_end)
{
	struct debug_row *row = vec_push(&r->unit->rows);
	r->no_memory |= !row;
	if (row)
		*row = (struct debug_row){link_addr, line > 0 ? file : DEBUG_NONE, line > 0
			&& file != DEBUG_NONE ? (uint32_t)line : 0, is_end};
}

static void add_rows(struct reader *r, const struct function *f)
{
	size_t k = 0;
	uint64_t at = 0;
	int32_t last = NONE;
	uint32_t file = DEBUG_NONE;
	for (size_t i = 0; i < r->lines.n && at < f->n_bytes && !r->no_memory; ) {
		while (k < r->files.n && r->files.at[k].end <= at)
			k++;
		int32_t value = k < r->files.n ? r->files.at[k].value : NONE;
		uint64_t end = k < r->files.n && r->files.at[k].end < r->lines.at[i].end
			? r->files.at[k].end : r->lines.at[i].end;
		if (value != last || at == 0)
			file = file_of(r, f, value);
		last = value;
		add_row(r, f->entry + at, file, r->lines.at[i].value, false);
		at = end;
		i += at == r->lines.at[i].end;
	}
	if (at > 0) /* what follows the last line fills up the space to the next function */
		add_row(r, f->entry + (at < f->n_bytes ? at : f->n_bytes), DEBUG_NONE, 0, true);
}

/* ---- the table ---- */

/* Reads a function again and adds all of it but its definition, which is there. */
static void add_function(struct reader *r, uint64_t i)
{
	struct function f;
	uint32_t files, lines, call = 0;
	if (!read_function(r, i, &f))
		return;
	if (!add_scope(r, DEBUG_NONE, (uint32_t)map_get(&r->definitions, f.name, 0), &f.scope))
		return;
	r->unit->scopes.at[f.scope].entry = f.entry;
	add_range(r, f.entry, f.entry + f.n_bytes, f.scope);
	bool ok = go_u32(f.record, 20, &files) && go_u32(f.record, 24, &lines)
		&& read_runs(r, files, f.n_bytes, &r->files)
		&& read_runs(r, lines, f.n_bytes, &r->lines);
	if (ok)
		add_rows(r, &f);
	if (ok && f.has_calls)
		ok = go_u32(f.record, (r->table.is_1_20 ? 44 : 40) + 4 * PCDATA_CALL, &call)
			&& read_runs(r, call, f.n_bytes, &r->call) && read_calls(r, &f);
	r->n_damaged += !ok;
}

/* Definitions of all functions, so that inlined calls find them. */
static void define_function(struct reader *r, uint64_t i)
{
	struct function f;
	uint32_t files, lines;
	if (!read_function(r, i, &f)) {
		r->n_damaged++;
		return;
	}
	bool ok = go_u32(f.record, 20, &files) && go_u32(f.record, 24, &lines)
		&& read_runs(r, files, 1, &r->files) && read_runs(r, lines, 1, &r->lines);
	int32_t line = f.start_line ? (int32_t)f.start_line : ok ? value_at(&r->lines, 0) : 0;
	get_definition(r, f.name, ok ? file_of(r, &f, value_at(&r->files, 0)) : DEBUG_NONE, line > 0
		? (uint32_t)line : 0);
}

enum status go_read_table(const struct image *image, struct debug_unit *unit)
{
	struct reader r = {.unit = unit};
	bool is_damaged;
	unit->origin = DEBUG_FROM_GO;
	bool found = go_find_table(image, &r.table, &is_damaged);
	for (uint64_t i = 0; found && i < r.table.n_functions && !r.no_memory; i++)
		define_function(&r, i);
	for (uint64_t i = 0; found && i < r.table.n_functions && !r.no_memory; i++)
		add_function(&r, i);
	map_free(&r.definitions);
	map_free(&r.calls);
	vec_free(&r.files);
	vec_free(&r.lines);
	vec_free(&r.call);
	if (is_damaged && !found)
		log_warn(image->path, "section .gopclntab: not a table of Go 1.18 or later; "
			"its functions keep the names of the symbol table, if there is one");
	if (r.n_damaged)
		log_warn(image->path, "section .gopclntab: %" PRIu64 " of %" PRIu64
			" functions are damaged", r.n_damaged, r.table.n_functions);
	unit->incomplete = r.n_damaged > 0;
	return r.no_memory ? STATUS_NO_MEMORY : STATUS_OK;
}
