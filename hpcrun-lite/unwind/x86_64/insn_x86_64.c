/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes x86-64 instructions; see insn.h. The tables say for each opcode which bytes follow it.
 * They hold one character for each opcode, because that can be compared with the manual's maps.
 * Intel SDM volume 2, chapter 2 and appendix A; AMD64 manual volume 3, 1.8 (VEX, XOP). Test:
 * tests/unit/unwind/test_leave.c.
 */
#include "hpcrun-lite/unwind/code/insn.h"

#include <string.h>

/*
 * What follows an opcode: '.' nothing, 'm' ModRM; then immediates: 'b' 1 byte, 'w' 2, 'z' 4 (2 with
 * the operand size prefix), 'v' like z but 8 with REX.W, 'j' 4; 'B', 'Z': ModRM and b, z; 'e' 3
 * bytes (enter); 'o' an address; 'T', 'U': ModRM and b, z if its digit is 0 or 1. '-': none.
 */
static const char one_byte[] =
	"mmmmbz--mmmmbz--" "mmmmbz--mmmmbz--" "mmmmbz--mmmmbz--" "mmmmbz--mmmmbz--" /* 00 */
	"----------------" "................" "---m----zZbB...." "bbbbbbbbbbbbbbbb" /* 40 */
	"BZ-Bmmmmmmmmmmmm" "..........-....." "oooo....bz......" "bbbbbbbbvvvvvvvv" /* 80 */
	"BBw.--BZe.w..b-." "mmmm---.mmmmmmmm" "bbbbbbbbjj-b...." "-.--..TU......mm"; /* c0 */

/* After 0f. 38 and 3a lead to other maps. */
static const char two_byte[] =
	"mmmm-.....-.-m.B" "mmmmmmmmmmmmmmmm" "mmmm----mmmmmmmm" "......-.--------" /* 00 */
	"mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "BBBBmmm.mmmmmmmm" /* 40 */
	"jjjjjjjjjjjjjjjj" "mmmmmmmmmmmmmmmm" "...mBmmm...mBmmm" "mmmmmmmmmmBmmmmm" /* 80 */
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm"; /* c0 */

enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_5 = 5, MAP_6, XOP_8 = 8, XOP_9, XOP_A };

/* An instruction taken apart. */
struct parts {
	const uint8_t *code;
	size_t n, at;       /* bytes, and how many have been read */
	uint8_t map, opcode, rex;
	bool is_vex, has_16, has_segment, has_32, has_rep;
	bool has_modrm;
	uint8_t mod, reg, rm;     /* with the bits of REX */
	uint8_t base;             /* of memory: x86 number, or INSN_NO_REG: rip, an index, none */
	bool is_rip;
	int32_t disp;
	int64_t immediate;
};

enum { REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };

static uint8_t byte(struct parts *p)
{
	return p->at < p->n ? p->code[p->at++] : (p->at = p->n + 1, (uint8_t)0);
}

static int64_t number(struct parts *p, size_t n_bytes)
{
	uint64_t v = 0;
	if (n_bytes > p->n || p->at > p->n - n_bytes) {
		p->at = p->n + 1;
		return 0;
	}
	memcpy(&v, p->code + p->at, n_bytes);
	p->at += n_bytes;
	const unsigned unused = 64 - 8 * (unsigned)n_bytes;
	return n_bytes ? (int64_t)(v << unused) >> unused : 0;
}

/* ---- taking apart ---- */

static uint8_t read_prefixes(struct parts *p)
{
	for (;;) {
		const uint8_t b = byte(p);
		switch (b) {
		case 0x66: p->has_16 = true; break;
		case 0x67: p->has_32 = true; break;
		case 0x64:
		case 0x65: p->has_segment = true; break;
		case 0xf2:
		case 0xf3: p->has_rep = true; break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0: break;
		default: return b;
		}
	}
}

/*
 * VEX, EVEX and XOP: only the map and the opcode matter. Some of these instructions write general
 * registers (andn, pdep), but in practice none that holds a stack pointer.
 */
static void read_vex(struct parts *p, uint8_t first)
{
	const uint8_t b = byte(p);
	p->is_vex = true;
	p->map = first == 0xc5 ? MAP_0F : first == 0x62 ? b & 7 : b & 0x1f;
	if (first != 0xc5)
		byte(p);
	if (first == 0x62)
		byte(p);
	p->opcode = byte(p);
}

