/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns line tables of cubins into units; see cubin.h. A row of inlined code has the number of the
 * row that called it, in the same sequence. So a chain of rows is a chain of inlined calls. A row
 * refers only to earlier rows, which bounds all chains. Test: tests/cli/struct/struct_cubin.sh,
 * tests/fuzz/fuzz_cubin.c.
 */
#include "hpcstruct-lite/debug/cubin.h"

#include "common/base/log.h"
#include "common/base/map.h"
#include "hpcstruct-lite/debug/cubin_internal.h"
#include "hpcstruct-lite/debug/line_program.h"
#include "hpcstruct-lite/debug/source_path.h"

#include <string.h>

enum {
	MAX_DEPTH = 256, /* of inlined calls; deeper calls count as calls at this depth */
	MAX_SAID = 3,    /* messages about tables */
	MAX_NAME_BASES = 64 /* places to try as the start of a table's names */
};

struct row {
	uint64_t link_addr;
	uint32_t file, line;   /* file: number of the table */
	uint32_t context, name;
	uint32_t scope;        /* innermost scope in the unit, DEBUG_NONE: no function */
};

/* A range of an inlined call that may still grow. */
struct open_range {
	uint32_t scope;
	size_t range;          /* index in unit->ranges */
};

/* Index of a file in unit->files, valid for the unit with this number. */
struct file_slot {
	uint32_t id, unit;
};

struct reader {
	const struct image *image;
	enum status (*take)(void *arg, const struct debug_unit *unit, uint32_t number);
	void *arg;
	enum status status;    /* of take() */
	struct cubin_functions functions;
	VEC(bool) is_taken;    /* by section of code: its functions are in a unit already */
	struct line_sections sections;
	struct section_bytes names;
	uint32_t names_used; /* of .debug_str: the end of the names that earlier tables have used */
	uint32_t n_units;
	unsigned n_said;
	bool damaged;          /* the table or sequence being read is damaged */

	/* of the table */
	struct line_header *header;
	/* the first place where its names may begin, and where they begin */
	uint32_t names_from, names_base;
	VEC(struct file_slot) files; /* by file number of the table */

	/* of the sequence */
	VEC(struct row) rows;
	struct debug_unit unit;
	size_t first_function; /* the first function of the unit: its scope is 0, and so on */
	size_t n_functions;
	struct map calls;      /* (parent and name, call site) -> scope */
	struct map definitions;/* name -> definition */
	VEC(uint16_t) depths; /* of scopes */
	const struct cubin_segment
		/* of the last row that was looked up; the next row is mostly in it, too */
		*segment;
	struct open_range open[MAX_DEPTH];
	size_t n_open;
};

static void complain(struct reader *r, const char *section, uint64_t offset, const char *what)
{
	if (r->n_said++ < MAX_SAID)
		log_warn(r->image->path, "section %s at offset 0x%llx: %s", section,
			 (unsigned long long)offset, what);
	r->damaged = true;
}

/*
 * Returns the index in unit->files; DEBUG_NONE: unknown. STRTAB_FAILED is DEBUG_NONE, too: when out
 * of memory, only the name is lost.
 */
static uint32_t file_id(struct reader *r, uint64_t number)
{
	if (number >= r->header->files.n)
		return DEBUG_NONE;
	size_t n_new = r->header->files.n - r->files.n;
	if (r->files.n < r->header->files.n && !vec_extend(&r->files, n_new))
		return DEBUG_NONE;
	if (r->files.at[number].unit != r->n_units + 1) {
		const struct line_file *f = &r->header->files.at[number];
		const char *dir = f->dir > 0 && f->dir < r->header->dirs.n
					  ? r->header->dirs.at[f->dir]
					  : NULL;
		r->files.at[number].id = source_path_add(&r->unit.files, NULL, dir, f->name);
		r->files.at[number].unit = r->n_units + 1;
	}
	return r->files.at[number].id;
}

/* Returns the place of a row, with the unit's file number. */
static void place_of(struct reader *r, const struct row *row, uint32_t *file, uint32_t *line)
{
	uint32_t id = row->line > 0 ? file_id(r, row->file) : DEBUG_NONE;
	*file = id;
	*line = id == DEBUG_NONE ? 0 : row->line;
}

