/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Judge of structure files: compares what one says of addresses with what libdw says of the same
 *binary. A program of its own, as libdw and libdwarf export the same names. Prints one TAP line;
 *differences go to comments.
 *
 *	judge_dw STRUCTURE BINARY [STRIDE]
 *
 * Compared at every start of an interval, at every row of the line tables, and every STRIDE bytes
 *(default 1): function, inlined calls with their call sites, file and line.
 */
#include "common/base/mapfile.h"
#include "common/format/structure.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 128, MAX_SHOWN = 12 };

struct frame {
	const char *name;
	char call_site[1200];  /* "" for the function itself */
};

struct answer {
	struct frame frames[MAX_DEPTH]; /* innermost first */
	unsigned n;
	char place[1200];
};

static Dwfl_Module *module;
static Dwarf_Addr bias;

/* Which unit has an address: by the units' own ranges, as not every compiler writes .debug_aranges,
 * which libdwfl goes by. */
struct unit_range {
	Dwarf_Addr start, end;
	Dwarf_Die unit;
	Dwarf_Addr bias;
};
static struct { struct unit_range *at; size_t n, capacity; } units;

static unsigned n_addresses, n_differ, n_no_unit, n_no_function, n_shown;

/* Both sides leave out "." and empty path parts. */
static void put_place(char *out, size_t n_bytes, const char *file, int line)
{
	char path[1024];
	size_t n = 0;
	if (!file || line <= 0) {
		snprintf(out, n_bytes, "?");
		return;
	}
	for (const char *p = file; *p && n + 1 < sizeof path;) {
		if (p[0] == '/' && (p[1] == '/' || (p[1] == '.' && (p[2] == '/' || !p[2]))))
			p += p[1] == '/' ? 1 : 2;
		else
			path[n++] = *p++;
	}
	path[n] = '\0';
	const char *start = strncmp(path, "./", 2) == 0 ? path + 2 : path;
	snprintf(out, n_bytes, "%s:%d", start, line);
}

/*
 * libdw joins file and directory, and with the compilation directory only where DWARF 5 says so by
 * entry 0. Relative compilation directories (reproducible builds) would else be taken twice.
 */
static const char *join(const char *dir, const char *file, char full[1024])
{
	if (!file || file[0] == '/' || !dir ||
	    (strncmp(dir, file, strlen(dir)) == 0 && file[strlen(dir)] == '/'))
		return file;
	snprintf(full, 1024, "%s/%s", dir, file);
	return full;
}

static bool is_cplusplus(Dwarf_Die *die)
{
	Dwarf_Die unit;
	const int language = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : 0;
	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
	       language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14;
}

/* The entry that has the name of a function. */
static Dwarf_Die *find_named(Dwarf_Die *die, Dwarf_Die *named)
{
	Dwarf_Attribute a;
	for (*named = *die; !dwarf_hasattr(named, DW_AT_name);)
		if ((!dwarf_attr(named, DW_AT_abstract_origin, &a) &&
		     !dwarf_attr(named, DW_AT_specification, &a)) ||
		    !dwarf_formref_die(&a, named))
			return NULL;
	return named;
}

#define NAME_BYTES 8192

static void append(char *text, const char *what)
{
	const size_t n = strlen(text);
	snprintf(text + n, NAME_BYTES - n, "%s", what);
}

/* Of C++ without linkage names: what is around the entry that has the name, by libdw's scopes. */
static void put_qualified(char *text, Dwarf_Die *die)
{
	Dwarf_Die named, *scopes = NULL;
	if (!find_named(die, &named))
		return;
	const char *name = dwarf_diename(&named);
	int n = is_cplusplus(die) ? dwarf_getscopes_die(&named, &scopes) : 0;
	bool in_closure = false;
	for (int i = n - 1; i > 0; i--) {
		const int tag = dwarf_tag(&scopes[i]);
		const char *own = dwarf_hasattr(&scopes[i], DW_AT_name) ? dwarf_diename(&scopes[i])
									: NULL;
		const bool class = tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
				   tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
		in_closure = class && !own;
		if (tag == DW_TAG_subprogram) {
			*text = '\0';
			put_qualified(text, &scopes[i]);
			append(text, "(...)::");
		} else if (tag == DW_TAG_namespace || class) {
			append(text, own ? own : class ? "<lambda>" : "(anonymous namespace)");
			append(text, "::");
		}
	}
	free(scopes);
	if (in_closure && strncmp(name, "operator()", 10) == 0)
		text[strlen(text) - 2] = '\0';
	else
		append(text, name);
}

