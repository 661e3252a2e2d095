/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Judge of the structures of cubins: what libdw's reading of the line table says of each
 *instruction, in the form of cubin_chains -n:
 *
 *	judge_cubin CUBIN
 *	judge_cubin -w COPY CUBIN
 *
 * The second form writes a copy with addresses and relocations in place, as a shared library of
 *another machine, for judge_dw to read .debug_info from. A program of its own, as libdw and
 *libdwarf export the same names, and with nothing of ours in it: sections get their addresses and
 *the line table its relocations here. libdw numbers the rows of a whole table where NVIDIA counts
 *from the start of a sequence; so the context is taken as a number, from libdw's pointer, and
 *looked up in the sequence.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INSTRUCTION_BYTES = 16, MAX_SECTIONS = 4096, LINE_BYTES = 8192, MAX_DEPTH = 128 };

struct section {
	const char *name;
	uint64_t start, n_bytes;
	bool is_code;
};

static struct section sections[MAX_SECTIONS];
static size_t n_sections;

struct row {
	Dwarf_Addr addr;
	const char *file;
	int line;
	size_t context;        /* number in the sequence, from 1; 0: none */
	const char *name;
};

/* A sequence of rows. */
struct sequence {
	struct row *rows;
	size_t n;
};
static struct sequence *sequences;
static size_t n_sequences;

static void *checked(void *p)
{
	if (!p)
		exit(2);
	return p;
}

static const char *base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path ? path : "?";
}

static void load_sections(Elf *elf)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		exit(2);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) && n_sections + 1 < MAX_SECTIONS;) {
		GElf_Shdr h;
		if (!gelf_getshdr(scn, &h))
			exit(2);
		bool is_code = (h.sh_flags & SHF_EXECINSTR) != 0;
		sections[elf_ndxscn(scn)] =
			(struct section){elf_strptr(elf, names, h.sh_name),
					 is_code ? h.sh_offset : 0, h.sh_size, is_code};
		n_sections = elf_ndxscn(scn) + 1;
	}
}

static void relocate(Elf *elf, Elf_Scn *scn, const GElf_Shdr *h, uint8_t *bytes)
{
	Elf_Scn *target = elf_getscn(elf, h->sh_info), *table = elf_getscn(elf, h->sh_link);
	GElf_Shdr to;
	Elf_Data *symbols = table ? elf_getdata(table, NULL) : NULL, *d = elf_getdata(scn, NULL);
	if (!target || !symbols || !d || !gelf_getshdr(target, &to))
		exit(2);
	for (int i = 0; (size_t)i < h->sh_size / h->sh_entsize; i++) {
		GElf_Rela a = {0};
		GElf_Rel r;
		GElf_Sym s;
		uint64_t value = 0;
		if (h->sh_type == SHT_RELA) {
			if (!gelf_getrela(d, i, &a))
				exit(2);
		} else {
			if (!gelf_getrel(d, i, &r))
				exit(2);
			a.r_offset = r.r_offset;
			a.r_info = r.r_info;
			memcpy(&a.r_addend, bytes + to.sh_offset + a.r_offset, 8);
		}
		if (!gelf_getsym(symbols, (int)GELF_R_SYM(a.r_info), &s) ||
		    GELF_R_TYPE(a.r_info) != 2)
			continue;
		value = s.st_value + sections[s.st_shndx].start + (uint64_t)a.r_addend;
		memcpy(bytes + to.sh_offset + a.r_offset, &value, sizeof value);
	}
}