/* ---- scopes ---- */

static uint32_t add_definition(struct reader *r, const char *linkage_name)
{
	struct debug_definition *d = vec_push(&r->unit.definitions);
	if (!d)
		return DEBUG_NONE;
	*d = (struct debug_definition){NULL, linkage_name, DEBUG_NONE, 0};
	return (uint32_t)(r->unit.definitions.n - 1);
}

static uint32_t add_scope(struct reader *r, const struct debug_scope *scope)
{
	struct debug_scope *s = vec_push(&r->unit.scopes);
	uint16_t *depth = s ? vec_push(&r->depths) : NULL;
	if (!depth)
		return DEBUG_NONE;
	*s = *scope;
	*depth = scope->parent == DEBUG_NONE ? 0 : (uint16_t)(r->depths.at[scope->parent] + 1);
	return (uint32_t)(r->unit.scopes.n - 1);
}

/* Adds the function as a scope of the unit. */
static bool add_function(struct reader *r, const struct cubin_function *f)
{
	uint32_t definition = add_definition(r, f->name);
	struct debug_scope scope = {DEBUG_NONE, definition, DEBUG_NONE, 0, f->start, f->alias};
	if (definition == DEBUG_NONE || add_scope(r, &scope) == DEBUG_NONE)
		return false;
	r->n_functions++;
	if (f->resources.link_addr == 0)
		return true;
	struct debug_resources *resources = vec_push(&r->unit.resources);
	if (resources)
		*resources = f->resources;
	return resources != NULL;
}

static bool add_segments(struct reader *r, const struct image_region *section)
{
	const struct cubin_functions *f = &r->functions;
	size_t i = cubin_segment_from(f, section->start);
	for (; i < f->segments.n && f->segments.at[i].start - section->start < section->n_bytes;
	     i++) {
		const struct cubin_segment *s = &f->segments.at[i];
		struct debug_range *range =
			s->function >= r->first_function ? vec_push(&r->unit.ranges) : NULL;
		if (!range)
			return s->function < r->first_function;
		*range = (struct debug_range){s->start, s->end,
					      s->function - (uint32_t)r->first_function};
	}
	return true;
}

/*
 * Adds the functions of the section of code that contains the address, unless another unit has
 * them. Returns false when out of memory.
 */
static bool add_functions(struct reader *r, uint64_t link_addr)
{
	const struct image_region *section = image_code_at(r->image, link_addr);
	r->n_functions = 0;
	if (!section || r->is_taken.at[section - r->image->code.at])
		return true;
	r->is_taken.at[section - r->image->code.at] = true;
	const struct cubin_functions *f = &r->functions;
	r->first_function = cubin_function_not_before(f, section->start);
	for (size_t i = r->first_function;
	     i < f->functions.n && f->functions.at[i].start - section->start < section->n_bytes;
	     i++)
		if (!add_function(r, &f->functions.at[i]))
			return false;
	return add_segments(r, section);
}

/*
 * Returns the scope of the function that contains the address; DEBUG_NONE: no function of this
 * unit.
 */
static uint32_t function_at(struct reader *r, uint64_t link_addr)
{
	const struct cubin_segment *s = r->segment;
	if (r->n_functions == 0)
		s = NULL;
	else if (!s || link_addr < s->start || link_addr >= s->end)
		s = cubin_segment_at(&r->functions, link_addr);
	r->segment = s;
	return s && s->function - r->first_function < r->n_functions
		       ? s->function - (uint32_t)r->first_function
		       : DEBUG_NONE;
}

/* The name at an offset of .debug_str, or NULL. */
static const char *name_at(const struct reader *r, uint32_t offset)
{
	if (offset >= r->names.n_bytes ||
	    !memchr(r->names.at + offset, '\0', r->names.n_bytes - offset))
		return NULL;
	return (const char *)r->names.at + offset;
}

static bool begins_name(const struct reader *r, uint64_t offset)
{
	return offset < r->names.n_bytes && (offset == 0 || r->names.at[offset - 1] == '\0');
}

