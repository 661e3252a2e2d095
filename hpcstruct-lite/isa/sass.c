/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduling bits and registers of NVIDIA's 128-bit instructions; see sass.h. Bits 105 to 125 are:
 * 4 bits stall count, 1 bit yield, 3 bits the barrier of the results, 3 bits the barrier of the
 * operands (7: none), and 6 bits the barriers to wait for. Test: tests/unit/struct/test_depend.c.
 */
#include "hpcstruct-lite/isa/sass.h"

enum { NO_REGISTER = 255, NO_PREDICATE = 7, ALWAYS = 7, NO_UNIFORM = 63 };

/* Operations with rules of their own. */
enum {
	DADD = 0x029,
	HFMA2_MMA = 0x035,
	DEPBAR = 0x11a,
	BAR = 0x11d,
	CALL_ABS = 0x143,
	CALL_REL = 0x144,
	BSSY = 0x145,
	BRA = 0x147,
	WARPSYNC = 0x148,
	I2F = 0x106,
	I2F_64 = 0x112,
	LD = 0x180,
	LDG = 0x181,
	ST = 0x185,
	SHFL = 0x189,
	SYNCS = 0x1a7,
	LDGSTS = 0x1ae,
	LDGDEPBAR = 0x1af,
	S2UR = 0x1c3,
	WARPGROUP = 0x1c5,
	FIRST_MATRIX = 0x1f0, /* HGMMA */
	LAST_MATRIX = 0x1f3
};

/* Forms: which operand is in memory, an immediate, or a register of the warp. */
enum {
	FORM_REGISTER = 1,
	FORM_IMMEDIATE_C = 2,
	FORM_IMMEDIATE_B = 4,
	FORM_UNIFORM_B = 6,
	FORM_UNIFORM_C = 7 /* B is in the place of C */
};

struct words {
	uint64_t low, high;
};

static uint32_t bits(const struct words *w, unsigned from, unsigned n)
{
	uint64_t word = from < 64 ? w->low >> from : w->high >> (from - 64);
	return (uint32_t)(word & ((UINT64_C(1) << n) - 1));
}

/* ---- registers ---- */

static void add_read(struct sass_instruction *out, unsigned first, unsigned n)
{
	if (out->n_reads < SASS_MAX_READS)
		out->reads[out->n_reads++] = (struct sass_registers){(uint16_t)first, (uint8_t)n};
}

static void add_write(struct sass_instruction *out, unsigned first, unsigned n)
{
	if (out->n_writes < SASS_MAX_WRITES)
		out->writes[out->n_writes++] = (struct sass_registers){(uint16_t)first, (uint8_t)n};
}

/* Returns the number of the register in a field of 8 bits; SASS_N_REGISTERS: none. */
static unsigned register_at(const struct words *w, unsigned from, bool is_uniform)
{
	unsigned number = bits(w, from, 8);
	if (number == NO_REGISTER || (is_uniform && number == NO_UNIFORM))
		return SASS_N_REGISTERS;
	return (is_uniform ? SASS_UR : SASS_R) + number;
}

static void read_at(const struct words *w, unsigned from, bool is_uniform, unsigned n,
		    struct sass_instruction *out)
{
	unsigned first = register_at(w, from, is_uniform);
	if (first < SASS_N_REGISTERS)
		add_read(out, first, n);
}

static void write_at(const struct words *w, unsigned from, bool is_uniform, unsigned n,
		     struct sass_instruction *out)
{
	unsigned first = register_at(w, from, is_uniform);
	if (first < SASS_N_REGISTERS)
		add_write(out, first, n);
}

/* Registers of the data of a load or a store: bits 73 to 75. */
static unsigned memory_width(const struct words *w)
{
	unsigned size = bits(w, 73, 3);
	return size == 5 ? 2 : size == 6 ? 4 : 1;
}

/* U8, S8, U16, S16, 32, 64, 128 */
static uint8_t bytes_moved(const struct words *w, const struct sass_operation *o)
{
	static const uint8_t of_size[8] = {1, 1, 2, 2, 4, 8, 16, 16};
	switch (o->operation) {
	case STRUCTURE_GLOBAL_LOAD:
	case STRUCTURE_GLOBAL_STORE:
	case STRUCTURE_LOCAL_LOAD:
	case STRUCTURE_LOCAL_STORE:
	case STRUCTURE_SHARED_LOAD:
	case STRUCTURE_SHARED_STORE:
	case STRUCTURE_GENERIC_LOAD:
	case STRUCTURE_GENERIC_STORE: return o->width == SASS_MEMORY ? of_size[bits(w, 73, 3)] : 0;
	default: return 0;
	}
}

/* Numbers of registers of the operands: of the result, of A, B and C. */
struct widths {
	unsigned d, a, b, c;
};

