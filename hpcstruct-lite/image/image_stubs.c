/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stubs of the procedure linkage table and their targets (System V ABI for x86-64, 5.2 and the IBT
 * layout of 13; System V ABI for AArch64, "sysvabi64", Procedure Linkage Table). The single
 * indirect jump of a stub names its target: the relocation of its GOT slot. With IBT, stubs of the
 * first table have no such jump; they push the number of the relocation. Test:
 * tests/cli/struct/struct_golden.sh, tests/cli/struct/struct_damage.sh.
 */
#include "hpcstruct-lite/image/image.h"
#include "hpcstruct-lite/isa/a64.h"

#include "common/base/log.h"
#include "common/base/sorted.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* A relocation that fills a GOT slot. */
struct slot {
	uint64_t link_addr;
	const char *name;
	uint32_t name_bytes;
	uint64_t target_addr;
};
struct slots {
	VEC(struct slot);
	size_t n_plt; /* the first n_plt slots are those of .rela.plt, in its order */
};

/* What a machine calls its relocations, and how it writes the stubs. */
struct machine {
	uint16_t machine; /* EM_* */
	unsigned jump_slot, glob_dat, irelative;
	bool (*read_table)(const struct image_section *s, const struct slots *in_order,
			   const struct slots *sorted, struct image_stubs *stubs);
};

/* Takes the target of a slot from its symbol. */
static void read_symbol(const struct image *image, const struct image_section *table,
			uint64_t index, struct slot *slot)
{
	Elf64_Sym s;
	if (!table->bytes || index >= table->n_bytes / sizeof s || table->link >= image->sections.n)
		return;
	const struct image_section *strings = &image->sections.at[table->link];
	memcpy(&s, table->bytes + index * sizeof s, sizeof s);
	if (!strings->bytes || s.st_name >= strings->n_bytes)
		return;
	slot->name = (const char *)strings->bytes + s.st_name;
	size_t left = strings->n_bytes - s.st_name, n = strnlen(slot->name, left);
	slot->name_bytes = n < left ? (uint32_t)n : 0;
	if (slot->name_bytes > 0 && s.st_shndx != SHN_UNDEF)
		slot->target_addr = s.st_value;
}

static bool add_slots(const struct image *image, const struct machine *m,
		      const struct image_section *s, struct slots *slots)
{
	for (uint64_t i = 0; i < s->n_bytes / sizeof(Elf64_Rela); i++) {
		Elf64_Rela r;
		memcpy(&r, s->bytes + i * sizeof r, sizeof r);
		unsigned type = ELF64_R_TYPE(r.r_info);
		bool wanted = type == m->jump_slot || type == m->glob_dat || type == m->irelative;
		if (!wanted && strcmp(s->name, ".rela.plt") != 0)
			continue;
		struct slot *slot = vec_push(slots);
		if (!slot)
			return false;
		slot->link_addr = r.r_offset;
		if (type == m->irelative)
			slot->target_addr = (uint64_t)r.r_addend;
		else if (s->link < image->sections.n)
			read_symbol(image, &image->sections.at[s->link], ELF64_R_SYM(r.r_info),
				    slot);
	}
	return true;
}

static bool read_slots(const struct image *image, const struct machine *m, struct slots *slots)
{
	const struct image_section *plt = image_find(image, ".rela.plt");
	if (plt && !add_slots(image, m, plt, slots))
		return false;
	slots->n_plt = slots->n;
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (s->type == SHT_RELA && s->bytes && s != plt && (s->flags & SHF_ALLOC) &&
		    !add_slots(image, m, s, slots))
			return false;
	}
	return true;
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;
	return x->link_addr < y->link_addr ? -1 : x->link_addr > y->link_addr;
}

static uint32_t load_u32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static const struct slot *slot_at(const struct slots *sorted, uint64_t link_addr)
{
	size_t at = sorted_below(sorted->at, sorted->n, link_addr, link_addr);
	return at < sorted->n && sorted->at[at].link_addr == link_addr ? &sorted->at[at] : NULL;
}

/* Adds a stub that jumps through a slot. NULL: none that is known. */
static bool add_stub(struct image_stubs *stubs, const struct image_stub *stub,
		     const struct slot *slot)
{
	struct image_stub *to = vec_push(stubs);
	if (!to)
		return false;
	*to = *stub;
	if (slot) {
		to->is_resolver = false;
		to->target = slot->name;
		to->target_bytes = slot->name_bytes;
		to->target_addr = slot->target_addr;
	}
	return true;
}

/* ---- x86-64 ---- */

/*
 * Returns the slot that a stub jumps through, "jmp *disp32(%rip)" (ff 25). NULL if there is no such
 * jump or no such slot.
 */