/* Returns true if all names of the rows, moved by `base`, start at the start of a string. */
static bool names_fit(const struct reader *r, uint64_t base)
{
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->rows.at[i].context > 0 && !begins_name(r, base + r->rows.at[i].name))
			return false;
	return true;
}

/*
 * nvlink joins the names of its inputs and should write into each table where its own names begin.
 * nvlink of CUDA 13 writes 0 for sm_90 and later. We notice that when names begin inside a string.
 * Then we take the first string after the used ones from which all names of the table fit. If there
 * is none, the base stays as it is.
 */
static void mend_names(struct reader *r)
{
	uint32_t last = 0;
	uint64_t base = r->names_base;
	if (!names_fit(r, base)) {
		base = r->names_from;
		for (unsigned n = 0; !(begins_name(r, base) && names_fit(r, base)); n++) {
			if (n == MAX_NAME_BASES || base >= r->names.n_bytes)
				return;
			base += strnlen((const char *)r->names.at + base, r->names.n_bytes - base) +
				1;
		}
		r->names_base = (uint32_t)base;
	}
	for (size_t i = 0; i < r->rows.n; i++) {
		struct row *row = &r->rows.at[i];
		row->name += row->context > 0 ? (uint32_t)base : 0;
		last = row->context > 0 && row->name > last ? row->name : last;
	}
	if (last >= r->names_used && last < r->names.n_bytes)
		r->names_used = last +
				(uint32_t)strnlen((const char *)r->names.at + last,
						  r->names.n_bytes - last) +
				1;
}

/*
 * Returns the scope of a call that was inlined into `parent` at the place of row `caller`;
 * DEBUG_NONE when out of memory.
 */
static uint32_t inlined_call(struct reader *r, uint32_t parent, uint32_t name,
			     const struct row *caller)
{
	if (r->depths.at[parent] >= MAX_DEPTH - 1)
		return parent;
	uint32_t file, line;
	place_of(r, caller, &file, &line);
	uint64_t id = map_put(&r->calls, (uint64_t)parent << 32 | name, (uint64_t)file << 32 | line,
			      r->unit.scopes.n);
	if (id == MAP_NONE || id < r->unit.scopes.n)
		return id == MAP_NONE ? DEBUG_NONE : (uint32_t)id;
	uint64_t definition = map_put(&r->definitions, name, 0, r->unit.definitions.n);
	if (definition == r->unit.definitions.n) {
		const char *text = name_at(r, name);
		if (!text)
			complain(r, ".debug_str", name, "no name of a function here");
		definition = add_definition(r, text);
	}
	if (definition == MAP_NONE || definition == DEBUG_NONE)
		return DEBUG_NONE;
	struct debug_scope scope = {parent, (uint32_t)definition, file,
				    line,   caller->link_addr,    NULL};
	return add_scope(r, &scope);
}

/*
 * Sets the scope of row i. Its context is an earlier row, whose scope is known. If that row is in
 * another function, the chain is built again below the function of row i. Returns false when out of
 * memory.
 */
static bool resolve(struct reader *r, size_t i)
{
	struct row *row = &r->rows.at[i];
	uint32_t function = function_at(r, row->link_addr), chain[MAX_DEPTH], n = 0;
	row->scope = function;
	if (function == DEBUG_NONE || row->context == 0)
		return true;
	size_t k = i;
	while (r->rows.at[k].context != 0 && n < MAX_DEPTH) {
		if (r->rows.at[k].context > k) {
			complain(r, ".debug_line", r->header->program_start,
				 "an inlined call refers to a row that does not come before it");
			break;
		}
		chain[n++] = (uint32_t)k;
		k = r->rows.at[k].context - 1;
		uint32_t scope = r->rows.at[k].scope;
		while (scope != DEBUG_NONE && r->unit.scopes.at[scope].parent != DEBUG_NONE)
			scope = r->unit.scopes.at[scope].parent;
		if (scope == function) {
			row->scope = r->rows.at[k].scope;
			break;
		}
	}
	while (n > 0) {
		const struct row *inner = &r->rows.at[chain[--n]];
		row->scope =
			inlined_call(r, row->scope, inner->name, &r->rows.at[inner->context - 1]);
		if (row->scope == DEBUG_NONE)
			return false;
	}
	return true;
}

