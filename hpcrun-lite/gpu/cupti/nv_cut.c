/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts kernels out of cubins; see nv_cut.h. The sh_info of a kernel's sections is the number of the
 * kernel's code section. Symbols get new numbers, and references to them are changed.
 */
#include "hpcrun-lite/gpu/cupti/nv_cut.h"

#include "common/safe/sys.h"
#include "hpcrun-lite/gpu/cupti/nv_image.h"

#include <string.h>
#include <sys/mman.h>

#define IS_CODE (SHF_ALLOC | SHF_EXECINSTR)
#define MOST_SECTIONS 24u     /* of one kernel */
#define SIZED_NOTE 4u         /* format of a note in .nv.info: a payload of `size` bytes */
/* bits of a code section's sh_info that are its symbol; the others: registers */
#define INFO_SYMBOL 0xffffffu

/* ---- what a cubin has ---- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_code(const Elf64_Shdr *s)
{
	return (s->sh_flags & IS_CODE) == IS_CODE && s->sh_type == SHT_PROGBITS;
}

static bool has_lines(const struct nv_image *i)
{
	Elf64_Shdr s;
	for (unsigned n = 1; n < i->head.e_shnum; n++) {
		if (!nv_image_section(i, n, &s))
			return true; /* damaged: do not cut */
		const char *name = nv_image_text(i, &i->section_names, s.sh_name);
		if (name && begins(name, ".debug_") && strcmp(name, ".debug_frame") != 0)
			return true;
	}
	return false;
}

/* Returns true for a device function that is not inside a kernel: its section is named after it. */
static bool is_shared(const struct nv_image *i, const Elf64_Sym *symbol, const char *name)
{
	Elf64_Shdr s;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || nv_image_is_kernel(symbol) ||
	    !nv_image_section(i, symbol->st_shndx, &s) || !is_code(&s))
		return false;
	const char *section = nv_image_text(i, &i->section_names, s.sh_name);
	return !section || !begins(section, ".text.") || strcmp(section + 6, name) == 0;
}

bool nv_cut_is_possible(const void *image, size_t bytes)
{
	struct nv_image i;
	Elf64_Sym s;
	size_t n_kernels = 0;
	if (!nv_image_open(&i, image, bytes) || has_lines(&i))
		return false;
	for (uint32_t n = 1; nv_image_symbol(&i, n, &s); n++) {
		const char *name = nv_image_text(&i, &i.strings, s.st_name);
		if (!name || is_shared(&i, &s, name))
			return false;
		n_kernels += nv_image_is_kernel(&s);
	}
	return n_kernels > 1;
}

/* ---- the result ---- */

/* A section of the result. `from`: its number in the cubin; 0: a new section. */
struct part {
	unsigned from;
	Elf64_Shdr head;
	const char *name;
};

/* The first sections of the result. The kernel's sections follow. */
enum { NO_SECTION, SECTION_NAMES, STRINGS, SYMBOLS, N_FIXED };

struct cut {
	struct nv_image in;
	uint8_t *out;
	size_t n, room;      /* n > room: it does not fit, and bytes are only counted */
	unsigned code;       /* section of the kernel */
	uint32_t kernel;     /* symbol */
	uint32_t *number_of; /* new number of each symbol, 0: left out */
	uint32_t n_symbols, n_local;
	struct part parts[MOST_SECTIONS];
	unsigned n_parts;
	bool is_bad;
};

static void put(struct cut *c, const void *bytes, size_t n)
{
	if (c->n <= c->room && n <= c->room - c->n)
		memcpy(c->out + c->n, bytes, n);
	c->n += n;
}

static void align(struct cut *c, size_t to)
{
	static const uint8_t zeros[128];
	put(c, zeros, -c->n % (to < 8 ? 8 : to > sizeof zeros ? sizeof zeros : to));
}

static void put_text(struct cut *c, const char *text)
{
	put(c, text, strlen(text) + 1);
}