/* Names by entry, as each is asked for at every byte of its code. */
struct known_name {
	struct known_name *next;
	const void *entry;
	char *name;
};
static struct known_name *known_names[4096];

static const char *qualified_name(Dwarf_Die *die)
{
	struct known_name **first =
		&known_names[((uintptr_t)die->addr * 0x9e3779b97f4a7c15u) >> 52];
	for (struct known_name *k = *first; k; k = k->next)
		if (k->entry == die->addr)
			return k->name;
	char text[NAME_BYTES] = "";
	struct known_name *k = malloc(sizeof *k);
	if (!k)
		exit(1);
	put_qualified(text, die);
	*k = (struct known_name){*first, die->addr, *text ? strdup(text) : NULL};
	*first = k;
	return k->name;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &a) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		return qualified_name(die);
	return dwarf_formstring(&a);
}

static void put_call_site(struct frame *f, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Die unit;
	Dwarf_Files *files = NULL;
	bool has_file = dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &a), &file) == 0;
	dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &a), &line);
	const char *path = NULL;
	if (has_file && dwarf_diecu(die, &unit, NULL, NULL) &&
	    dwarf_getsrcfiles(&unit, &files, NULL) == 0)
		path = dwarf_filesrc(files, file, NULL, NULL);
	char full[1024];
	const char *dir =
		path && dwarf_attr(&unit, DW_AT_comp_dir, &a) ? dwarf_formstring(&a) : NULL;
	put_place(f->call_site, sizeof f->call_site, join(dir, path, full), (int)line);
}

static struct unit_range *find_unit(Dwarf_Addr addr)
{
	for (size_t i = 0; i < units.n; i++)
		if (units.at[i].start <= addr && addr < units.at[i].end)
			return &units.at[i];
	return NULL;
}

/* Functions with code, by start. dwarf_getscopes() is of no use: it gives up where names lie in
 * another unit (LTO). */
struct function {
	Dwarf_Addr start, end;
	size_t order; /* in the file: of several that claim the same code (assembler labels) the
			 first counts */
	Dwarf_Die die;
};
static struct { struct function *at; size_t n, capacity; } functions;

static void add_function(Dwarf_Die *die, Dwarf_Addr unit_bias)
{
	Dwarf_Addr base, start, end;
	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
		if (functions.n == functions.capacity) {
			functions.capacity = functions.capacity ? 2 * functions.capacity : 1024;
			functions.at =
				realloc(functions.at, functions.capacity * sizeof *functions.at);
			if (!functions.at)
				exit(1);
		}
		functions.at[functions.n] =
			(struct function){start + unit_bias, end + unit_bias, functions.n, *die};
		functions.n++;
	}
}

static void collect_functions(Dwarf_Die *parent, Dwarf_Addr unit_bias)
{
	Dwarf_Die die;
	for (int r = dwarf_child(parent, &die); r == 0; r = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			add_function(&die, unit_bias);
		collect_functions(&die, unit_bias);
	}
}

static void add_unit_range(const struct unit_range *range)
{
	if (units.n == units.capacity) {
		units.capacity = units.capacity ? 2 * units.capacity : 64;
		units.at = realloc(units.at, units.capacity * sizeof *units.at);
		if (!units.at)
			exit(1);
	}
	units.at[units.n++] = *range;
}

/* nvcc gives units no ranges: theirs are those of their functions. */
static void collect_units(void)
{
	Dwarf_Addr unit_bias;
	for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(module, unit, &unit_bias));) {
		Dwarf_Addr base, start, end;
		size_t n_units = units.n, first = functions.n;
		for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0;)
			add_unit_range(&(struct unit_range){start + unit_bias, end + unit_bias,
							    *unit, unit_bias});
		bool has_ranges = units.n > n_units;
		collect_functions(unit, unit_bias);
		for (size_t i = first; !has_ranges && i < functions.n; i++)
			add_unit_range(&(struct unit_range){functions.at[i].start,
							    functions.at[i].end, *unit, unit_bias});
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order > y->order ? -1 : 1;
}