static struct widths widths_of(const struct words *w, enum sass_width width)
{
	switch (width) {
	case SASS_DOUBLE:
	case SASS_CONVERT: return (struct widths){2, 2, 2, 2};
	case SASS_WIDE: return (struct widths){2, 1, 1, 2};
	case SASS_MEMORY:
		return (struct widths){memory_width(w), 1 + bits(w, 72, 1), memory_width(w),
				       memory_width(w)};
	case SASS_MATRIX: return (struct widths){4, 4, 2, 4};
	case SASS_CLOCK: return (struct widths){1 + bits(w, 80, 1), 1, 1, 1};
	case SASS_QUAD: return (struct widths){4, 4, 4, 4};
	default: return (struct widths){1, 1, 1, 1};
	}
}

static void list_predicates(const struct words *w, const struct sass_operation *o,
			    uint32_t operands, struct sass_instruction *out)
{
	bool is_uniform = (operands & SASS_OPERAND_U) || o->code == S2UR;
	unsigned base = is_uniform ? SASS_UP : SASS_P;
	out->is_conditional = bits(w, 12, 3) != ALWAYS;
	if (out->is_conditional)
		add_read(out, base + bits(w, 12, 3), 1);
	if ((operands & SASS_OPERAND_Q) && bits(w, 87, 3) != ALWAYS)
		add_read(out, base + bits(w, 87, 3), 1);
	if ((operands & SASS_OPERAND_P) && bits(w, 81, 3) != NO_PREDICATE)
		add_write(out, base + bits(w, 81, 3), 1);
	if ((operands & SASS_OPERAND_P2) && bits(w, 84, 3) != NO_PREDICATE)
		add_write(out, base + bits(w, 84, 3), 1);
}

/* Blackwell's IADD.64 has the code of an older HFMA2.MMA, and two operands of 64 bits. */
static bool is_iadd64(const struct words *w, const struct sass_operation *o)
{
	return o->code == HFMA2_MMA && bits(w, 81, 3) == NO_PREDICATE;
}

/* Returns the operands in this form. For most operations they are those of the table. */
static uint32_t operands_of(const struct words *w, const struct sass_operation *o)
{
	unsigned form = bits(w, 9, 3);
	uint32_t operands = o->operands;
	switch (o->code) {
	case DADD: /* B is in the place of C */
		return operands & ~(form == FORM_REGISTER ? SASS_OPERAND_B : SASS_OPERAND_C);
	case HFMA2_MMA: return is_iadd64(w, o) ? operands & ~SASS_OPERAND_C : operands;
	case BRA: /* BRA.DIV and BRA.CONV have a mask of threads */
		return form == FORM_IMMEDIATE_B && bits(w, 91, 1) ? operands | SASS_OPERAND_UA
								  : operands;
	case CALL_ABS:
	case CALL_REL: return form == FORM_REGISTER ? operands : operands & ~SASS_OPERAND_A;
	case WARPSYNC: /* WARPSYNC.COLLECTIVE has A, and an offset in the place of B */
		return operands & ~(bits(w, 24, 8) ? SASS_OPERAND_B : SASS_OPERAND_A);
	case ST: return form == FORM_REGISTER ? SASS_OPERAND_A | SASS_OPERAND_C : operands;
	case SHFL:
		operands |= form <= FORM_IMMEDIATE_C ? SASS_OPERAND_DATA : 0;
		return form == FORM_REGISTER || form == FORM_IMMEDIATE_B ? operands | SASS_OPERAND_C
									 : operands;
	case SYNCS: /* the test has a predicate as its result */
		return form == FORM_IMMEDIATE_C ? operands : operands & ~SASS_OPERAND_P;
	default: return operands;
	}
}

static void list_sources(const struct words *w, uint32_t operands, const struct widths *n,
			 struct sass_instruction *out)
{
	bool is_uniform = (operands & SASS_OPERAND_U) != 0;
	unsigned form = bits(w, 9, 3);
	if (operands & SASS_OPERAND_A)
		read_at(w, 24, is_uniform, n->a, out);
	if ((operands & SASS_OPERAND_UA) && bits(w, 24, 6) != NO_UNIFORM)
		add_read(out, SASS_UR + bits(w, 24, 6), 1);
	if ((operands & SASS_OPERAND_DATA) ||
	    ((operands & SASS_OPERAND_B) && form == FORM_REGISTER))
		read_at(w, 32, is_uniform, n->b, out);
	if ((operands & SASS_OPERAND_B) && (form == FORM_UNIFORM_B || form == FORM_UNIFORM_C))
		read_at(w, 32, true, n->b, out);
	if (operands & SASS_OPERAND_C)
		read_at(w, 64, is_uniform, n->c, out);
	/* bit 91: the address or its descriptor is in registers of the warp */
	if ((operands & SASS_OPERAND_UB) && bits(w, 91, 1))
		read_at(w, 32, true, 2, out);
	if ((operands & SASS_OPERAND_UC) && bits(w, 91, 1))
		add_read(out, SASS_UR + bits(w, 64, 6), 2);
	if (operands & SASS_OPERAND_TO)
		read_at(w, 16, false, 1, out);
}