static const uint8_t *bytes_of(const struct cut *c, const Elf64_Shdr *s)
{
	return c->in.at + s->sh_offset;
}

/* ---- which sections and symbols ---- */

static void add_part(struct cut *c, unsigned from, const Elf64_Shdr *head, const char *name)
{
	if (c->n_parts == MOST_SECTIONS)
		c->is_bad = true;
	else
		c->parts[c->n_parts++] = (struct part){from, *head, name};
}

static bool is_relocation(const Elf64_Shdr *s)
{
	return s->sh_type == SHT_RELA || s->sh_type == SHT_REL;
}

/*
 * Returns true for the kernel's code, the sections that belong to it, and the notes about all
 * kernels.
 */
static bool belongs(const struct cut *c, unsigned n, const Elf64_Shdr *s, const char *name)
{
	bool is_own = begins(name, ".nv.info.") || begins(name, ".nv.shared.") || is_relocation(s);
	return n == c->code || (is_own && s->sh_info == c->code) || strcmp(name, ".nv.info") == 0 ||
	       strcmp(name, ".nv.shared.reserved.0") == 0;
}

static void choose_sections(struct cut *c)
{
	Elf64_Shdr s = {0};
	add_part(c, 0, &s, "");
	s = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_addralign = 1};
	add_part(c, 0, &s, ".shstrtab");
	add_part(c, 0, &s, ".strtab");
	s = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
			 .sh_addralign = 8,
			 .sh_link = STRINGS,
			 .sh_entsize = sizeof(Elf64_Sym)};
	add_part(c, 0, &s, ".symtab");
	for (unsigned n = 1; n < c->in.head.e_shnum && !c->is_bad; n++) {
		bool is_good = nv_image_section(&c->in, n, &s);
		const char *name =
			is_good ? nv_image_text(&c->in, &c->in.section_names, s.sh_name) : NULL;
		if (!name)
			c->is_bad = true;
		else if (belongs(c, n, &s, name))
			add_part(c, n, &s, name);
	}
}

/* Returns the number that a section of the cubin has in the result; 0: left out. */
static unsigned part_of(const struct cut *c, unsigned section)
{
	for (unsigned n = N_FIXED; n < c->n_parts; n++)
		if (c->parts[n].from == section)
			return n;
	return 0;
}

static size_t relocation_bytes(const Elf64_Shdr *s)
{
	return s->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
}

/* Calls `each` with each relocation of the section; r_addend is 0 in SHT_REL. */
static void each_relocation(struct cut *c, const Elf64_Shdr *s,
			    void (*each)(struct cut *c, Elf64_Rela *r, size_t bytes))
{
	size_t bytes = relocation_bytes(s);
	for (uint64_t at = 0; at + bytes <= s->sh_size; at += bytes) {
		Elf64_Rela r = {0};
		memcpy(&r, bytes_of(c, s) + at, bytes);
		each(c, &r, bytes);
	}
}

static void want_symbol(struct cut *c, Elf64_Rela *r, size_t bytes)
{
	uint64_t symbol = ELF64_R_SYM(r->r_info);
	(void)bytes;
	if (symbol < c->in.n_symbols)
		c->number_of[symbol] = 1;
	else
		c->is_bad = true;
}

static void choose_symbols(struct cut *c)
{
	Elf64_Sym s;
	for (unsigned n = N_FIXED; n < c->n_parts; n++)
		if (is_relocation(&c->parts[n].head))
			each_relocation(c, &c->parts[n].head, want_symbol);
	c->number_of[0] = 0;
	c->n_symbols = c->n_local = 1;
	for (uint32_t n = 1; nv_image_symbol(&c->in, n, &s); n++) {
		if (s.st_shndx == c->code && ELF64_ST_TYPE(s.st_info) == STT_FUNC)
			c->number_of[n] = 1;
		if (!c->number_of[n])
			continue;
		c->number_of[n] = c->n_symbols++;
		if (ELF64_ST_BIND(s.st_info) == STB_LOCAL)
			c->n_local = c->n_symbols;
		c->is_bad = c->is_bad || !nv_image_text(&c->in, &c->in.strings, s.st_name);
	}
}

