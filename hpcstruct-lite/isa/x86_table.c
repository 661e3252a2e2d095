/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes one pass over the code, in the order of addresses. For each register it keeps what it
 * holds: an address, an entry loaded from a table, the sum of both, or a bound from a comparison or
 * a mask. It assumes that the code before an instruction ran before it. This is true for the few
 * instructions of a table jump. The address of the table may be loaded far away, before the loop
 * that contains the switch. The caller checks that each entry leads to an instruction of the same
 * function. See x86_table.h for the tests.
 */
#include "hpcstruct-lite/isa/x86_table.h"
#include "hpcstruct-lite/isa/zydis.h"

enum {
	N_REGISTERS = 16,
	N_AHEAD = 16,
	NO_REGISTER = 255,
	MAX_BOUND = 1 << 16,
	LOWEST_ADDRESS = 4096
};

enum value_kind { UNKNOWN, ADDRESS, ENTRY_4, ENTRY_8, TARGET };

struct value {
	enum value_kind kind;
	uint64_t base;         /* ADDRESS: itself; else of the table */
	uint32_t bound; /* the register, or the index of the entry, is less than this; 0: unknown */
};

/* The thing that a comparison tests: a register, or a slot of the stack frame. */
struct subject {
	uint8_t reg;           /* the register, or the base of the slot; NO_REGISTER: nothing */
	bool is_slot;
	int64_t disp;
};

/*
 * A bound that is valid from an address onwards: the target of a jump that is taken if the index is
 * small enough.
 */
struct ahead {
	uint64_t at;
	struct subject subject;
	uint32_t bound;
};

struct pass {
	uint64_t here;         /* address after the instruction */
	struct value registers[N_REGISTERS];
	/* the address last loaded, even if the register has changed since; 0: none */
	uint64_t last_address[N_REGISTERS];
	struct subject compared;
	uint64_t limit;
	struct subject slot;
	uint32_t slot_bound;
	struct ahead ahead[N_AHEAD];
	unsigned n_ahead;
	ZydisDecodedInstruction i;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static uint8_t number(ZydisRegister reg)
{
	ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	return wide >= ZYDIS_REGISTER_RAX && wide <= ZYDIS_REGISTER_R15
		       ? (uint8_t)(wide - ZYDIS_REGISTER_RAX)
		       : NO_REGISTER;
}

static uint8_t register_of(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER ? number(o->reg.value) : NO_REGISTER;
}

static struct value value_of(const struct pass *p, uint8_t reg)
{
	return reg == NO_REGISTER ? (struct value){0} : p->registers[reg];
}

static void set(struct pass *p, uint8_t reg, struct value v)
{
	if (reg == NO_REGISTER)
		return;
	p->registers[reg] = v;
	if (v.kind == ADDRESS)
		p->last_address[reg] = v.base;
}

static struct subject subject_of(const ZydisDecodedOperand *o)
{
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
		return (struct subject){.reg = number(o->reg.value)};
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.index == ZYDIS_REGISTER_NONE)
		return (struct subject){
			.reg = number(o->mem.base), .is_slot = true, .disp = o->mem.disp.value};
	return (struct subject){.reg = NO_REGISTER};
}

static void set_bound(struct pass *p, const struct subject *s, uint32_t bound)
{
	if (s->reg == NO_REGISTER)
		return;
	if (s->is_slot) {
		p->slot = *s;
		p->slot_bound = bound;
	} else {
		p->registers[s->reg].bound = bound;
	}
}

/* Forgets everything that the instruction writes. */
static void forget_written(struct pass *p)
{
	if (zydis_modifies_carry(&p->i))
		p->compared.reg = NO_REGISTER;
	for (unsigned k = 0; k < p->i.operand_count; k++) {
		const ZydisDecodedOperand *o = &p->operands[k];
		if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		struct subject s = subject_of(o);
		if (s.is_slot && s.reg == p->slot.reg && s.disp == p->slot.disp)
			p->slot_bound = 0;
		set(p, register_of(o), (struct value){0});
	}
}

