/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What NVIDIA's 128-bit instructions (sm_70 and later) do to the flow of control. The encoding is
 * not documented. We found these parts in cubins that ptxas of CUDA 13.0 made for sm_75 to sm_121
 * from sources with known control flow; tests/unit/struct/test_isa.c checks that every branch goes
 * where the source says. Bits, counted from the lowest of the 128:
 *
 *	0..11    operation; the last three bits give the form of the operands: the same operation
 *	         exists with a register, a constant or an immediate
 *	12..15   guard predicate; its highest bit negates, 7 is "always"
 *	24..27   only BRA.U: uniform predicate, as above
 *	87..90   second predicate, as above
 *	34..81   distance from the next instruction in units of 4 bytes, signed; since sm_90 with 8
 *	         more bits below it, at 16..23
 *
 * ptxas ends each function with a jump to itself that no thread reaches; we treat it as a trap.
 * BSSY, BSYNC, BREAK, YIELD and WARPSYNC control which threads of a warp run together, not where
 * the program goes, so they are plain. LEPC and BMOV are plain, too. Relocations set the targets of
 * CALL.ABS. Test: tests/unit/struct/test_isa.c.
 */
#include "hpcstruct-lite/isa/isa.h"

/* BRA alone, bits 32 and 33: BRA.DIV jumps if the warp has diverged, BRA.CONV (3) if it has not. */
enum { INSTRUCTION_BYTES = 16, ALWAYS = 7, DIVERGED = 2 };

enum operation {
	CALL_ABS_REGISTER = 0x343,
	CALL_REL_REGISTER = 0x344,
	BRA_UNIFORM = 0x547,
	CALL_ABS = 0x943,
	CALL_REL = 0x944,
	BRA = 0x947,
	BRX = 0x949,
	JMP = 0x94a,
	JMX = 0x94c,
	EXIT = 0x94d,
	RET = 0x950,
	BRXU = 0x958,
	JMXU = 0x959,
	KILL = 0x95b,
};

struct words {
	uint64_t low, high;
};

static uint64_t read_word(const uint8_t *bytes)
{
	uint64_t w = 0;
	for (int i = 7; i >= 0; i--)
		w = w << 8 | bytes[i];
	return w;
}

/* Bits 34 to 81 as a signed number. */
static int64_t distance(const struct words *w)
{
	uint64_t field = w->low >> 34 | (w->high & 0x3ffff) << 30;
	return (int64_t)(field << 16) >> 16;
}

static void classify(const struct words *w, struct isa_instruction *out)
{
	uint32_t operation = (uint32_t)(w->low & 0xfff), guard = (uint32_t)(w->low >> 12 & 15),
		 second = (uint32_t)(w->high >> 23 & 15);
	switch (operation) {
	case BRA:
	case BRA_UNIFORM:
		out->kind = ISA_JUMP;
		out->has_target = true;
		break;
	case CALL_REL:
		out->kind = ISA_CALL;
		out->has_target = true;
		break;
	case CALL_ABS:
	case CALL_ABS_REGISTER:
	case CALL_REL_REGISTER:
		out->kind = ISA_CALL;
		break;
	case BRX:
	case JMX:
	case BRXU:
	case JMXU:
	case JMP:
		out->kind = ISA_INDIRECT;
		break;
	case RET:
		out->kind = ISA_RETURN;
		break;
	case EXIT:
	case KILL:
		out->kind = ISA_EXIT;
		break;
	default:
		return;
	}
	out->is_conditional = guard != ALWAYS || second != ALWAYS ||
			      (operation == BRA_UNIFORM && (w->low >> 24 & 15) != ALWAYS) ||
			      (operation == BRA && (w->low >> 32 & 3) >= DIVERGED);
}

/* Returns false if the bytes end inside the instruction. */
static bool decode(const uint8_t *bytes, size_t n_bytes, struct words *w,
		   struct isa_instruction *out)
{
	*out = (struct isa_instruction){.kind = ISA_INVALID,
					.n_bytes = n_bytes < INSTRUCTION_BYTES ? (uint8_t)n_bytes
									       : INSTRUCTION_BYTES};
	if (n_bytes < INSTRUCTION_BYTES)
		return false;
	*w = (struct words){read_word(bytes), read_word(bytes + 8)};
	out->kind = ISA_PLAIN;
	classify(w, out);
	return true;
}

/* Sets the target, given in bytes from the next instruction. */
static void set_target(struct isa_instruction *out, uint64_t link_addr, uint64_t n_bytes)
{
	out->target = link_addr + INSTRUCTION_BYTES + n_bytes;
	if (out->kind == ISA_JUMP && !out->is_conditional && out->target == link_addr) {
		out->kind = ISA_EXIT;
		out->has_target = false;
	}
}

static void decode_70(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
		      struct isa_instruction *out)
{
	struct words w;
	if (decode(bytes, n_bytes, &w, out) && out->has_target)
		set_target(out, link_addr, (uint64_t)distance(&w) * 4);
}

static void decode_90(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
		      struct isa_instruction *out)
{
	struct words w;
	if (decode(bytes, n_bytes, &w, out) && out->has_target)
		set_target(out, link_addr,
			   ((uint64_t)distance(&w) << 8 | (w.low >> 16 & 0xff)) * 4);
}

const struct isa isa_sass_70 = {
	.name = "SASS, sm_70 to sm_89", .has_waits = true, .decode = decode_70};
const struct isa isa_sass_90 = {
	.name = "SASS, sm_90 and later", .has_waits = true, .decode = decode_90};