/* ---- what is written ---- */

static void put_relocation(struct cut *c, Elf64_Rela *r, size_t bytes)
{
	uint64_t symbol = ELF64_R_SYM(r->r_info);
	uint32_t number = symbol < c->in.n_symbols ? c->number_of[symbol] : 0;
	r->r_info = ELF64_R_INFO((uint64_t)number, ELF64_R_TYPE(r->r_info));
	put(c, r, bytes);
}

/* Writes the notes about symbols that are kept. */
static void put_notes(struct cut *c, const Elf64_Shdr *s)
{
	uint64_t bytes;
	for (uint64_t at = 0; at + 4 <= s->sh_size; at += bytes) {
		const uint8_t *note = bytes_of(c, s) + at;
		uint32_t symbol = 0;
		bytes = 4 + (note[0] == SIZED_NOTE ? note[2] | note[3] << 8 : 0);
		if (bytes > s->sh_size - at)
			return;
		if (bytes >= 8)
			memcpy(&symbol, note + 4, sizeof symbol);
		uint32_t number = symbol < c->in.n_symbols ? c->number_of[symbol] : 0;
		if (!number)
			continue;
		put(c, note, 4);
		put(c, &number, sizeof number);
		put(c, note + 8, bytes - 8);
	}
}

static void put_symbols(struct cut *c)
{
	Elf64_Sym s = {0};
	uint32_t name = 1;
	put(c, &s, sizeof s);
	for (uint32_t n = 1; nv_image_symbol(&c->in, n, &s); n++) {
		if (!c->number_of[n])
			continue;
		const char *text = nv_image_text(&c->in, &c->in.strings, s.st_name);
		s.st_name = name;
		if (s.st_shndx < SHN_LORESERVE)
			s.st_shndx = (Elf64_Half)part_of(c, s.st_shndx);
		put(c, &s, sizeof s);
		name += (uint32_t)strlen(text) + 1;
	}
}

static void put_strings(struct cut *c)
{
	Elf64_Sym s;
	put_text(c, "");
	for (uint32_t n = 1; nv_image_symbol(&c->in, n, &s); n++)
		if (c->number_of[n])
			put_text(c, nv_image_text(&c->in, &c->in.strings, s.st_name));
}

static void put_section_names(struct cut *c)
{
	for (unsigned n = 0; n < c->n_parts; n++)
		put_text(c, c->parts[n].name);
}

static void put_kept(struct cut *c, struct part *p)
{
	Elf64_Shdr *s = &p->head;
	if (is_relocation(s))
		each_relocation(c, s, put_relocation);
	else if (s->sh_type != SHT_NOBITS && strcmp(p->name, ".nv.info") == 0)
		put_notes(c, s);
	else if (s->sh_type != SHT_NOBITS)
		put(c, bytes_of(c, s), s->sh_size);
	if (p->from == c->code)
		s->sh_info = (s->sh_info & ~INFO_SYMBOL) | c->number_of[c->kernel];
	else if (strcmp(p->name, ".nv.info") != 0)
		s->sh_info = part_of(c, s->sh_info);
	s->sh_link = s->sh_link ? SYMBOLS : 0;
}

static void put_part(struct cut *c, unsigned n)
{
	struct part *p = &c->parts[n];
	align(c, p->head.sh_addralign);
	uint64_t offset = c->n;
	if (n == SECTION_NAMES)
		put_section_names(c);
	else if (n == STRINGS)
		put_strings(c);
	else if (n == SYMBOLS)
		put_symbols(c);
	else
		put_kept(c, p);
	if (p->head.sh_type != SHT_NOBITS)
		p->head.sh_size = c->n - offset;
	p->head.sh_offset = offset;
}