/* Returns the table base that the register holds; 0: unknown. */
static uint64_t base_address(const struct pass *p, uint8_t reg)
{
	if (reg == NO_REGISTER)
		return 0;
	return p->registers[reg].kind == ADDRESS ? p->registers[reg].base : p->last_address[reg];
}

/*
 * Returns the value of a load from base + index * scale. It is an entry of a table if the base is
 * an address.
 */
static struct value load(const struct pass *p, const ZydisDecodedOperand *m, unsigned entry_bytes)
{
	uint8_t base = number(m->mem.base), index = number(m->mem.index);
	enum value_kind kind = entry_bytes == 4 ? ENTRY_4 : ENTRY_8;
	uint64_t table = 0, disp = (uint64_t)m->mem.disp.value;
	if (m->mem.scale == 1 && index != NO_REGISTER &&
	    value_of(p, base).kind !=
		    ADDRESS) { /* the index is already scaled, so either register may be the base */
		uint8_t other = base;
		base = index;
		index = other;
	}
	if (m->mem.scale == 1 && value_of(p, base).kind == ADDRESS)
		table = value_of(p, base).base + disp;
	else if (m->mem.scale == entry_bytes && m->mem.base == ZYDIS_REGISTER_NONE)
		table = disp;
	else if (m->mem.scale == entry_bytes && base_address(p, base))
		table = base_address(p, base) + disp;
	if (index == NO_REGISTER || table == 0)
		return (struct value){0};
	return (struct value){kind, table, value_of(p, index).bound};
}

static void do_mov(struct pass *p)
{
	const ZydisDecodedOperand *to = &p->operands[0], *from = &p->operands[1];
	uint8_t reg = register_of(to), source = register_of(from);
	bool sign_extends = p->i.mnemonic == ZYDIS_MNEMONIC_MOVSXD,
	     zero_extends = p->i.mnemonic == ZYDIS_MNEMONIC_MOVZX;
	struct value v = {0};
	if (source != NO_REGISTER) {
		v = p->registers[source];
		if (zero_extends)
			v.kind = UNKNOWN;
	} else if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		   from->imm.value.u >= LOWEST_ADDRESS) {
		v = (struct value){ADDRESS, from->imm.value.u, 0};
	} else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY && reg != NO_REGISTER) {
		struct subject s = subject_of(from);
		if (s.is_slot && p->slot_bound && s.reg == p->slot.reg && s.disp == p->slot.disp)
			v.bound = p->slot_bound;
		else if (!zero_extends)
			v = load(p, from, from->size / 8 == 8 && !sign_extends ? 8 : 4);
	}
	forget_written(p);
	set(p, reg, v);
}

static void do_lea(struct pass *p)
{
	const ZydisDecodedOperand *m = &p->operands[1];
	uint8_t reg = register_of(&p->operands[0]), base = number(m->mem.base),
		index = number(m->mem.index);
	struct value v = {0};
	if (m->mem.base == ZYDIS_REGISTER_RIP) {
		v = (struct value){ADDRESS, p->here + (uint64_t)m->mem.disp.value, 0};
	} else if (m->mem.base == ZYDIS_REGISTER_NONE && index != NO_REGISTER &&
		   m->mem.disp.value == 0) {
		v.bound = p->registers[index].bound;
	} else if (base != NO_REGISTER && index != NO_REGISTER && m->mem.scale == 1 &&
		   m->mem.disp.value == 0) {
		struct value a = p->registers[base], b = p->registers[index];
		struct value entry = a.kind == ENTRY_4 ? a : b;
		uint64_t address = base_address(p, a.kind == ENTRY_4 ? index : base);
		if (entry.kind == ENTRY_4 && entry.base == address)
			v = (struct value){TARGET, entry.base, entry.bound};
	}
	forget_written(p);
	set(p, reg, v);
}

static void do_add(struct pass *p)
{
	uint8_t to = register_of(&p->operands[0]), from = register_of(&p->operands[1]);
	struct value a = value_of(p, to), b = value_of(p, from), v = {0};
	if (a.kind == ENTRY_4 && base_address(p, from) == a.base)
		v = (struct value){TARGET, a.base, a.bound};
	else if (b.kind == ENTRY_4 && base_address(p, to) == b.base)
		v = (struct value){TARGET, b.base, b.bound};
	forget_written(p);
	set(p, to, v);
}

