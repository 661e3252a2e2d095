/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes one pass over the code, in the order of addresses, as x86_table.c does and with its
 * assumption. A table jump adds an entry of a table to an address:
 *
 *	cmp w0, #8; b.hi default; adrp x1, table; add x1, x1, :lo12:table
 *	ldrb w1, [x1, w0, uxtw]; adr x2, origin; add x1, x2, w1, sxtb #2; br x1
 *
 * Entries have 1, 2 or 4 bytes. gcc extends their sign in the addition, clang takes those of 1 and
 * 2 bytes as unsigned. A computed goto loads an address, "ldr x0, [x1, x2, lsl #3]; br x0". See
 * a64.h for the tests.
 */
#include "hpcstruct-lite/isa/a64.h"

enum {
	N_REGISTERS = 32,
	ZERO_REGISTER = 31,
	NO_REGISTER = 255,
	N_AHEAD = 16,
	N_SPILLED = 16,
	MAX_BOUND = 1 << 16,
	NO_SLOT = -1
};

/* GUESS: an address, if the register that it was made from still held its last address. */
enum value_kind { UNKNOWN, ADDRESS, GUESS, ENTRY, TARGET };

struct value {
	enum value_kind kind;
	uint64_t base;   /* ADDRESS, GUESS: itself; else of the table */
	uint64_t origin; /* TARGET */
	uint32_t bound;  /* the register, or the index of the entry, is less; 0: unknown */
	int32_t slot;    /* offset of the stack slot with the same value, or NO_SLOT */
	uint8_t entry_bytes, shift;
	bool is_signed;
};

static const struct value nothing = {.slot = NO_SLOT};

/* The thing that a comparison tests: a register, a slot of the stack frame, or both. */
struct subject {
	uint8_t reg;  /* NO_REGISTER: none */
	int32_t slot; /* NO_SLOT: none */
};

/* A bound that is valid from an address onwards, the target of the jump after a comparison. */
struct ahead {
	uint64_t at;
	struct subject subject;
	uint32_t bound;
};

/* A stack slot with an address, for which the compiler has no register left. */
struct spilled {
	int32_t slot;
	uint64_t base; /* 0: something else is in the slot */
};

struct pass {
	uint64_t here;
	struct value registers[N_REGISTERS];
	/* the address last loaded, even if the register has changed since; 0: none */
	uint64_t last_address[N_REGISTERS];
	struct subject compared;
	uint32_t limit;
	int32_t slot; /* the slot with a known bound, or NO_SLOT */
	uint32_t slot_bound;
	struct ahead ahead[N_AHEAD];
	unsigned n_ahead;
	struct spilled spilled[N_SPILLED];
	unsigned n_spilled;
};

static void set(struct pass *p, unsigned reg, struct value v)
{
	if (reg == ZERO_REGISTER)
		return;
	if (p->compared.reg == reg)
		p->compared.reg = NO_REGISTER;
	p->registers[reg] = v;
	if (v.kind == ADDRESS)
		p->last_address[reg] = v.base;
}

static void set_bound(struct pass *p, const struct subject *s, uint32_t bound)
{
	if (s->reg != NO_REGISTER)
		p->registers[s->reg].bound = bound;
	if (s->slot != NO_SLOT) {
		p->slot = s->slot;
		p->slot_bound = bound;
	}
}

static uint64_t base_address(const struct pass *p, unsigned reg)
{
	const struct value *v = &p->registers[reg];
	return v->kind == ADDRESS || v->kind == GUESS ? v->base : p->last_address[reg];
}

static struct spilled *find_spilled(struct pass *p, int32_t slot)
{
	for (unsigned i = 0; i < p->n_spilled && i < N_SPILLED; i++)
		if (p->spilled[i].slot == slot)
			return &p->spilled[i];
	return NULL;
}

/* Notes what a store of a register leaves in a stack slot. */
static void spill(struct pass *p, int32_t slot, unsigned reg)
{
	const struct value *v = &p->registers[reg];
	uint64_t base = v->kind == ADDRESS && reg != ZERO_REGISTER ? v->base : 0;
	struct spilled *to = find_spilled(p, slot);
	if (!to && base)
		to = &p->spilled[p->n_spilled++ % N_SPILLED];
	if (to)
		*to = (struct spilled){slot, base};
}