static bool is_xop(const struct parts *p)
{
	return p->at < p->n && (p->code[p->at] & 0x1f) >= XOP_8;
}

static void read_opcode(struct parts *p)
{
	uint8_t b = read_prefixes(p);
	if ((b & 0xf0) == 0x40) {
		p->rex = b;
		b = byte(p);
	}
	if (b == 0xc4 || b == 0xc5 || b == 0x62 || (b == 0x8f && is_xop(p))) {
		read_vex(p, b);
		return;
	}
	if (b == 0x0f) {
		b = byte(p);
		p->map = b == 0x38 ? MAP_0F38 : b == 0x3a ? MAP_0F3A : MAP_0F;
		if (p->map != MAP_0F)
			b = byte(p);
	}
	p->opcode = b;
}

static void read_modrm(struct parts *p)
{
	enum { RM_SIB = 4, RM_DISP = 5, NO_INDEX = 4 };
	const uint8_t b = byte(p);
	p->has_modrm = true;
	p->mod = b >> 6;
	p->reg = (uint8_t)((b >> 3 & 7) | (p->rex & REX_R ? 8 : 0));
	p->rm = (uint8_t)((b & 7) | (p->rex & REX_B ? 8 : 0));
	p->base = INSN_NO_REG;
	if (p->mod == 3)
		return;
	size_t n_disp = p->mod == 1 ? 1 : p->mod == 2 ? 4 : 0;
	if ((b & 7) == RM_SIB) {
		const uint8_t sib = byte(p);
		const bool has_index = (sib >> 3 & 7) != NO_INDEX || (p->rex & REX_X);
		if (p->mod == 0 && (sib & 7) == RM_DISP)
			n_disp = 4;
		else if (!has_index)
			p->base = (uint8_t)((sib & 7) | (p->rex & REX_B ? 8 : 0));
	} else if (p->mod == 0 && (b & 7) == RM_DISP) {
		n_disp = 4;
		p->is_rip = true;
	} else {
		p->base = p->rm;
	}
	p->disp = (int32_t)number(p, n_disp);
	if (p->has_segment || p->has_32)
		p->base = INSN_NO_REG;
}

/* A character of the tables. */
static char form_of(const struct parts *p)
{
	switch (p->map) {
	case MAP_ONE: return p->is_vex ? '-' : one_byte[p->opcode];
	case MAP_0F:
		/* EVEX has instructions in the holes. */
		return p->is_vex && two_byte[p->opcode] == '-' ? 'm' : two_byte[p->opcode];
	case MAP_0F38: return 'm';
	case MAP_0F3A: return 'B';
	case MAP_5:
	case MAP_6: return p->is_vex ? 'm' : '-';
	case XOP_8: return 'B';
	case XOP_9: return 'm';
	case XOP_A: return 'J';
	default: return '-';
	}
}

static bool read_operands(struct parts *p)
{
	const char form = form_of(p);
	const bool is_wide = p->rex & REX_W;
	const size_t z = p->has_16 && !is_wide ? 2 : 4;
	if (form == '-')
		return false;
	if (memchr("mBZTUJ", form, 6))
		read_modrm(p);
	const bool has_test = p->has_modrm && (p->reg & 7) < 2; /* f6 and f7 */
	const size_t n_bytes = form == 'b' || form == 'B' || (form == 'T' && has_test)   ? 1
			       : form == 'w'                                             ? 2
			       : form == 'e'                                             ? 3
			       : form == 'j' || form == 'J'                              ? 4
			       : form == 'z' || form == 'Z' || (form == 'U' && has_test) ? z
			       : form == 'v'                            ? (is_wide ? 8 : z)
			       : form == 'o'                            ? (p->has_32 ? 4 : 8)
										 : 0;
	p->immediate = number(p, n_bytes);
	return p->at <= p->n && p->at <= INSN_MAX_BYTES;
}

/* ---- what it does ---- */

enum { SP = 4, BP = 5 }; /* x86 numbers */

static uint8_t dwarf(uint8_t x86)
{
	static const uint8_t of[8] = {0, 2, 1, 3, 7, 6, 4, 5};
	return x86 < 8 ? of[x86] : x86;
}