/* ---- ranges ---- */

/*
 * Adds the code from `start` to `end` to the scope and to the scopes that enclose it. Returns false
 * when out of memory.
 */
static bool add_range(struct reader *r, uint32_t scope, uint64_t start, uint64_t end)
{
	uint32_t around[MAX_DEPTH];
	size_t n = r->depths.at[scope], same = 0;
	for (size_t i = n; i-- > 0; scope = r->unit.scopes.at[scope].parent)
		around[i] = scope;
	while (same < n && same < r->n_open && r->open[same].scope == around[same] &&
	       r->unit.ranges.at[r->open[same].range].end == start)
		same++;
	for (size_t i = 0; i < same; i++)
		r->unit.ranges.at[r->open[i].range].end = end;
	for (size_t i = same; i < n; i++) {
		struct debug_range *range = vec_push(&r->unit.ranges);
		if (!range)
			return false;
		*range = (struct debug_range){start, end, around[i]};
		r->open[i] = (struct open_range){around[i], r->unit.ranges.n - 1};
	}
	r->n_open = n;
	return true;
}

static bool add_ranges(struct reader *r)
{
	r->n_open = 0;
	for (size_t i = 0; i + 1 < r->rows.n; i++) {
		const struct row *row = &r->rows.at[i];
		uint64_t end = r->rows.at[i + 1].link_addr;
		if (end <= row->link_addr || row->scope == DEBUG_NONE)
			continue;
		if (!add_range(r, row->scope, row->link_addr,
			       end)) /* code beyond its function will not count */
			return false;
	}
	return true;
}

/* ---- units ---- */

/*
 * Gives each function's definition the place of its first instruction. If that was inlined, uses
 * the place of the call.
 */
static void place_functions(struct reader *r)
{
	for (size_t i = 0; i + 1 < r->rows.n; i++) {
		const struct row *row = &r->rows.at[i];
		uint32_t function = function_at(r, row->link_addr);
		if (function == DEBUG_NONE || r->rows.at[i + 1].link_addr <= row->link_addr)
			continue;
		if (r->unit.scopes.at[function].entry != row->link_addr)
			continue;
		for (unsigned n = 0; row->context > 0 &&
				     row->context <= (size_t)(row - r->rows.at) && n < MAX_DEPTH;
		     n++)
			row = &r->rows.at[row->context - 1];
		struct debug_definition *d =
			&r->unit.definitions.at[r->unit.scopes.at[function].definition];
		place_of(r, row, &d->file, &d->line);
	}
}

static bool add_rows(struct reader *r)
{
	for (size_t i = 0; i < r->rows.n; i++) {
		struct debug_row *row = vec_push(&r->unit.rows);
		if (!row)
			return false;
		*row = (struct debug_row){.link_addr = r->rows.at[i].link_addr,
					  .is_end = i + 1 == r->rows.n};
		place_of(r, &r->rows.at[i], &row->file, &row->line);
	}
	return true;
}

static void clear_unit(struct reader *r)
{
	strtab_free(&r->unit.files);
	vec_clear(&r->unit.definitions);
	vec_clear(&r->unit.scopes);
	vec_clear(&r->unit.ranges);
	vec_clear(&r->unit.rows);
	vec_clear(&r->unit.resources);
	vec_clear(&r->depths);
	vec_clear(&r->rows);
	map_free(&r->calls);
	map_free(&r->definitions);
	r->damaged = false;
}

static bool hand_over(struct reader *r)
{
	r->unit.origin = DEBUG_FROM_SYMBOLS;
	r->unit.incomplete = r->damaged;
	r->status = r->take(r->arg, &r->unit, r->n_units++);
	clear_unit(r);
	return r->status == STATUS_OK;
}

/* Makes a unit from the rows. */
static bool end_sequence(struct reader *r)
{
	bool ok = add_functions(r, r->rows.at[0].link_addr);
	mend_names(r);
	for (size_t i = 0; i < r->rows.n && ok; i++)
		ok = resolve(r, i);
	ok = ok && add_ranges(r) && add_rows(r);
	if (ok)
		place_functions(r);
	return ok && hand_over(r);
}

