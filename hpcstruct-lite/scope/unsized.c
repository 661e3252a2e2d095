/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the end of a function whose symbol has no size. Assembler code has such symbols. In a
 * stripped library the next symbol can be hundreds of kilobytes away, with many functions in
 * between that have lost their symbols. Test: tests/cli/struct/struct_unsized.sh.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include "hpcstruct-lite/isa/isa.h"

#include <elf.h>

static const struct image_section *section_of(const struct image *image, uint64_t start,
					      uint64_t end)
{
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		if ((s->flags & SHF_EXECINSTR) && s->bytes && s->packed == IMAGE_PLAIN &&
		    start - s->link_addr < s->n_bytes && end - s->link_addr <= s->n_bytes)
			return s;
	}
	return NULL;
}

static bool goes_on(const struct isa_instruction *i)
{
	return i->is_conditional || i->kind == ISA_PLAIN || i->kind == ISA_CALL;
}

uint64_t scope_unsized_end(const struct image *image, uint64_t start, uint64_t end)
{
	const struct isa *isa = isa_find(image->machine, image->architecture);
	const struct image_section *s = isa ? section_of(image, start, end) : NULL;
	uint64_t furthest = start; /* furthest target of a jump so far */
	struct isa_instruction i;
	for (uint64_t at = start; s && at < end; at += i.n_bytes) {
		isa->decode(s->bytes + (at - s->link_addr), end - at, at, &i);
		if (i.kind == ISA_INVALID || i.kind == ISA_INDIRECT)
			return end;
		if (i.kind == ISA_JUMP && i.target > furthest && i.target < end)
			furthest = i.target;
		if (!goes_on(&i) && furthest < at + i.n_bytes)
			return at + i.n_bytes;
	}
	return end;
}