static struct function *find_function(Dwarf_Addr addr)
{
	size_t low = 0, high = functions.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (functions.at[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0; low--)
		if (functions.at[low - 1].start <= addr && addr < functions.at[low - 1].end)
			return &functions.at[low - 1];
		else if (functions.at[low - 1].start + 0x1000000 < addr)
			return NULL;
	return NULL;
}

/* Puts the frames inside `die` in front, so that the innermost is first. Blocks may overlap: one
 * that has no inlined call at pc does not end the search. */
static void descend(Dwarf_Die *die, Dwarf_Addr pc, struct answer *a)
{
	Dwarf_Die child;
	unsigned n = a->n;
	for (int r = dwarf_child(die, &child); r == 0 && a->n == n;
	     r = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		bool is_block = tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
				tag == DW_TAG_catch_block;
		if ((!is_block && tag != DW_TAG_inlined_subroutine) || dwarf_haspc(&child, pc) <= 0)
			continue;
		descend(&child, pc, a);
		if (tag == DW_TAG_inlined_subroutine && a->n < MAX_DEPTH) {
			struct frame *f = &a->frames[a->n++];
			f->name = name_of(&child);
			put_call_site(f, &child);
		}
	}
}

static void ask_scopes(struct unit_range *unit, Dwarf_Addr addr, struct answer *a)
{
	struct function *f = find_function(addr);
	if (!f)
		return;
	descend(&f->die, addr - unit->bias, a);
	a->frames[a->n].name = name_of(&f->die);
	a->frames[a->n++].call_site[0] = '\0';
}

/* False: in no unit. */
static bool ask_libdw(Dwarf_Addr addr, struct answer *a)
{
	struct unit_range *unit = find_unit(addr + bias);
	a->n = 0;
	snprintf(a->place, sizeof a->place, "?");
	if (!unit)
		return false;
	Dwarf_Line *line = dwarf_getsrc_die(&unit->unit, addr + bias - unit->bias);
	int number = 0;
	Dwarf_Attribute dir;
	char full[1024];
	if (line && dwarf_lineno(line, &number) == 0)
		put_place(a->place, sizeof a->place,
			  join(dwarf_attr(&unit->unit, DW_AT_comp_dir, &dir)
				       ? dwarf_formstring(&dir)
				       : NULL,
			       dwarf_linesrc(line, NULL, NULL), full),
			  number);
	ask_scopes(unit, addr + bias, a);
	return true;
}

static void put_our_place(const struct structure *s, char *out, size_t n_bytes, uint32_t file,
			  uint32_t line)
{
	put_place(out, n_bytes, file == STRUCTURE_NONE ? NULL : structure_get_file(s, file),
		  (int)line);
}

static enum structure_origin ask_structure(const struct structure *s, uint64_t addr,
					   struct answer *a)
{
	struct structure_place place;
	a->n = 0;
	snprintf(a->place, sizeof a->place, "?");
	if (!structure_lookup(s, addr, &place))
		return STRUCTURE_FROM_EH_FRAME;
	put_our_place(s, a->place, sizeof a->place, place.file, place.line);
	enum structure_origin origin = STRUCTURE_FROM_EH_FRAME;
	for (uint32_t id = place.scope; id != STRUCTURE_NONE && a->n < MAX_DEPTH;) {
		struct structure_scope scope = structure_get_scope(s, id);
		if (scope.kind == STRUCTURE_LOOP) { /* not from DWARF */
			id = scope.parent;
			continue;
		}
		struct frame *f = &a->frames[a->n++];
		f->name = *scope.linkage_name ? scope.linkage_name : scope.name;
		f->call_site[0] = '\0';
		if (scope.kind == STRUCTURE_INLINE)
			put_our_place(s, f->call_site, sizeof f->call_site, scope.call_file,
				      scope.call_line);
		origin = scope.origin;
		id = scope.parent;
	}
	return origin;
}

/* The numbers of lambdas ("<lambda#2>") are judged elsewhere. */
static void drop_numbers(char *text)
{
	for (char *at; (at = strstr(text, "<lambda#"));)
		memmove(at + 7, at + 8 + strspn(at + 8, "0123456789"),
			strlen(at + 8 + strspn(at + 8, "0123456789")) + 1);
}

/* Our name may come from the symbol: with a clone's suffix (".part.0") that DWARF leaves out, or
 * mangled where DWARF has no linkage name. */
static bool same_name(const char *dw, const char *ours)
{
	size_t n = dw ? strlen(dw) : 0;
	if (!dw)
		return strcmp(ours, "<unnamed>") == 0;
	if (strncmp(ours, "_Z", 2) == 0 && strncmp(dw, "_Z", 2) != 0) {
		char identifier[256];
		const char *bare = dw;
		for (const char *at = dw; *at && *at != '<' && *at != ' '; at++)
			if (at[0] == ':' && at[1] == ':')
				bare = at + 2;
		bare += *bare == '~';
		snprintf(identifier, sizeof identifier, "%.*s", (int)strcspn(bare, "< ("), bare);
		return strstr(ours, identifier) != NULL || strncmp(bare, "operator", 8) == 0;
	}
	char text[NAME_BYTES];
	snprintf(text, sizeof text, "%s", ours);
	drop_numbers(text);
	return strncmp(dw, text, n) == 0 && (text[n] == '\0' || text[n] == '.');
}

static bool same(const struct answer *dw, const struct answer *ours)
{
	if (strcmp(dw->place, ours->place) != 0 || dw->n != ours->n)
		return false;
	for (unsigned i = 0; i < dw->n; i++)
		if (!same_name(dw->frames[i].name, ours->frames[i].name) ||
		    strcmp(dw->frames[i].call_site, ours->frames[i].call_site) != 0)
			return false;
	return true;
}

static void show(const char *who, const struct answer *a)
{
	printf("#   %s %s", who, a->place);
	for (unsigned i = 0; i < a->n; i++)
		printf(" | %s %s", a->frames[i].name ? a->frames[i].name : "(none)",
		       a->frames[i].call_site);
	putchar('\n');
}

/*
 * A row just before the end of a sequence at the same address covers no instruction, but libdw,
 * which sorts rows of all sequences together, may take it for the rows of the sequence that starts
 * there. True when a sequence ends where libdw's row is, and our place is that of another row
 * there.
 */
static bool is_empty_row(Dwarf_Addr addr, const struct answer *ours)
{
	struct unit_range *unit = find_unit(addr + bias);
	Dwarf_Line *line = unit ? dwarf_getsrc_die(&unit->unit, addr + bias - unit->bias) : NULL;
	Dwarf_Addr at, other;
	Dwarf_Lines *lines;
	size_t n;
	bool ends = false, found = false;
	if (!line || dwarf_lineaddr(line, &at) != 0 ||
	    dwarf_getsrclines(&unit->unit, &lines, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		bool end;
		char place[1200], full[1024];
		int number = 0;
		Dwarf_Attribute dir;
		if (dwarf_lineaddr(l, &other) != 0 || other != at ||
		    dwarf_lineendsequence(l, &end) != 0 || dwarf_lineno(l, &number) != 0)
			continue;
		put_place(place, sizeof place,
			  join(dwarf_attr(&unit->unit, DW_AT_comp_dir, &dir)
				       ? dwarf_formstring(&dir)
				       : NULL,
			       dwarf_linesrc(l, NULL, NULL), full),
			  number);
		ends |= end;
		found |= !end && strcmp(place, ours->place) == 0;
	}
	return ends && found;
}

static void compare(const struct structure *s, Dwarf_Addr addr)
{
	static struct answer dw, ours;
	if (!ask_libdw(addr, &dw)) {
		n_no_unit++;
		return;
	}
	enum structure_origin origin = ask_structure(s, addr, &ours);
	if (origin != STRUCTURE_FROM_DWARF)
		ours.n = 0; /* libdw knows no symbols here */
	n_addresses++;
	if (dw.n == 0) {
		/* padding behind a function belongs to it for us, when its symbol says so */
		n_no_function++;
		ours.n = 0;
		/* libdw also gives rows of no length, which cover no instruction: the last before
		 * the end of a sequence at the same address */
		if (strcmp(ours.place, "?") == 0)
			return;
	}
	if (same(&dw, &ours))
		return;
	if (is_empty_row(addr, &ours)) {
		snprintf(dw.place, sizeof dw.place, "%s", ours.place);
		if (same(&dw, &ours))
			return;
	}
	n_differ++;
	if (n_shown++ >= MAX_SHOWN)
		return;
	printf("# differ at 0x%llx\n", (unsigned long long)addr);
	show("libdw:", &dw);
	show("ours: ", &ours);
}

static int compare_addresses(const void *a, const void *b)
{
	Dwarf_Addr x = *(const Dwarf_Addr *)a, y = *(const Dwarf_Addr *)b;
	return x < y ? -1 : x > y;
}

static struct { Dwarf_Addr *at; size_t n, capacity; } addresses;

static void add(Dwarf_Addr addr)
{
	if (addresses.n == addresses.capacity) {
		addresses.capacity = addresses.capacity ? 2 * addresses.capacity : 1024;
		addresses.at = realloc(addresses.at, addresses.capacity * sizeof *addresses.at);
		if (!addresses.at)
			exit(1);
	}
	addresses.at[addresses.n++] = addr;
}

static void collect(const struct structure *s, uint64_t stride)
{
	for (size_t i = 0; i < structure_n_intervals(s); i++) {
		uint64_t start, end;
		struct structure_place place;
		structure_get_interval(s, i, &start, &end, &place);
		add(start);
		for (uint64_t at = start - start % stride + stride; at < end; at += stride)
			add(at);
	}
	Dwarf_Addr unit_bias;
	for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(module, unit, &unit_bias));) {
		Dwarf_Lines *lines;
		size_t n = 0;
		if (dwarf_getsrclines(unit, &lines, &n) != 0)
			continue;
		for (size_t i = 0; i < n; i++) {
			Dwarf_Addr addr;
			struct structure_place place;
			/* rows of functions the linker dropped lie outside all code */
			if (dwarf_lineaddr(dwarf_onesrcline(lines, i), &addr) == 0 &&
			    structure_lookup(s, addr + unit_bias - bias, &place))
				add(addr + unit_bias - bias);
		}
	}
	qsort(addresses.at, addresses.n, sizeof *addresses.at, compare_addresses);
}