static void put(struct insn *i, enum insn_kind kind, uint8_t to, uint8_t from, int64_t value)
{
	i->kind = (uint8_t)kind;
	i->to = to == INSN_NO_REG ? to : dwarf(to);
	i->from = from == INSN_NO_REG ? from : dwarf(from);
	i->second = INSN_NO_REG;
	i->after = 0;
	i->value = value;
}

static void put_kind(struct insn *i, enum insn_kind kind)
{
	put(i, kind, INSN_NO_REG, INSN_NO_REG, 0);
}

static void put_set(struct insn *i, uint8_t to)
{
	put(i, INSN_SET, to, INSN_NO_REG, 0);
}

static uint8_t low_register(const struct parts *p)
{
	return (uint8_t)((p->opcode & 7) | (p->rex & REX_B ? 8 : 0));
}

/*
 * xchg sets two registers, but only one is recorded. Only odd code passes stack pointers through
 * xchg, and there the search ends.
 */
static void set_exchange(struct insn *i, uint8_t one, uint8_t other)
{
	if (one == SP || one == BP || other == SP || other == BP)
		put_kind(i, INSN_END);
	else
		put_set(i, one);
}

/*
 * Opcodes 00 to 3f: eight operations in six forms. Forms that write only a byte of a register do
 * not matter.
 */
static void set_operation(const struct parts *p, struct insn *i)
{
	enum { COMPARE = 7 };
	const unsigned form = p->opcode & 7;
	if (p->opcode >> 3 == COMPARE)
		return;
	if (form == 1 && p->mod == 3)
		put_set(i, p->rm);
	else if (form == 3)
		put_set(i, p->reg);
	else if (form == 5)
		put_set(i, 0);
}

/* Opcodes 81 and 83: an operation with an immediate value. */
static void set_immediate(const struct parts *p, struct insn *i)
{
	enum { ADD = 0, AND = 4, SUB = 5, COMPARE = 7 };
	const unsigned digit = p->reg & 7;
	if (p->mod != 3 || digit == COMPARE)
		return;
	if (!(p->rex & REX_W))
		put_set(i, p->rm);
	else if (digit == ADD || digit == SUB)
		put(i, INSN_ADD, p->rm, INSN_NO_REG, digit == ADD ? p->immediate : -p->immediate);
	else if (digit == AND)
		put(i, INSN_ALIGN, p->rm, INSN_NO_REG, p->immediate);
	else
		put_set(i, p->rm);
}

static void set_move(const struct parts *p, struct insn *i)
{
	const bool is_wide = p->rex & REX_W, to_register = p->opcode == 0x8b;
	if (p->mod == 3) {
		const uint8_t to = to_register ? p->reg : p->rm,
			      from = to_register ? p->rm : p->reg;
		put(i, is_wide ? INSN_MOVE : INSN_SET, to, from, 0);
	} else if (!to_register) {
		if (is_wide && p->base != INSN_NO_REG)
			put(i, INSN_STORE, p->base, p->reg, p->disp);
	} else if (is_wide && p->base != INSN_NO_REG) {
		put(i, INSN_LOAD, p->reg, p->base, p->disp);
	} else {
		put_set(i, p->reg);
	}
}

static void set_group_ff(const struct parts *p, struct insn *i)
{
	enum { CALL = 2, FAR_CALL, JUMP, FAR_JUMP, PUSH };
	switch (p->reg & 7) {
	case CALL: put_kind(i, INSN_CALL); break;
	case JUMP: put_kind(i, p->is_rip ? INSN_JUMP_SLOT : INSN_END); break;
	case FAR_CALL:
	case FAR_JUMP: put_kind(i, INSN_END); break;
	case PUSH: put_kind(i, INSN_PUSH); break;
	default:
		if (p->mod == 3)
			put_set(i, p->rm);
	}
}

