/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call instructions of GPU code and their targets. The target is in the instruction or else in its
 * relocation. Host code has call paths and does not need this. Test:
 * tests/cli/struct/struct_cubin.sh.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include "common/base/sorted.h"
#include "hpcstruct-lite/isa/isa.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTION_BYTES = 16 };

/* A target that a relocation puts into an instruction. */
struct fixup {
	uint64_t link_addr, target;
};
struct fixups {
	VEC(struct fixup);
};

static int compare_fixups(const void *a, const void *b)
{
	const struct fixup *x = a, *y = b;
	if (x->link_addr != y->link_addr)
		return x->link_addr < y->link_addr ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

/* Returns the address of a symbol if it is a function, or 0. */
static uint64_t function_symbol(const struct image *image, const struct image_section *table,
				uint64_t index)
{
	Elf64_Sym s;
	if (!table->bytes || index >= table->n_bytes / sizeof s)
		return 0;
	memcpy(&s, table->bytes + index * sizeof s, sizeof s);
	uint32_t section = image_symbol_section(image, table, index, s.st_shndx);
	if (section == 0 || section >= image->sections.n ||
	    !(image->sections.at[section].flags & SHF_EXECINSTR))
		return 0;
	return image->sections.at[section].link_addr + s.st_value;
}

static bool add_fixups(const struct image *image, const struct image_section *relocations,
		       struct fixups *fixups)
{
	bool has_addend = relocations->type == SHT_RELA;
	if ((!has_addend && relocations->type != SHT_REL) || !relocations->bytes ||
		relocations->info >= image->sections.n)
		return true;
	const struct image_section *code = &image->sections.at[relocations->info],
				   *symbols = image_linked_symbols(image, relocations);
	if (!symbols || !(code->flags & SHF_EXECINSTR))
		return true;
	size_t record_bytes = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	for (uint64_t i = 0; i < relocations->n_bytes / record_bytes; i++) {
		Elf64_Rela r = {0};
		memcpy(&r, relocations->bytes + i * record_bytes, record_bytes);
		uint64_t target = function_symbol(image, symbols, ELF64_R_SYM(r.r_info));
		if (target == 0 || r.r_offset >= code->n_bytes)
			continue;
		struct fixup *f = vec_push(fixups);
		if (!f)
			return false;
		*f = (struct fixup){code->link_addr +
					    r.r_offset / INSTRUCTION_BYTES * INSTRUCTION_BYTES,
				    target + (uint64_t)r.r_addend};
	}
	return true;
}

static uint64_t find_fixup(const struct fixups *f, uint64_t link_addr)
{
	size_t i = sorted_below(f->at, f->n, link_addr, link_addr);
	return i < f->n && f->at[i].link_addr == link_addr ? f->at[i].target : 0;
}

static enum status read_section(struct scope_map *map, const struct isa *isa,
				const struct image_section *s, const struct fixups *fixups)
{
	for (uint64_t at = 0; at + INSTRUCTION_BYTES <= s->n_bytes; at += INSTRUCTION_BYTES) {
		struct isa_instruction i;
		isa->decode(s->bytes + at, INSTRUCTION_BYTES, s->link_addr + at, &i);
		if (i.kind != ISA_CALL)
			continue;
		uint64_t target = find_fixup(fixups, s->link_addr + at);
		if (target == 0 && i.has_target)
			target = i.target;
		if (scope_add_call(map, s->link_addr + at, target) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

enum status scope_read_calls(struct scope_map *map)
{
	const struct image *image = map->image;
	const struct isa *isa = isa_find(image->machine, image->architecture);
	struct fixups fixups = {0};
	enum status status = STATUS_OK;
	for (size_t i = 0; i < image->sections.n && isa && status == STATUS_OK; i++)
		status = add_fixups(image, &image->sections.at[i], &fixups) ? STATUS_OK
									    : STATUS_NO_MEMORY;
	if (fixups.n > 1)
		qsort(fixups.at, fixups.n, sizeof *fixups.at, compare_fixups);
	for (size_t i = 0; i < image->sections.n && isa && status == STATUS_OK; i++) {
		const struct image_section *s = &image->sections.at[i];
		if ((s->flags & SHF_EXECINSTR) && s->bytes && s->link_addr != 0)
			status = read_section(map, isa, s, &fixups);
	}
	vec_free(&fixups);
	return status;
}