/* ADD, SUB, ADDS, SUBS with an immediate. A comparison is a SUBS. */
static void do_add_immediate(struct pass *p, uint32_t word)
{
	unsigned to = word & 31, from = aarch64_bits(word, 5, 5);
	bool subtracts = word >> 30 & 1, sets_flags = word >> 29 & 1;
	uint32_t n = aarch64_bits(word, 10, 12) << (word >> 22 & 1 ? 12 : 0);
	struct value a = p->registers[from], v = nothing;
	struct subject compared = {NO_REGISTER, NO_SLOT};
	if (sets_flags && subtracts && from != ZERO_REGISTER && n < MAX_BOUND) {
		compared.reg = to == from ? NO_REGISTER : (uint8_t)from;
		compared.slot = a.slot;
		p->limit = n;
	}
	if (a.kind == ADDRESS && from != ZERO_REGISTER)
		v = (struct value){.kind = ADDRESS,
				   .base = subtracts ? a.base - n : a.base + n,
				   .slot = NO_SLOT};
	else if (n == 0)
		v = a; /* a copy, as clang writes it without optimisation */
	else if (!subtracts && from != ZERO_REGISTER && p->last_address[from])
		v = (struct value){
			.kind = GUESS, .base = p->last_address[from] + n, .slot = NO_SLOT};
	set(p, to, v);
	if (sets_flags)
		p->compared = compared;
}

/* Adds an entry to an address. `is_signed`: the addition extends the sign of the entry. */
static void do_add(struct pass *p, uint32_t word, bool is_signed, unsigned shift)
{
	unsigned a = aarch64_bits(word, 5, 5), b = aarch64_bits(word, 16, 5);
	struct value entry = p->registers[b];
	if (entry.kind != ENTRY && shift == 0) { /* either may be the entry */
		unsigned other = a;
		a = b;
		b = other;
		entry = p->registers[b];
	}
	struct value v = nothing;
	uint64_t origin = base_address(p, a);
	if (entry.kind == ENTRY && entry.entry_bytes < 8 && origin) {
		v = entry;
		v.kind = TARGET;
		v.origin = origin;
		v.shift = (uint8_t)shift;
		v.is_signed |= is_signed;
	}
	set(p, word & 31, v);
}

/* Loads from a register plus an index: an entry of a table if the register is an address. */
static void do_load(struct pass *p, uint32_t word)
{
	unsigned size = word >> 30, opc = aarch64_bits(word, 22, 2);
	unsigned base = aarch64_bits(word, 5, 5), index = aarch64_bits(word, 16, 5);
	bool is_scaled = word >> 12 & 1 || size == 0;
	struct value v = nothing;
	if (opc == 0 || (size == 3 && opc == 2))
		return; /* a store, or a prefetch */
	if (is_scaled && base_address(p, base))
		v = (struct value){.kind = ENTRY,
				   .base = base_address(p, base),
				   .bound = p->registers[index].bound,
				   .slot = NO_SLOT,
				   .entry_bytes = (uint8_t)(1u << size),
				   .is_signed = opc >= 2};
	set(p, word & 31, v);
}

static int32_t slot_of(uint32_t word, int32_t offset)
{
	unsigned base = aarch64_bits(word, 5, 5);
	return base == 31 ? offset : base == 29 ? (1 << 20) + offset : NO_SLOT;
}

/* Loads and stores of a stack slot: an offset from the stack pointer or the frame pointer. */
static void do_slot(struct pass *p, uint32_t word, int32_t offset)
{
	unsigned reg = word & 31;
	int32_t slot = slot_of(word, offset);
	if (aarch64_bits(word, 22, 2) != 0) {
		struct value v = {.bound = slot != NO_SLOT && slot == p->slot ? p->slot_bound : 0,
				  .slot = slot};
		const struct spilled *spilled = find_spilled(p, slot);
		if (slot != NO_SLOT && word >> 30 == 3 && spilled && spilled->base) {
			v.kind = ADDRESS;
			v.base = spilled->base;
		}
		set(p, reg, v);
		return;
	}
	if (slot == NO_SLOT)
		return;
	spill(p, slot, reg);
	for (unsigned i = 0; i < N_REGISTERS; i++)
		if (p->registers[i].slot == slot)
			p->registers[i].slot = NO_SLOT;
	if (p->compared.slot == slot)
		p->compared.slot = NO_SLOT;
	p->slot = slot == p->slot ? NO_SLOT : p->slot;
	if (reg != ZERO_REGISTER)
		p->registers[reg].slot = slot;
}

static void do_branch(struct pass *p, uint32_t word)
{
	enum { HS = 2, LO = 3, HI = 8, LS = 9 };
	unsigned condition = word & 15;
	uint32_t bound = p->limit + (condition == HI || condition == LS);
	if (condition == HI || condition == HS)
		set_bound(p, &p->compared, bound);
	else if (condition == LS || condition == LO)
		p->ahead[p->n_ahead++ % N_AHEAD] = (struct ahead){
			p->here + (uint64_t)aarch64_signed(word, 5, 19) * 4, p->compared, bound};
}

/* AND with an immediate whose ones are its lowest bits, which limits the value. */
static void do_and(struct pass *p, uint32_t word)
{
	bool is_low = aarch64_bits(word, 16, 6) == 0 &&
		      (word >> 22 & 1 || aarch64_bits(word, 15, 1) == 0);
	unsigned n_ones = aarch64_bits(word, 10, 6) + 1;
	struct value v = nothing;
	if (is_low && n_ones <= 16)
		v.bound = UINT32_C(1) << n_ones;
	set(p, word & 31, v);
}