static void set_one_byte(const struct parts *p, uint64_t next, struct insn *i)
{
	const uint8_t op = p->opcode;
	const uint64_t target = next + (uint64_t)p->immediate;
	if (op < 0x40) {
		set_operation(p, i);
		return;
	}
	if (op >= 0x50 && op < 0x58) {
		put(i, INSN_PUSH, INSN_NO_REG, low_register(p), 0);
		return;
	}
	if (op >= 0x58 && op < 0x60) {
		put(i, INSN_POP, low_register(p), INSN_NO_REG, 0);
		return;
	}
	if ((op >= 0x70 && op < 0x80) || (op >= 0xe0 && op < 0xe4)) {
		put(i, INSN_BRANCH, INSN_NO_REG, INSN_NO_REG, (int64_t)target);
		return;
	}
	if (op >= 0x90 && op < 0x98 && (op != 0x90 || p->rex & REX_B)) {
		set_exchange(i, low_register(p), 0);
		return;
	}
	if (op >= 0xb8 && op < 0xc0) {
		put_set(i, low_register(p));
		return;
	}
	switch (op) {
	case 0x63:
	case 0x69:
	case 0x6b: put_set(i, p->reg); break;
	case 0x68:
	case 0x6a:
	case 0x9c: put_kind(i, INSN_PUSH); break;
	case 0x8f:
	case 0x9d: put_kind(i, INSN_POP); break;
	case 0x81:
	case 0x83: set_immediate(p, i); break;
	case 0x87:
		set_exchange(i, p->reg, p->mod == 3 ? p->rm : p->reg);
		break;
	case 0x89:
	case 0x8b: set_move(p, i); break;
	case 0x8d:
		put(i, p->base != INSN_NO_REG && p->rex & REX_W ? INSN_MOVE : INSN_SET, p->reg,
		    p->base, p->disp);
		break;
	case 0xc1:
	case 0xc7:
	case 0xd1:
	case 0xd3:
		if (p->mod == 3)
			put_set(i, p->rm);
		break;
	case 0xf7: /* not, neg */
		if (p->mod == 3 && (p->reg & 6) == 2)
			put_set(i, p->rm);
		break;
	case 0x90:
	case 0xcc: put_kind(i, INSN_NOP); break;
	case 0xc2:
	case 0xc3: put_kind(i, INSN_RETURN); break;
	case 0xc9: put_kind(i, INSN_LEAVE); break;
	case 0xc8: /* enter, which only people write, changes both rsp and rbp */
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xf1:
	case 0xf4: put_kind(i, INSN_END); break;
	case 0xe8: put_kind(i, target == next ? INSN_PUSH : INSN_CALL); break;
	case 0xe9:
	case 0xeb: put(i, INSN_JUMP, INSN_NO_REG, INSN_NO_REG, (int64_t)target); break;
	case 0xff: set_group_ff(p, i); break;
	default: break;
	}
}

static void set_two_byte(const struct parts *p, uint64_t next, struct insn *i)
{
	const uint8_t op = p->opcode;
	if (op >= 0x80 && op < 0x90)
		put(i, INSN_BRANCH, INSN_NO_REG, INSN_NO_REG,
		    (int64_t)(next + (uint64_t)p->immediate));
	else if (op == 0xa0 || op == 0xa8)
		put_kind(i, INSN_PUSH);
	else if (op == 0xa1 || op == 0xa9)
		put_kind(i, INSN_POP);
	else if (op == 0x0b || op == 0xb9 || op == 0xff) /* ud2, ud1, ud0 */
		put_kind(i, INSN_END);
	else if (op == 0x1e && p->has_rep && p->mod == 3) /* endbr64, rdssp */
		put_kind(i, p->reg == 7 ? INSN_ENTRY : INSN_PLAIN);
	else if (op == 0x1f)
		put_kind(i, INSN_NOP);
	else if (op == 0x7e && !p->has_rep && p->mod == 3) /* movq from a vector register */
		put_set(i, p->rm);
	else if ((op >= 0x40 && op < 0x50) || op == 0xaf || op == 0xb6 || op == 0xb7 ||
		 (op >= 0xbc && op < 0xc0))
		put_set(i, p->reg);
	else if (op >= 0xc8 && op < 0xd0)
		put_set(i, low_register(p));
}

bool insn_decode(const uint8_t *code, size_t n_bytes, uint64_t address, struct insn *insn)
{
	struct parts p = {.code = code, .n = n_bytes, .base = INSN_NO_REG};
	read_opcode(&p);
	if (p.at > n_bytes || !read_operands(&p))
		return false;
	insn->n_bytes = (uint8_t)p.at;
	put_kind(insn, INSN_PLAIN);
	if (p.is_vex)
		return true;
	if (p.map == MAP_ONE)
		set_one_byte(&p, address + p.at, insn);
	else if (p.map == MAP_0F)
		set_two_byte(&p, address + p.at, insn);
	return true;
}
