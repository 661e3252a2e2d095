/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stubs of the procedure linkage table and their targets (System V ABI for x86-64, 5.2 and the IBT
 * layout of 13). The single indirect jump of a stub names its target: the relocation of its GOT
 * slot. With IBT, stubs of the first table have no such jump; they push the number of the
 * relocation. Test: tests/cli/struct/struct_golden.sh, tests/cli/struct/struct_damage.sh.
 */
#include "hpcstruct-lite/image/image.h"

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

static bool add_slots(const struct image *image, const struct image_section *s, struct slots *slots)
{
	for (uint64_t i = 0; i < s->n_bytes / sizeof(Elf64_Rela); i++) {
		Elf64_Rela r;
		memcpy(&r, s->bytes + i * sizeof r, sizeof r);
		unsigned type = ELF64_R_TYPE(r.r_info);
		bool wanted = type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
			      type == R_X86_64_IRELATIVE;
		if (!wanted && strcmp(s->name, ".rela.plt") != 0)
			continue;
		struct slot *slot = vec_push(slots);
		if (!slot)
			return false;
		slot->link_addr = r.r_offset;
		if (type == R_X86_64_IRELATIVE)
			slot->target_addr = (uint64_t)r.r_addend;
		else if (s->link < image->sections.n)
			read_symbol(image, &image->sections.at[s->link], ELF64_R_SYM(r.r_info),
				    slot);
	}
	return true;
}

static bool read_slots(const struct image *image, struct slots *slots)
{
	const struct image_section *plt = image_find(image, ".rela.plt");
	if (plt && !add_slots(image, plt, slots))
		return false;
	slots->n_plt = slots->n;
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (s->type == SHT_RELA && s->bytes && s != plt && (s->flags & SHF_ALLOC) &&
		    !add_slots(image, s, slots))
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
		size_t at = sorted_below(sorted->at, sorted->n, link_addr, slot_addr);
		return at < sorted->n && sorted->at[at].link_addr == slot_addr ? &sorted->at[at]
									       : NULL;
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

static bool read_table(const struct image_section *s, const struct slots *in_order,
		       const struct slots *sorted, struct image_stubs *stubs)
{
	bool has_header = strcmp(s->name, ".plt") == 0;
	uint64_t step = s->entry_bytes == 8 || s->entry_bytes == 16 ? s->entry_bytes : 16;
	if (strcmp(s->name, ".plt.got") == 0 && s->entry_bytes != 16)
		step = 8;
	for (uint64_t at = 0; at < s->n_bytes; at += step) {
		uint64_t n_bytes = s->n_bytes - at < step ? s->n_bytes - at : step;
		const uint8_t *code = s->bytes + at;
		struct image_stub *stub = vec_push(stubs);
		if (!stub)
			return false;
		*stub = (struct image_stub){.link_addr = s->link_addr + at, .n_bytes = n_bytes};
		const struct slot *slot = slot_of_jump(sorted, code, n_bytes, stub->link_addr);
		if (!slot && has_header)
			slot = slot_of_push(in_order, code, n_bytes);
		stub->is_resolver = at == 0 && has_header && !slot;
		if (slot) {
			stub->target = slot->name;
			stub->target_bytes = slot->name_bytes;
			stub->target_addr = slot->target_addr;
		}
	}
	return true;
}

enum status image_read_stubs(const struct image *image, struct image_stubs *stubs)
{
	static const char *const tables[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	if (image->machine != EM_X86_64)
		return STATUS_OK;
	struct slots in_order = {0}, sorted = {0};
	bool ok = read_slots(image, &in_order);
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
			ok = read_table(s, &in_order, &sorted, stubs);
	}
	vec_free(&in_order);
	vec_free(&sorted);
	if (!ok)
		log_error(image->path, "out of memory");
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