static void put_all(struct cut *c)
{
	Elf64_Ehdr head = c->in.head;
	uint32_t name = 0;
	c->parts[SYMBOLS].head.sh_info = c->n_local;
	head.e_phoff = 0;
	head.e_phnum = 0;
	head.e_shnum = (Elf64_Half)c->n_parts;
	head.e_shstrndx = SECTION_NAMES;
	head.e_shoff = sizeof head;
	put(c, &head, sizeof head);
	size_t heads = c->n;
	Elf64_Shdr none = {0};
	for (unsigned n = 0; n < c->n_parts; n++)
		put(c, &none, sizeof none);
	for (unsigned n = 1; n < c->n_parts; n++)
		put_part(c, n);
	if (c->n > c->room)
		return;
	for (unsigned n = 1; n < c->n_parts; n++) {
		name += (uint32_t)strlen(c->parts[n - 1].name) + 1;
		c->parts[n].head.sh_name = name;
		memcpy(c->out + heads + n * sizeof none, &c->parts[n].head, sizeof none);
	}
}

static bool find_kernel(struct cut *c, const char *name)
{
	Elf64_Sym s;
	Elf64_Shdr section;
	for (uint32_t n = 1; nv_image_symbol(&c->in, n, &s); n++) {
		const char *text = nv_image_is_kernel(&s)
					   ? nv_image_text(&c->in, &c->in.strings, s.st_name)
					   : NULL;
		if (!text || strcmp(text, name) != 0)
			continue;
		c->kernel = n;
		c->code = s.st_shndx;
		return nv_image_section(&c->in, c->code, &section) && is_code(&section);
	}
	return false;
}

/* ---- from elsewhere ---- */

struct gather {
	uint8_t *to;
	size_t bytes;
	bool (*read)(void *arg, void *to, uint64_t offset, size_t n);
	void *arg;
};

static bool gather(const struct gather *g, uint64_t offset, uint64_t n)
{
	return offset <= g->bytes && n <= g->bytes - offset &&
	       g->read(g->arg, g->to + offset, offset, n);
}

static bool gather_section(const struct gather *g, const Elf64_Shdr *s)
{
	return s->sh_type == SHT_NOBITS || gather(g, s->sh_offset, s->sh_size);
}

static bool gather_tables(const struct gather *g, struct nv_image *i)
{
	Elf64_Ehdr head;
	if (!gather(g, 0, sizeof head))
		return false;
	memcpy(&head, g->to, sizeof head);
	return gather(g, head.e_shoff, head.e_shnum * sizeof(Elf64_Shdr)) &&
	       nv_image_open(i, g->to, g->bytes) && gather_section(g, &i->section_names) &&
	       gather_section(g, &i->symbols) && gather_section(g, &i->strings);
}

bool nv_cut_gather(void *to, size_t bytes, const char *name,
		   bool (*read)(void *arg, void *to, uint64_t offset, size_t n), void *arg)
{
	const struct gather g = {to, bytes, read, arg};
	struct cut c = {.n = 0};
	if (!gather_tables(&g, &c.in) || !find_kernel(&c, name))
		return false;
	choose_sections(&c);
	bool is_good = !c.is_bad;
	for (unsigned n = N_FIXED; n < c.n_parts && is_good; n++)
		is_good = gather_section(&g, &c.parts[n].head);
	return is_good;
}

size_t nv_cut(const void *image, size_t bytes, const char *name, void *out, size_t room)
{
	struct cut c = {.out = out, .room = room};
	if (!nv_image_open(&c.in, image, bytes) || !find_kernel(&c, name))
		return 0;
	size_t map_bytes = (size_t)c.in.n_symbols * sizeof *c.number_of;
	long map = sys_mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (sys_is_error(map))
		return 0;
	c.number_of = (uint32_t *)map;
	choose_sections(&c);
	if (!c.is_bad)
		choose_symbols(&c);
	if (!c.is_bad)
		put_all(&c);
	sys_munmap(c.number_of, map_bytes);
	return c.is_bad ? 0 : c.n;
}
