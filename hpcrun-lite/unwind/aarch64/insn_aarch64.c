/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes aarch64 instructions; see insn.h. Arm Architecture Reference Manual, C4.1. An instruction
 * that is not known here is taken to change the register in its lowest five bits, if it is of a
 * group that has general registers there. Test: tests/unit/unwind/test_insn_aarch64.c.
 */
#include "hpcrun-lite/unwind/code/insn.h"

#include <string.h>

enum { SP = 31, ZERO = 31, LR = 30, WORD = 4 };

static int64_t field_signed(uint32_t w, unsigned low, unsigned bits)
{
	return (int64_t)((uint64_t)w << (64 - low - bits)) >> (64 - bits);
}

static uint8_t field(uint32_t w, unsigned low, unsigned bits)
{
	return (uint8_t)(w >> low & ((1u << bits) - 1));
}

/* The register gets some value; number 31 is the zero register. */
static void set_other(struct insn *i, uint8_t reg)
{
	if (reg == ZERO)
		return;
	i->kind = INSN_SET;
	i->to = reg;
}

/* ---- arithmetic ---- */

static void add_immediate(uint32_t w, struct insn *i)
{
	const bool is_64 = w >> 31, sets_flags = w >> 29 & 1;
	const uint8_t to = field(w, 0, 5), from = field(w, 5, 5);
	const int64_t n = (int64_t)(w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
	if (sets_flags || !is_64) {
		set_other(i, to);
		return;
	}
	i->kind = to == from ? INSN_ADD : INSN_MOVE;
	i->to = to;
	i->from = from;
	i->value = w >> 30 & 1 ? -n : n;
}

/* Logical operations with a constant write the stack pointer, those with flags do not. */
static void immediate(uint32_t w, struct insn *i)
{
	const uint8_t to = field(w, 0, 5);
	if ((w & 0x1f800000) == 0x11000000)
		add_immediate(w, i);
	else if ((w & 0x1f800000) == 0x12000000 && (w & 0x60000000) != 0x60000000) {
		i->kind = INSN_SET;
		i->to = to;
	} else
		set_other(i, to);
}

static void registers(uint32_t w, struct insn *i)
{
	const uint8_t to = field(w, 0, 5), from = field(w, 16, 5);
	if ((w & 0xffe0ffe0) == 0xaa0003e0 && to != ZERO && from != ZERO) { /* mov */
		i->kind = INSN_MOVE;
		i->to = to;
		i->from = from;
	} else if ((w & 0x3fe00000) == 0x0b200000) { /* add and sub, extended: sp is possible */
		i->kind = INSN_SET;
		i->to = to;
	} else
		set_other(i, to);
}

/* Vectors do not matter, but some operations move a value to a general register. */
static void vectors(uint32_t w, struct insn *i)
{
	const bool is_conversion = (w & 0x5f20fc00) == 0x1e200000,
		   is_lane = (w & 0xbfe0fc00) == 0x0e003c00 || (w & 0xbfe0fc00) == 0x0e002c00;
	if (is_conversion || is_lane)
		set_other(i, field(w, 0, 5));
}

static void scalable(uint32_t w, struct insn *i)
{
	const bool is_count = (w & 0xfff00000) == 0x04200000 || (w & 0xff200000) == 0x04200000;
	if ((w & 0xffa0f800) == 0x04205000) { /* addvl, addpl */
		i->kind = INSN_SET;
		i->to = field(w, 0, 5);
	} else if (is_count && (w & 0xe000) == 0xe000) /* cntd, incd and so on */
		set_other(i, field(w, 0, 5));
	else if ((w & 0xfffff800) == 0x04bf5000) /* rdvl */
		set_other(i, field(w, 0, 5));
}

/* ---- memory ---- */

/* The address is base + value; afterwards the base grows. `is_known`: whole general registers. */
struct access {
	uint8_t base, first, second;
	int64_t value, after;
	bool is_load, is_known, is_vector;
};

static void access_memory(const struct access *a, struct insn *i)
{
	if (a->is_known) {
		i->after = (int32_t)a->after;
		i->kind = a->is_load ? INSN_LOAD : INSN_STORE;
		i->value = a->value;
		i->to = a->is_load ? a->first : a->base;
		i->from = a->is_load ? a->base : a->first;
		i->second = a->second;
		if (a->is_load && i->to == ZERO)
			i->to = INSN_NO_REG;
		if (!a->is_load && i->from == ZERO)
			i->from = INSN_NO_REG;
		if (i->second == ZERO)
			i->second = INSN_NO_REG;
		return;
	}
	if (a->is_vector) {
		i->kind = a->after ? INSN_ADD : INSN_PLAIN;
		i->to = a->base;
		i->value = a->after;
		return;
	}
	i->kind = INSN_SET; /* parts of registers */
	i->to = a->is_load && a->first != ZERO ? a->first : INSN_NO_REG;
	i->second = a->is_load && a->second != ZERO ? a->second : INSN_NO_REG;
	i->from = a->after ? a->base : INSN_NO_REG;
}

static void pair(uint32_t w, struct insn *i)
{
	const unsigned opc = w >> 30, mode = w >> 23 & 3;
	const bool is_vector = w >> 26 & 1;
	const unsigned shift = is_vector ? 2 + opc : opc == 2 ? 3 : 2;
	const int64_t n = field_signed(w, 15, 7) * (INT64_C(1) << shift);
	const struct access a = {.base = field(w, 5, 5),
				 .first = field(w, 0, 5),
				 .second = field(w, 10, 5),
				 .value = mode == 1 ? 0 : n,
				 .after = mode == 1 || mode == 3 ? n : 0,
				 .is_load = w >> 22 & 1,
				 .is_known = !is_vector && opc == 2,
				 .is_vector = is_vector};
	access_memory(&a, i);
}

/* ld1, st1 and the like of whole vectors, with a constant added to the address */
static void structures(uint32_t w, struct insn *i)
{
	static const uint8_t n_vectors[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
	if ((w & 0xbf800000) != 0x0c800000)
		return;
	const unsigned n = n_vectors[w >> 12 & 15] * (w >> 30 & 1 ? 16u : 8u);
	i->to = field(w, 5, 5);
	i->kind = field(w, 16, 5) == 31 && n ? INSN_ADD : INSN_SET;
	i->value = n;
}

static void memory(uint32_t w, struct insn *i)
{
	const unsigned size = w >> 30, opc = w >> 22 & 3;
	struct access a = {.base = field(w, 5, 5),
			   .first = field(w, 0, 5),
			   .second = INSN_NO_REG,
			   .is_load = opc != 0,
			   .is_vector = w >> 26 & 1};
	a.is_known = !a.is_vector && size == 3 && opc < 2;
	if ((w & 0x3a000000) == 0x28000000) {
		pair(w, i);
	} else if ((w & 0x3b000000) == 0x39000000) { /* a positive offset */
		a.value = (int64_t)(w >> 10 & 0xfff) << size;
		access_memory(&a, i);
	} else if ((w & 0x3b200000) == 0x38000000) { /* any offset, before or after */
		const unsigned mode = w >> 10 & 3;
		const int64_t n = field_signed(w, 12, 9);
		a.value = mode == 1 ? 0 : n;
		a.after = mode == 1 || mode == 3 ? n : 0;
		access_memory(&a, i);
	} else if ((w & 0x3f000000) == 0x08000000) { /* exclusive and ordered accesses, cas */
		i->kind = INSN_SET;
		i->to = a.first == ZERO ? INSN_NO_REG : a.first;
		i->second = field(w, 16, 5) == ZERO ? INSN_NO_REG : field(w, 16, 5);
	} else if (a.is_vector) {
		structures(w, i);
	} else {
		set_other(i, a.first); /* register offsets, literals, atomics */
	}
}

/* ---- branches ---- */

static void to_address(struct insn *i, enum insn_kind kind, uint64_t address, int64_t n_words)
{
	i->kind = kind;
	i->value = (int64_t)(address + (uint64_t)(n_words * WORD));
}

static void indirect(uint32_t w, struct insn *i)
{
	const uint8_t reg = field(w, 5, 5);
	switch (w >> 21 & 7) {
	case 1: i->kind = INSN_CALL; break;
	case 2: /* ret; retaa and retab have number 31 */
		i->kind = reg == LR || (w & 0xfffffbff) == 0xd65f0bff ? INSN_RETURN : INSN_END;
		break;
	case 0: /* longjmp returns by br x30 */
		i->kind = reg == LR                ? INSN_RETURN
			  : reg == 16 || reg == 17 ? INSN_JUMP_SLOT
						   : INSN_END;
		break;
	default: i->kind = INSN_END;
	}
}

static void system_call(uint32_t w, struct insn *i)
{
	if (w == 0xd503201f)
		i->kind = INSN_NOP;
	else if (w == 0xd503233f || w == 0xd503237f || w == 0xd503245f) /* pacia/bsp, bti c */
		i->kind = INSN_ENTRY;
	else if ((w & 0xff000000) == 0xd4000000)
		i->kind = (w & 0xffe0001f) == 0xd4000001 ? INSN_PLAIN : INSN_END; /* svc, brk */
	else if ((w & 0xfff00000) == 0xd5300000)                                  /* mrs */
		set_other(i, field(w, 0, 5));
}

static void branches(uint32_t w, uint64_t address, struct insn *i)
{
	if ((w & 0x7c000000) == 0x14000000) {
		if (w >> 31)
			i->kind = INSN_CALL;
		else
			to_address(i, INSN_JUMP, address, field_signed(w, 0, 26));
	} else if ((w & 0x7e000000) == 0x36000000) {
		to_address(i, INSN_BRANCH, address, field_signed(w, 5, 14));
	} else if ((w & 0x7e000000) == 0x34000000 || (w & 0xff000000) == 0x54000000) {
		to_address(i, INSN_BRANCH, address, field_signed(w, 5, 19));
	} else if ((w & 0xfe000000) == 0xd6000000) {
		indirect(w, i);
	} else {
		system_call(w, i);
	}
}

bool insn_decode(const uint8_t *code, size_t n_bytes, uint64_t address, struct insn *i)
{
	uint32_t w;
	if (n_bytes < sizeof w || address % sizeof w != 0)
		return false;
	memcpy(&w, code, sizeof w);
	*i = (struct insn){.n_bytes = sizeof w,
			   .kind = INSN_PLAIN,
			   .to = INSN_NO_REG,
			   .from = INSN_NO_REG,
			   .second = INSN_NO_REG};
	switch (w >> 25 & 15) {
	case 2: scalable(w, i); break;
	case 8:
	case 9: immediate(w, i); break;
	case 10:
	case 11: branches(w, address, i); break;
	case 4:
	case 6:
	case 12:
	case 14: memory(w, i); break;
	case 5:
	case 13: registers(w, i); break;
	case 7:
	case 15: vectors(w, i); break;
	default: return w >> 31; /* udf, or not allocated; with this bit, matrices (SME) */
	}
	return true;
}