/* Forgets what other loads of general registers write, and notes what STP spills. */
static void do_other_memory(struct pass *p, uint32_t word)
{
	bool is_pair = (word & 0x3a000000) == 0x28000000,
	     is_literal = (word & 0x3b000000) == 0x18000000,
	     loads = is_literal || aarch64_bits(word, 22, is_pair ? 1 : 2) != 0;
	if ((word & 0xffc00000) == 0xa9000000) { /* STP of 64-bit registers */
		int32_t slot = slot_of(word, (int32_t)aarch64_signed(word, 15, 7) * 8);
		for (unsigned i = 0; i < 2 && slot != NO_SLOT; i++)
			spill(p, slot + 8 * (int32_t)i, aarch64_bits(word, i ? 10 : 0, 5));
	}
	if (!loads || word >> 26 & 1)
		return;
	set(p, word & 31, nothing);
	if (is_pair)
		set(p, aarch64_bits(word, 10, 5), nothing);
}

/* Forgets what an instruction writes that has no meaning for a table jump. */
static void do_other(struct pass *p, uint32_t word)
{
	unsigned group = aarch64_bits(word, 25, 4);
	if ((group & 5) == 4)
		do_other_memory(p, word);
	else if (group >> 1 == 4 || (group & 7) == 5) /* immediates, registers */
		set(p, word & 31, nothing);
}

/* True if the instruction sets the flags, other than a SUBS with an immediate. */
static bool sets_flags(uint32_t word)
{
	return (word & 0x7f000000) == 0x6b000000 || (word & 0x7f000000) == 0x2b000000 ||
	       (word & 0x7f800000) == 0x72000000 || (word & 0x7f000000) == 0x6a000000 ||
	       (word & 0x3fa00000) == 0x3a000000 || (word & 0xff20fc07) == 0x1e202000 ||
	       (word & 0xff200c00) == 0x1e200400;
}

static void step(struct pass *p, uint32_t word)
{
	unsigned size = word >> 30;
	if (sets_flags(word))
		p->compared = (struct subject){NO_REGISTER, NO_SLOT};
	if (aarch64_is_adr(word))
		set(p, word & 31,
		    (struct value){
			    .kind = ADDRESS, .base = aarch64_adr(word, p->here), .slot = NO_SLOT});
	else if ((word & 0x1f800000) == 0x11000000)
		do_add_immediate(p, word);
	else if ((word & 0xffe00000) == 0x8b200000) /* ADD of a register that is extended */
		do_add(p, word, word >> 15 & 1, aarch64_bits(word, 10, 3));
	else if ((word & 0xffe00000) == 0x8b000000) /* ADD of a register that is shifted left */
		do_add(p, word, false, aarch64_bits(word, 10, 6));
	else if ((word & 0x3f200c00) == 0x38200800)
		do_load(p, word);
	else if ((word & 0x3f000000) == 0x39000000)
		do_slot(p, word, (int32_t)aarch64_bits(word, 10, 12) << size);
	else if ((word & 0x3f200c00) == 0x38000000)
		do_slot(p, word, (int32_t)aarch64_signed(word, 12, 9));
	else if ((word & 0x7fe0ffe0) == 0x2a0003e0) /* MOV of a register */
		set(p, word & 31, p->registers[aarch64_bits(word, 16, 5)]);
	else if ((word & 0x7f800000) == 0x12000000)
		do_and(p, word);
	else if (word >> 24 == 0x54)
		do_branch(p, word);
	else
		do_other(p, word);
}

void aarch64_find_tables(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
			 bool (*found)(void *arg, const struct isa_table *table), void *arg)
{
	struct pass p = {.compared = {NO_REGISTER, NO_SLOT}, .slot = NO_SLOT};
	for (unsigned i = 0; i < N_REGISTERS; i++)
		p.registers[i] = nothing;
	for (size_t at = 0; at + 4 <= n_bytes; at += 4) {
		uint32_t word = aarch64_word(bytes + at);
		p.here = link_addr + at;
		for (unsigned k = 0; k < p.n_ahead && k < N_AHEAD; k++)
			if (p.ahead[k].at == p.here)
				set_bound(&p, &p.ahead[k].subject, p.ahead[k].bound);
		const struct value *v = &p.registers[aarch64_bits(word, 5, 5)];
		bool is_jump = (word & 0xfffffc1f) == 0xd61f0000 &&
			       (v->kind == TARGET || (v->kind == ENTRY && v->entry_bytes == 8));
		const struct isa_table t = {p.here,         v->base,  v->origin,   v->bound,
					    v->entry_bytes, v->shift, v->is_signed};
		if (is_jump && !found(arg, &t))
			return;
		step(&p, word);
	}
}
