/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Judge of structure files: compares what one says of addresses with what libdw says of the same binary. A program of its own, as libdw and libdwarf export the
 * same names. Prints one TAP line; differences go to comments.
 *
 *	judge_dw STRUCTURE BINARY [STRIDE]
 *
 * Compared at every start of an interval, at every row of the line tables, and every STRIDE bytes (default 1): function, inlined calls with their call sites, file and line.
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
static unsigned n_addresses, n_differ, n_no_function, n_shown;

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
 * libdw joins file and directory, and with the compilation directory only where DWARF 5 says so by entry 0. Relative compilation directories (reproducible builds)
 * would else be taken twice.
 */
static const char *join(const char *dir, const char *file, char full[1024])
{
	if (!file || file[0] == '/' || !dir || (strncmp(dir, file, strlen(dir)) == 0 && file[strlen(dir)] == '/'))
		return file;
	snprintf(full, 1024, "%s/%s", dir, file);
	return full;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &a) && !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		return dwarf_diename(die);
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
	if (has_file && dwarf_diecu(die, &unit, NULL, NULL) && dwarf_getsrcfiles(&unit, &files, NULL) == 0)
		path = dwarf_filesrc(files, file, NULL, NULL);
	char full[1024];
	const char *dir = path && dwarf_attr(&unit, DW_AT_comp_dir, &a) ? dwarf_formstring(&a) : NULL;
	put_place(f->call_site, sizeof f->call_site, join(dir, path, full), (int)line);
}

/* The chain of scopes as eu-addr2line -i finds it. */
static void ask_scopes(Dwarf_Addr addr, struct answer *a)
{
	Dwarf_Addr unit_bias;
	Dwarf_Die *unit = dwfl_module_addrdie(module, addr + bias, &unit_bias), *scopes = NULL, *chain = NULL;
	int n = unit ? dwarf_getscopes(unit, addr + bias - unit_bias, &scopes) : 0;
	n = n > 0 ? dwarf_getscopes_die(&scopes[0], &chain) : 0;
	for (int i = 0; i < n && a->n < MAX_DEPTH; i++) {
		int tag = dwarf_tag(&chain[i]);
		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		struct frame *f = &a->frames[a->n++];
		f->name = name_of(&chain[i]);
		f->call_site[0] = '\0';
		if (tag == DW_TAG_subprogram)
			break;
		put_call_site(f, &chain[i]);
	}
	free(chain);
	free(scopes);
}

static void ask_libdw(Dwarf_Addr addr, struct answer *a)
{
	a->n = 0;
	Dwfl_Line *line = dwfl_module_getsrc(module, addr + bias);
	int number = 0;
	const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	char full[1024];
	put_place(a->place, sizeof a->place, join(line ? dwfl_line_comp_dir(line) : NULL, file, full), number);
	ask_scopes(addr, a);
}

static void put_our_place(const struct structure *s, char *out, size_t n_bytes, uint32_t file, uint32_t line)
{
	put_place(out, n_bytes, file == STRUCTURE_NONE ? NULL : structure_get_file(s, file), (int)line);
}

static enum structure_origin ask_structure(const struct structure *s, uint64_t addr, struct answer *a)
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
		struct frame *f = &a->frames[a->n++];
		f->name = *scope.linkage_name ? scope.linkage_name : scope.name;
		f->call_site[0] = '\0';
		if (scope.kind == STRUCTURE_INLINE)
			put_our_place(s, f->call_site, sizeof f->call_site, scope.call_file, scope.call_line);
		origin = scope.origin;
		id = scope.parent;
	}
	return origin;
}

/* Our name may carry a clone's suffix (".part.0") that DWARF leaves out. */
static bool same_name(const char *dw, const char *ours)
{
	size_t n = dw ? strlen(dw) : 0;
	if (!dw)
		return strcmp(ours, "<unnamed>") == 0;
	return strncmp(dw, ours, n) == 0 && (ours[n] == '\0' || ours[n] == '.');
}

static bool same(const struct answer *dw, const struct answer *ours)
{
	if (strcmp(dw->place, ours->place) != 0 || dw->n != ours->n)
		return false;
	for (unsigned i = 0; i < dw->n; i++)
		if (!same_name(dw->frames[i].name, ours->frames[i].name) || strcmp(dw->frames[i].call_site, ours->frames[i].call_site) != 0)
			return false;
	return true;
}

static void show(const char *who, const struct answer *a)
{
	printf("#   %s %s", who, a->place);
	for (unsigned i = 0; i < a->n; i++)
		printf(" | %s %s", a->frames[i].name ? a->frames[i].name : "(none)", a->frames[i].call_site);
	putchar('\n');
}

static void compare(const struct structure *s, Dwarf_Addr addr)
{
	static struct answer dw, ours;
	ask_libdw(addr, &dw);
	enum structure_origin origin = ask_structure(s, addr, &ours);
	if (origin != STRUCTURE_FROM_DWARF)
		ours.n = 0; /* libdw knows no symbols here */
	n_addresses++;
	if (dw.n == 0) {
		/* padding behind a function belongs to it for us, when its symbol says so */
		n_no_function++;
		ours.n = 0;
		/* libdw also gives rows of no length, which cover no instruction: the last before the end of a sequence at the same address */
		if (strcmp(ours.place, "?") == 0)
			return;
	}
	if (same(&dw, &ours))
		return;
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
			if (dwarf_lineaddr(dwarf_onesrcline(lines, i), &addr) == 0 && structure_lookup(s, addr + unit_bias - bias, &place))
				add(addr + unit_bias - bias);
		}
	}
	qsort(addresses.at, addresses.n, sizeof *addresses.at, compare_addresses);
}

static bool open_binary(const char *path, const char *debug_dirs)
{
	static char *dirs;
	static Dwfl_Callbacks callbacks = {.find_debuginfo = dwfl_standard_find_debuginfo, .section_address = dwfl_offline_section_address, .debuginfo_path = &dirs};
	dirs = strdup(debug_dirs ? debug_dirs : ":.debug:/usr/lib/debug");
	Dwfl *dwfl = dwfl_begin(&callbacks);
	module = dwfl ? dwfl_report_offline(dwfl, "", path, -1) : NULL;
	if (!module || dwfl_report_end(dwfl, NULL, NULL) != 0 || !dwfl_module_getdwarf(module, &bias)) {
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
	if (mapfile_open(argv[1], &file) != STATUS_OK || structure_open(argv[1], file.bytes, file.n_bytes, &s) != STATUS_OK || stride == 0)
		return 1;
	if (!open_binary(argv[2], getenv("JUDGE_DEBUG_PATH")))
		return 1;
	collect(s, stride);
	for (size_t i = 0; i < addresses.n; i++)
		if (i == 0 || addresses.at[i] != addresses.at[i - 1])
			compare(s, addresses.at[i]);
	printf("# %s: %u addresses, %u of them in no function, %u differ\n", argv[2], n_addresses, n_no_function, n_differ);
	return n_differ > 0;
}