static void do_compare(struct pass *p)
{
	const ZydisDecodedOperand *with = &p->operands[1];
	p->compared = (struct subject){.reg = NO_REGISTER};
	if (with->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && with->imm.value.u < MAX_BOUND) {
		p->compared = subject_of(&p->operands[0]);
		p->limit = with->imm.value.u;
	}
}

static void do_branch(struct pass *p)
{
	bool includes = p->i.mnemonic == ZYDIS_MNEMONIC_JNBE || p->i.mnemonic == ZYDIS_MNEMONIC_JBE;
	uint32_t bound = (uint32_t)p->limit + includes;
	if (p->compared.reg == NO_REGISTER)
		return;
	if (p->i.mnemonic == ZYDIS_MNEMONIC_JNBE || p->i.mnemonic == ZYDIS_MNEMONIC_JNB)
		set_bound(p, &p->compared, bound);
	else
		p->ahead[p->n_ahead++ % N_AHEAD] = (struct ahead){
			p->here + (uint64_t)p->i.raw.imm[0].value.s, p->compared, bound};
}

static void do_and(struct pass *p)
{
	uint8_t reg = register_of(&p->operands[0]);
	bool masks = p->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		     p->operands[1].imm.value.u < MAX_BOUND;
	forget_written(p);
	if (masks)
		set(p, reg, (struct value){.bound = (uint32_t)p->operands[1].imm.value.u + 1});
}

/* Returns true if an indirect jump goes through a table. */
static bool find_table(const struct pass *p, struct isa_table *t)
{
	const ZydisDecodedOperand *o = &p->operands[0];
	struct value v = {0};
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
		v = value_of(p, register_of(o));
	else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
		v = load(p, o, 8);
	if (v.kind != TARGET && v.kind != ENTRY_8)
		return false;
	*t = (struct isa_table){.jump = p->here - p->i.length,
				.base = v.base,
				.origin = v.base,
				.n_entries = v.bound,
				.entry_bytes = v.kind == TARGET ? 4 : 8,
				.is_signed = true};
	return true;
}

static void step(struct pass *p)
{
	switch (p->i.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVZX:
		do_mov(p);
		return;
	case ZYDIS_MNEMONIC_LEA:
		do_lea(p);
		return;
	case ZYDIS_MNEMONIC_ADD:
		do_add(p);
		return;
	case ZYDIS_MNEMONIC_CMP:
		do_compare(p);
		return;
	case ZYDIS_MNEMONIC_JNBE:
	case ZYDIS_MNEMONIC_JNB:
	case ZYDIS_MNEMONIC_JBE:
	case ZYDIS_MNEMONIC_JB:
		do_branch(p);
		return;
	case ZYDIS_MNEMONIC_AND:
		do_and(p);
		return;
	case ZYDIS_MNEMONIC_CDQE: /* the entry stays what it is */
	case ZYDIS_MNEMONIC_CALL: /* the registers that it overwrites are not live after it */
		return;
	default:
		forget_written(p);
	}
}

static void apply_ahead(struct pass *p, uint64_t at)
{
	for (unsigned k = 0; k < p->n_ahead && k < N_AHEAD; k++)
		if (p->ahead[k].at == at)
			set_bound(p, &p->ahead[k].subject, p->ahead[k].bound);
}

void x86_find_tables(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
		     bool (*found)(void *arg, const struct isa_table *table), void *arg)
{
	struct pass p = {.compared.reg = NO_REGISTER, .slot.reg = NO_REGISTER};
	ZydisDecoder decoder;
	zydis_start(&decoder, false);
	for (size_t at = 0; at < n_bytes; at += p.i.length) {
		if (!zydis_decode(&decoder, bytes + at, n_bytes - at, &p.i, p.operands))
			return;
		struct isa_table table;
		apply_ahead(&p, link_addr + at);
		p.here = link_addr + at + p.i.length;
		if (p.i.mnemonic == ZYDIS_MNEMONIC_JMP && !p.i.raw.imm[0].is_relative &&
		    find_table(&p, &table) && !found(arg, &table))
			return;
		step(&p);
	}
}