static void write_copy(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = checked(fopen(path, "wb"));
	if (fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		exit(2);
}

/* Gives sections their addresses, one segment over all of them, and a machine that libdwfl
 * knows. */
static void make_library(uint8_t *bytes, size_t n)
{
	Elf64_Ehdr *h = (void *)bytes;
	Elf64_Shdr *s = (void *)(bytes + h->e_shoff);
	Elf64_Phdr *p = (void *)(bytes + h->e_phoff);
	for (size_t i = 0; i < h->e_shnum; i++) {
		if (s[i].sh_flags & SHF_EXECINSTR)
			s[i].sh_addr = s[i].sh_offset;
		else
			s[i].sh_flags &= ~(uint64_t)SHF_ALLOC;
		if (s[i].sh_type == SHT_REL || s[i].sh_type == SHT_RELA)
			s[i].sh_type = SHT_PROGBITS;
	}
	for (size_t i = 0; i < h->e_phnum; i++)
		p[i] = (Elf64_Phdr){.p_type = i == 0 ? PT_LOAD : PT_NULL,
				    .p_flags = PF_R | PF_X,
				    .p_filesz = n,
				    .p_memsz = n,
				    .p_align = 4096};
	h->e_type = ET_DYN;
	h->e_machine = EM_X86_64;
	memset(h->e_ident + EI_OSABI, 0, EI_NIDENT - EI_OSABI);
}

/* The file in memory, with its debug sections relocated; *image holds its bytes and outlives it. */
static Elf *open_linked(const char *path, const char *copy, uint8_t **image)
{
	int fd = open(path, O_RDONLY);
	off_t n = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	uint8_t *bytes = n > 0 ? malloc((size_t)n) : NULL;
	if (!bytes || pread(fd, bytes, (size_t)n, 0) != n)
		exit(2);
	close(fd);
	elf_version(EV_CURRENT);
	Elf *elf = checked(elf_memory((char *)bytes, (size_t)n));
	load_sections(elf);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr h;
		if (gelf_getshdr(scn, &h) && (h.sh_type == SHT_RELA || h.sh_type == SHT_REL) &&
		    h.sh_info < n_sections &&
		    (strcmp(sections[h.sh_info].name, ".debug_line") == 0 ||
		     strcmp(sections[h.sh_info].name, ".debug_info") == 0))
			relocate(elf, scn, &h, bytes);
	}
	elf_end(elf);
	if (copy) {
		make_library(bytes, (size_t)n);
		write_copy(copy, bytes, (size_t)n);
	}
	*image = bytes;
	return checked(elf_memory((char *)bytes, (size_t)n));
}

/* Position of a row in libdw's table, which is an array. */
static size_t index_of(Dwarf_Lines *lines, size_t n, const Dwarf_Line *line)
{
	const char *first = (const char *)dwarf_onesrcline(lines, 0);
	size_t stride = n > 1 ? (size_t)((const char *)dwarf_onesrcline(lines, 1) - first) : 1;
	return (size_t)((const char *)line - first) / stride;
}

static void end_sequence(struct sequence *s)
{
	sequences = checked(realloc(sequences, (n_sequences + 1) * sizeof *sequences));
	sequences[n_sequences++] = *s;
	*s = (struct sequence){NULL, 0};
}

static void take_lines(Dwarf *dwarf, Dwarf_Lines *lines, size_t n)
{
	struct sequence s = {NULL, 0};
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i),
			   *context = dwarf_linecontext(lines, line);
		bool end = false;
		s.rows = checked(realloc(s.rows, (s.n + 1) * sizeof *s.rows));
		struct row *r = &s.rows[s.n++];
		memset(r, 0, sizeof *r);
		dwarf_lineaddr(line, &r->addr);
		dwarf_lineno(line, &r->line);
		dwarf_lineendsequence(line, &end);
		r->file = dwarf_linesrc(line, NULL, NULL);
		r->context = context ? index_of(lines, n, context) + 1 : 0;
		r->name = context ? dwarf_linefunctionname(dwarf, line) : NULL;
		if (end)
			end_sequence(&s);
	}
	if (s.n > 0)
		end_sequence(&s);
}

/* The row that holds at an address: of several at one address the last. */
static const struct row *find_row(Dwarf_Addr addr, const struct sequence **in)
{
	for (size_t i = 0; i < n_sequences; i++) {
		const struct sequence *s = &sequences[i];
		const struct row *found = NULL;
		if (s->rows[0].addr > addr || s->rows[s->n - 1].addr <= addr)
			continue;
		for (size_t k = 0; k + 1 < s->n && s->rows[k].addr <= addr; k++)
			found = &s->rows[k];
		*in = s;
		return found;
	}
	return NULL;
}

/* Functions, from the symbol table. */
struct function {
	const char *name;
	uint64_t start, end;
};
static struct function *functions;
static size_t n_functions;

