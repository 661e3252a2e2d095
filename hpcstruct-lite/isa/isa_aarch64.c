/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AArch64's changes of the flow of control (Arm ARM, DDI 0487, C4.1 "A64 instruction set
 * encoding"). All other allocated instructions are plain, and they are not told from unallocated
 * ones inside their groups. Test: tests/unit/struct/test_isa.c.
 */
#include "hpcstruct-lite/isa/a64.h"
#include "hpcstruct-lite/isa/isa.h"

enum {
	CONDITION_AL = 14,   /* this one and the next are always true */
	DEBUG_BREAK = 0xf000 /* __builtin_debugtrap() of clang; others end the program */
};

/* Instructions that have a distance: in `n_bits` bits from `first_bit` on, in instructions. */
static const struct {
	uint32_t mask, value;
	uint8_t kind, first_bit, n_bits;
	bool is_conditional;
} relative[] = {
	{0xfc000000, 0x14000000, ISA_JUMP, 0, 26, false}, /* B */
	{0xfc000000, 0x94000000, ISA_CALL, 0, 26, false}, /* BL */
	{0xff000000, 0x54000000, ISA_JUMP, 5, 19, true},  /* B.cond, BC.cond */
	{0x7e000000, 0x34000000, ISA_JUMP, 5, 19, true},  /* CBZ, CBNZ */
	{0x7e000000, 0x36000000, ISA_JUMP, 5, 14, true},  /* TBZ, TBNZ */
};

static const struct {
	uint32_t mask, value;
	uint8_t kind;
} others[] = {
	{0xfffffc1f, 0xd61f0000, ISA_INDIRECT}, /* BR */
	{0xfffff81f, 0xd61f081f, ISA_INDIRECT}, /* BRAAZ, BRABZ */
	{0xfffff800, 0xd71f0800, ISA_INDIRECT}, /* BRAA, BRAB */
	{0xfffffc1f, 0xd63f0000, ISA_CALL},     /* BLR */
	{0xfffff81f, 0xd63f081f, ISA_CALL},     /* BLRAAZ, BLRABZ */
	{0xfffff800, 0xd73f0800, ISA_CALL},     /* BLRAA, BLRAB */
	{0xfffffc1f, 0xd65f0000, ISA_RETURN},   /* RET */
	{0xfffffbff, 0xd65f0bff, ISA_RETURN},   /* RETAA, RETAB */
	{0xffffffff, 0xd69f03e0, ISA_RETURN},   /* ERET */
	{0xfffffbff, 0xd69f0bff, ISA_RETURN},   /* ERETAA, ERETAB */
	{0xffe0001f, 0xd4200000, ISA_EXIT},     /* BRK */
	{0xffe0001f, 0xd4400000, ISA_EXIT},     /* HLT */
	{0xffff0000, 0x00000000, ISA_EXIT},     /* UDF */
	{0x9e000000, 0x00000000, ISA_INVALID},  /* reserved */
	{0x1e000000, 0x02000000, ISA_INVALID},  /* unallocated */
	{0x1e000000, 0x06000000, ISA_INVALID},  /* unallocated */
};

static void decode(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
		   struct isa_instruction *out)
{
	*out = (struct isa_instruction){.kind = ISA_INVALID,
					.n_bytes = n_bytes < 4 ? (uint8_t)n_bytes : 4};
	if (n_bytes < 4)
		return;
	uint32_t word = aarch64_word(bytes);
	out->kind = ISA_PLAIN;
	for (size_t i = 0; i < sizeof relative / sizeof relative[0]; i++) {
		if ((word & relative[i].mask) != relative[i].value)
			continue;
		int64_t n = aarch64_signed(word, relative[i].first_bit, relative[i].n_bits);
		out->kind = relative[i].kind;
		out->has_target = true;
		out->target = link_addr + (uint64_t)n * 4;
		out->is_conditional = relative[i].is_conditional &&
				      !(word >> 24 == 0x54 && (word & 15) >= CONDITION_AL);
		return;
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		if ((word & others[i].mask) != others[i].value)
			continue;
		out->kind = others[i].kind;
		if (word == (0xd4200000 | DEBUG_BREAK << 5))
			out->kind = ISA_PLAIN;
		return;
	}
}

const struct isa isa_aarch64 = {
	.name = "aarch64", .n_bytes = 4, .decode = decode, .find_tables = aarch64_find_tables};