static void list_registers(const struct words *w, const struct sass_operation *o,
			   struct sass_instruction *out)
{
	struct widths n = widths_of(w, is_iadd64(w, o) ? SASS_DOUBLE : (enum sass_width)o->width);
	uint32_t operands = operands_of(w, o);
	bool is_uniform = (operands & (SASS_OPERAND_U | SASS_OPERAND_UD)) != 0;
	if (operands & SASS_OPERAND_D)
		write_at(w, 16, is_uniform, n.d, out);
	if (operands & SASS_OPERAND_D2)
		write_at(w, 64, false, n.d, out);
	list_sources(w, operands, &n, out);
	list_predicates(w, o, operands, out);
}

bool sass_overlap(const struct sass_registers *a, unsigned n_a, const struct sass_registers *b,
		  unsigned n_b)
{
	for (unsigned i = 0; i < n_a; i++)
		for (unsigned k = 0; k < n_b; k++)
			if (a[i].first < b[k].first + b[k].n && b[k].first < a[i].first + a[i].n)
				return true;
	return false;
}

/* ---- waiting ---- */

/*
 * DEPBAR.LE waits until at most a given number of a barrier's users are left. DEPBAR {...} waits
 * for a set of barriers.
 */
static void decode_depbar(const struct words *w, struct sass_instruction *out)
{
	bool has_count = bits(w, 47, 1) != 0;
	out->waits |= has_count ? (uint8_t)(1u << bits(w, 44, 3)) & 63 : (uint8_t)bits(w, 32, 6);
	out->still_out = has_count ? (uint8_t)bits(w, 38, 6) : 0;
}

static void decode_special(const struct words *w, uint32_t code, struct sass_instruction *out)
{
	if (code == DEPBAR)
		decode_depbar(w, out);
	if (code == WARPGROUP && bits(w, 47, 1)) { /* WARPGROUP.DEPBAR.LE */
		out->waits |= 1u << SASS_MATRIX_BARRIER;
		out->still_out = (uint8_t)bits(w, 72, 6);
	}
	if (code == BSSY)
		out->joins_after = bits(w, 34, 29) * 4;
	out->is_async_group = code == LDGDEPBAR;
	out->is_async_copy = code == LDGSTS;
	out->joins_warps = code == WARPSYNC || code == BAR;
	if (code >= FIRST_MATRIX && code <= LAST_MATRIX)
		out->results |= 1u << SASS_MATRIX_BARRIER;
}

/*
 * Volatile loads: bits 77 to 80 are 10 for STRONG.SYS since sm_80, and before that 10 or 11 for
 * STRONG.GPU and STRONG.SYS. Division of integers by a number that the compiler does not know
 * begins with its reciprocal, rounded up (I2F.RP): bits 78 and 79 are the rounding.
 */
static enum structure_operation operation_of(const struct words *w, const struct sass_operation *o)
{
	if ((o->code == LD || o->code == LDG) && bits(w, 78, 3) == 5)
		return STRUCTURE_STRONG_LOAD;
	if ((o->code == I2F || o->code == I2F_64) && bits(w, 78, 2) == 2)
		return STRUCTURE_DIVISION;
	return (enum structure_operation)o->operation;
}

void sass_decode(const uint8_t *bytes, struct sass_instruction *out)
{
	struct words w = {0, 0};
	for (int i = 7; i >= 0; i--) {
		w.low = w.low << 8 | bytes[i];
		w.high = w.high << 8 | bytes[8 + i];
	}
	uint32_t code = bits(&w, 0, 9), result = bits(&w, 110, 3), operand = bits(&w, 113, 3);
	const struct sass_operation *o = sass_find_operation(code);
	*out = (struct sass_instruction){
		.operation = STRUCTURE_OTHER_OPERATION,
		.stall = (uint8_t)bits(&w, 105, 4),
		.results = result < SASS_MATRIX_BARRIER ? (uint8_t)(1u << result) : 0,
		.operands = operand < SASS_MATRIX_BARRIER ? (uint8_t)(1u << operand) : 0,
		.waits = (uint8_t)bits(&w, 116, 6),
	};
	decode_special(&w, code, out);
	if (!o)
		return;
	out->operation = operation_of(&w, o);
	out->bytes = bytes_moved(&w, o);
	list_registers(&w, o, out);
}