static bool open_binary(const char *path, const char *debug_dirs)
{
	static char *dirs;
	static Dwfl_Callbacks callbacks = {.find_debuginfo = dwfl_standard_find_debuginfo,
					   .section_address = dwfl_offline_section_address,
					   .debuginfo_path = &dirs};
	dirs = strdup(debug_dirs ? debug_dirs : ":.debug:/usr/lib/debug");
	Dwfl *dwfl = dwfl_begin(&callbacks);
	module = dwfl ? dwfl_report_offline(dwfl, "", path, -1) : NULL;
	if (!module || dwfl_report_end(dwfl, NULL, NULL) != 0 ||
	    !dwfl_module_getdwarf(module, &bias)) {
		printf("# %s: %s\n", path, dwfl_errmsg(-1));
		return false;
	}
	GElf_Addr elf_bias;
	dwfl_module_getelf(module, &elf_bias);
	bias = elf_bias;
	return true;
}

int main(int argc, char **argv)
{
	struct mapfile file;
	struct structure *s;
	if (argc < 3) {
		fprintf(stderr, "usage: judge_dw STRUCTURE BINARY [STRIDE]\n");
		return 2;
	}
	uint64_t stride = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	if (mapfile_open(argv[1], &file) != STATUS_OK ||
	    structure_open(argv[1], file.bytes, file.n_bytes, &s) != STATUS_OK || stride == 0)
		return 1;
	if (!open_binary(argv[2], getenv("JUDGE_DEBUG_PATH")))
		return 1;
	collect_units();
	qsort(functions.at, functions.n, sizeof *functions.at, compare_functions);
	collect(s, stride);
	for (size_t i = 0; i < addresses.n; i++)
		if (i == 0 || addresses.at[i] != addresses.at[i - 1])
			compare(s, addresses.at[i]);
	printf("# %s: %u addresses in units and %u outside; of the first %u in no function; %u "
	       "differ\n",
	       argv[2], n_addresses, n_no_unit, n_no_function, n_differ);
	structure_close(s);
	mapfile_close(&file);
	return n_differ > 0;
}