static bool take_row(void *arg, const struct line_row *from)
{
	struct reader *r = arg;
	struct row *row = r->rows.n < UINT32_MAX ? vec_push(&r->rows) : NULL;
	if (!row)
		return false;
	bool sound = from->file < UINT32_MAX && from->line < UINT32_MAX &&
		     from->context < UINT32_MAX && from->name < UINT32_MAX;
	*row = (struct row){.link_addr = from->link_addr};
	if (sound)
		*row = (struct row){from->link_addr,      (uint32_t)from->file,
				    (uint32_t)from->line, (uint32_t)from->context,
				    (uint32_t)from->name, DEBUG_NONE};
	else
		r->damaged = true;
	return !from->is_end || end_sequence(r);
}

/*
 * Reads the table at *offset and moves *offset to the next one. Returns false if no more tables can
 * be read.
 */
static bool read_table(struct reader *r, uint64_t *offset)
{
	struct line_header header;
	uint64_t where = *offset;
	enum line_result result = line_header_read(&r->sections, *offset, &header, &where);
	if (result == LINE_DAMAGED)
		complain(r, ".debug_line", where,
			 "the line table is damaged; those from there on are not used");
	if (result != LINE_OK) {
		r->status = result == LINE_NO_MEMORY ? STATUS_NO_MEMORY : r->status;
		return false;
	}
	*offset = header.program_end;
	r->header = &header;
	r->names_from = r->names_used;
	r->names_base = 0;
	vec_clear(&r->files);
	result = line_program_run(&r->sections, &header, take_row, r, &where);
	if (result == LINE_DAMAGED)
		complain(r, ".debug_line", where, "the line table is damaged; used up to there");
	else if (result == LINE_NO_MEMORY && r->status == STATUS_OK)
		r->status = STATUS_NO_MEMORY;
	if (r->status == STATUS_OK && r->rows.n > 0) { /* a sequence that does not end */
		r->damaged = true;
		end_sequence(r);
	}
	line_header_free(&header);
	r->header = NULL;
	return r->status == STATUS_OK;
}

/* Reads the functions of sections without lines. */
static enum status read_rest(struct reader *r)
{
	for (size_t i = 0; i < r->image->code.n; i++) {
		if (r->is_taken.at[i] || r->image->code.at[i].n_bytes == 0)
			continue;
		if (!add_functions(r, r->image->code.at[i].start))
			return STATUS_NO_MEMORY;
		if (!hand_over(r))
			return r->status;
	}
	return STATUS_OK;
}

static struct section_bytes section(const struct image *image, const char *name)
{
	const struct image_section *s = image_find(image, name);
	return s ? (struct section_bytes){s->bytes, s->n_bytes} : (struct section_bytes){NULL, 0};
}

enum status cubin_read(const struct image *image,
		       enum status (*take)(void *arg, const struct debug_unit *unit,
					   uint32_t number),
		       void *arg)
{
	struct reader r = {.image = image, .take = take, .arg = arg};
	r.sections.line = section(image, ".debug_line");
	r.sections.line_str = section(image, ".debug_line_str");
	r.sections.str = r.names = section(image, ".debug_str");
	bool ok = cubin_functions_read(image, &r.functions) &&
		  (image->code.n == 0 || vec_extend(&r.is_taken, image->code.n));
	if (ok)
		cubin_read_resources(image, &r.functions);
	r.status = ok ? STATUS_OK : STATUS_NO_MEMORY;
	bool damaged = false;
	for (uint64_t offset = 0; r.status == STATUS_OK && offset < r.sections.line.n_bytes;) {
		bool more = read_table(&r, &offset);
		damaged = damaged || r.damaged;
		r.damaged = false;
		if (!more)
			break;
	}
	r.damaged = damaged;
	enum status status = r.status == STATUS_OK ? read_rest(&r) : r.status;
	cubin_functions_free(&r.functions);
	clear_unit(&r);
	debug_unit_free(&r.unit);
	vec_free(&r.is_taken);
	vec_free(&r.files);
	vec_free(&r.rows);
	vec_free(&r.depths);
	return status;
}