static void load_functions(Elf *elf)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr h;
		GElf_Sym s;
		if (!gelf_getshdr(scn, &h) || h.sh_type != SHT_SYMTAB)
			continue;
		Elf_Data *d = checked(elf_getdata(scn, NULL));
		for (int i = 0; gelf_getsym(d, i, &s); i++) {
			if (GELF_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx >= n_sections ||
			    !sections[s.st_shndx].is_code)
				continue;
			const char *name = elf_strptr(elf, h.sh_link, s.st_name),
				   *second = name && name[0] == '$' ? strchr(name + 1, '$') : NULL;
			uint64_t start = s.st_value + sections[s.st_shndx].start;
			functions =
				checked(realloc(functions, (n_functions + 1) * sizeof *functions));
			functions[n_functions++] = (struct function){second ? second + 1 : name,
								     start, start + s.st_size};
		}
	}
}

/* The one that starts last. */
static const struct function *find_function(uint64_t addr)
{
	const struct function *found = NULL;
	for (size_t i = 0; i < n_functions; i++)
		if (functions[i].start <= addr && addr < functions[i].end &&
		    (!found || functions[i].start >= found->start))
			found = &functions[i];
	return found;
}

static void describe(uint64_t addr, char *out)
{
	const struct sequence *s = NULL;
	const struct row *r = find_row(addr, &s);
	const struct function *f = find_function(addr);
	size_t n = r ? (size_t)snprintf(out, LINE_BYTES, "%s:%d", base(r->file), r->line)
		     : (size_t)snprintf(out, LINE_BYTES, "?");
	for (unsigned depth = 0;
	     r && r->context > 0 && r->context <= s->n && depth < MAX_DEPTH && n < LINE_BYTES;
	     depth++) {
		const struct row *caller = &s->rows[r->context - 1];
		n += (size_t)snprintf(out + n, LINE_BYTES - n, " %s < %s:%d",
				      r->name ? r->name : "?", base(caller->file), caller->line);
		r = caller;
	}
	if (n < LINE_BYTES && f)
		snprintf(out + n, LINE_BYTES - n, " %s", f->name);
}

static int compare_names(const void *a, const void *b)
{
	const struct section *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static void print_all(void)
{
	char last[LINE_BYTES], now[LINE_BYTES];
	size_t n = 0;
	for (size_t i = 0; i < n_sections; i++)
		if (sections[i].is_code)
			sections[n++] = sections[i];
	qsort(sections, n, sizeof *sections, compare_names);
	for (size_t i = 0; i < n; i++) {
		printf("%s\n", sections[i].name);
		last[0] = '\0';
		for (uint64_t at = 0; at < sections[i].n_bytes; at += INSTRUCTION_BYTES) {
			describe(sections[i].start + at, now);
			if (strcmp(now, last) != 0)
				printf("0x%llx %s\n", (unsigned long long)at, now);
			memcpy(last, now, sizeof last);
		}
	}
}

static void print_lines(Elf *elf, const char *path)
{
	load_functions(elf);
	Dwarf *dwarf = checked(dwarf_begin_elf(elf, DWARF_C_READ, NULL));
	Dwarf_CU *cu = NULL;
	for (Dwarf_Off at = 0, next; ; at = next) {
		Dwarf_Files *files;
		Dwarf_Lines *lines;
		size_t n_files, n_lines;
		int result =
			dwarf_next_lines(dwarf, at, &next, &cu, &files, &n_files, &lines, &n_lines);
		if (result != 0) {
			if (result < 0)
				fprintf(stderr, "judge_cubin: %s: %s\n", path, dwarf_errmsg(-1));
			break;
		}
		take_lines(dwarf, lines, n_lines);
	}
	print_all();
	dwarf_end(dwarf);
}

int main(int argc, char **argv)
{
	bool write = argc == 4 && strcmp(argv[1], "-w") == 0;
	if (argc != 2 && !write)
		return 2;
	uint8_t *image;
	Elf *elf = open_linked(argv[argc - 1], write ? argv[2] : NULL, &image);
	if (!write)
		print_lines(elf, argv[1]);
	elf_end(elf);
	free(image);
	return 0;
}