static const struct slot *slot_of_jump(const struct slots *sorted, const uint8_t *code,
				       size_t n_bytes, uint64_t link_addr)
{
	for (size_t i = 0; i + 6 <= n_bytes; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		uint64_t slot_addr = link_addr + i + 6 +
				     (uint64_t)(int64_t)(int32_t)load_u32(code + i + 2);
		return slot_at(sorted, slot_addr);
	}
	return NULL;
}

/* Finds the slot by number: "push imm32" (68), then a jump back to the first stub. */
static const struct slot *slot_of_push(const struct slots *in_order, const uint8_t *code,
				       size_t n_bytes)
{
	for (size_t i = 0; i + 5 <= n_bytes && i <= 4; i += 4)
		if (code[i] == 0x68 && load_u32(code + i + 1) < in_order->n_plt)
			return &in_order->at[load_u32(code + i + 1)];
	return NULL;
}

static bool read_x86(const struct image_section *s, const struct slots *in_order,
		     const struct slots *sorted, struct image_stubs *stubs)
{
	bool has_header = strcmp(s->name, ".plt") == 0, ok = true;
	uint64_t step = s->entry_bytes == 8 || s->entry_bytes == 16 ? s->entry_bytes : 16;
	if (strcmp(s->name, ".plt.got") == 0 && s->entry_bytes != 16)
		step = 8;
	for (uint64_t at = 0; at < s->n_bytes && ok; at += step) {
		const uint8_t *code = s->bytes + at;
		const struct image_stub stub = {.link_addr = s->link_addr + at,
						.n_bytes = s->n_bytes - at < step ? s->n_bytes - at
										  : step,
						.is_resolver = at == 0 && has_header};
		const struct slot *slot = slot_of_jump(sorted, code, stub.n_bytes, stub.link_addr);
		if (!slot && has_header)
			slot = slot_of_push(in_order, code, stub.n_bytes);
		ok = add_stub(stubs, &stub, slot);
	}
	return ok;
}

/* ---- AArch64 ---- */

/*
 * A stub loads x17 from a slot, "adrp x16, page; ldr x17, [x16, #n]", and ends with a jump through
 * a register and the NOPs behind it. There may be "bti c" and "autia1716" in it, so its length
 * varies.
 */
static bool read_aarch64(const struct image_section *s, const struct slots *in_order,
			 const struct slots *sorted, struct image_stubs *stubs)
{
	const uint32_t nop = 0xd503201f;
	uint64_t start = 0, page = 0, slot_addr = 0;
	bool has_jump = false, ok = true;
	(void)in_order;
	for (uint64_t at = 0; at + 4 <= s->n_bytes && ok; at += 4) {
		uint32_t word = aarch64_word(s->bytes + at);
		if ((word & 0x9f00001f) == 0x90000010) /* adrp x16 */
			page = aarch64_adr(word, s->link_addr + at);
		else if ((word & 0xffc003ff) == 0xf9400211) /* ldr x17, [x16, #n] */
			slot_addr = page + (uint64_t)aarch64_bits(word, 10, 12) * 8;
		has_jump |= (word & 0xfefff000) == 0xd61f0000; /* br, braa */
		bool ends = at + 8 > s->n_bytes || aarch64_word(s->bytes + at + 4) != nop;
		if (!has_jump || !ends)
			continue;
		const struct image_stub stub = {.link_addr = s->link_addr + start,
						.n_bytes = at + 4 - start,
						.is_resolver =
							start == 0 && strcmp(s->name, ".plt") == 0};
		ok = add_stub(stubs, &stub, slot_at(sorted, slot_addr));
		start = at + 4;
		slot_addr = 0;
		has_jump = false;
	}
	return ok;
}

static const struct machine machines[] = {
	{EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, read_x86},
	{EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, read_aarch64},
};

static const struct machine *machine_of(const struct image *image)
{
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].machine == image->machine)
			return &machines[i];
	return NULL;
}

enum status image_read_stubs(const struct image *image, struct image_stubs *stubs)
{
	static const char *const tables[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	const struct machine *m = machine_of(image);
	if (!m)
		return STATUS_OK;
	struct slots in_order = {0}, sorted = {0};
	bool ok = read_slots(image, m, &in_order);
	if (ok && in_order.n > 0) {
		ok = vec_extend(&sorted, in_order.n) != NULL;
		if (ok) {
			memcpy(sorted.at, in_order.at, in_order.n * sizeof *in_order.at);
			qsort(sorted.at, sorted.n, sizeof *sorted.at, compare_slots);
		}
	}
	for (size_t i = 0; i < sizeof tables / sizeof tables[0] && ok; i++) {
		const struct image_section *s = image_find(image, tables[i]);
		if (s && (s->flags & SHF_EXECINSTR))
			ok = m->read_table(s, &in_order, &sorted, stubs);
	}
	vec_free(&in_order);
	vec_free(&sorted);
	if (!ok)
		log_error(image->path, "out of memory");
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
