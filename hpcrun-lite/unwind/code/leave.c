/* SPDX-License-Identifier: BSD-3-Clause */
/* See leave.h. Follows one way at a time and keeps the other side of each branch for later. */
#include "hpcrun-lite/unwind/code/leave.h"

#include "hpcrun-lite/unwind/code/insn.h"

#include <string.h>

enum { BP = MACHINE_BP, SP = MACHINE_SP, N_REGS = MACHINE_PC, WORD = 8 };

static bool is_kept(unsigned r)
{
	return r == SP || (ARCH_CALLEE_SAVED >> r & 1);
}

static bool is_equal(const struct leave_value *a, const struct leave_value *b)
{
	return a->kind == b->kind && a->reg == b->reg && a->at == b->at && a->offset == b->offset;
}

static struct leave_value plus(struct leave_value v, int64_t n)
{
	const int64_t sum = v.offset + n;
	if (v.kind == LEAVE_LOAD_TWO || v.kind == LEAVE_UNKNOWN || sum != (int32_t)sum)
		return (struct leave_value){.kind = LEAVE_UNKNOWN};
	v.offset = (int32_t)sum;
	return v;
}

/* ---- the stack ---- */

/*
 * Returns true if the word existed at the beginning. Below the stack pointer of the beginning there
 * was nothing yet.
 */
static bool was_there(const struct leave_value *address)
{
	return address->kind == LEAVE_LOAD ||
	       (address->kind == LEAVE_REG && address->reg != LEAVE_ELSEWHERE &&
		(address->reg != SP || address->offset >= 0));
}

static struct leave_value load(const struct leave_state *s, struct leave_value address)
{
	for (unsigned i = s->n_stores; i-- > 0;)
		if (is_equal(&s->store[i].to, &address))
			return s->store[i].value;
	if (!was_there(&address))
		return (struct leave_value){.kind = LEAVE_UNKNOWN};
	if (address.kind == LEAVE_REG)
		return (struct leave_value){
			.kind = LEAVE_LOAD, .reg = address.reg, .at = address.offset};
	address.kind = LEAVE_LOAD_TWO;
	return address;
}

/*
 * Keeps a value that the code may load again before the return. If there is no room, a later load
 * gives LEAVE_UNKNOWN or, above the stack pointer of the beginning, the old value.
 */
static void store(struct leave_state *s, struct leave_value address, struct leave_value value)
{
	unsigned i = 0;
	while (i < s->n_stores && !is_equal(&s->store[i].to, &address))
		i++;
	if (address.kind == LEAVE_UNKNOWN || i == LEAVE_STORES ||
	    (i == s->n_stores && value.kind != LEAVE_REG))
		return;
	s->store[i] = (struct leave_store){address, value};
	s->n_stores += i == s->n_stores;
}

static void push(struct leave_state *s, struct leave_value value)
{
	s->reg[SP] = plus(s->reg[SP], -WORD);
	store(s, s->reg[SP], value);
	s->n_pushed++;
}

static struct leave_value pop(struct leave_state *s)
{
	const struct leave_value value = load(s, s->reg[SP]);
	s->reg[SP] = plus(s->reg[SP], WORD);
	s->n_pushed -= s->n_pushed > 0;
	return value;
}

/* The stack pointer is somewhere else now. Only stores say what the memory there contains. */
static void go_elsewhere(struct leave_state *s)
{
	for (unsigned i = 0; i < s->n_stores;)
		if (s->store[i].to.reg == LEAVE_ELSEWHERE)
			s->store[i] = s->store[--s->n_stores];
		else
			i++;
	for (unsigned r = 0; r < N_REGS; r++)
		if (s->reg[r].kind != LEAVE_UNKNOWN && s->reg[r].reg == LEAVE_ELSEWHERE)
			s->reg[r].kind = LEAVE_UNKNOWN;
	s->reg[SP] = (struct leave_value){.kind = LEAVE_REG, .reg = LEAVE_ELSEWHERE};
}

/* ---- one instruction ---- */

static void forget_registers(struct leave_state *s)
{
	for (unsigned r = 0; r < N_REGS; r++)
		if (!is_kept(r))
			s->reg[r].kind = LEAVE_UNKNOWN;
}

static void set(struct leave_state *s, unsigned r, struct leave_value value)
{
	if (r == SP)
		s->n_pushed = 0;
	if (r == SP && value.kind == LEAVE_UNKNOWN)
		go_elsewhere(s);
	else
		s->reg[r] = value;
}

static void set_one(struct leave_state *s, uint8_t reg, struct leave_value value)
{
	if (reg != INSN_NO_REG)
		set(s, reg, value);
}

static void execute_load(struct leave_state *s, const struct insn *i)
{
	const struct leave_value base = s->reg[i->from], at = plus(base, i->value);
	set_one(s, i->to, load(s, at));
	set_one(s, i->second, load(s, plus(at, WORD)));
	if (i->after)
		set(s, i->from, plus(base, i->after));
}

static void store_one(struct leave_state *s, struct leave_value at, uint8_t reg)
{
	if (reg != INSN_NO_REG)
		store(s, at, s->reg[reg]);
}

static void execute_store(struct leave_state *s, const struct insn *i)
{
	const struct leave_value base = s->reg[i->to], at = plus(base, i->value);
	store_one(s, at, i->from);
	store_one(s, plus(at, WORD), i->second);
	if (i->after)
		set(s, i->to, plus(base, i->after));
}

/* Executes an instruction that does not change the flow of control. */
static void execute(struct leave_state *s, const struct insn *i)
{
	const struct leave_value unknown = {.kind = LEAVE_UNKNOWN};
	struct leave_value value;
	switch ((enum insn_kind)i->kind) {
	case INSN_PUSH: push(s, i->from == INSN_NO_REG ? unknown : s->reg[i->from]); break;
	case INSN_POP:
		value = pop(s);
		if (i->to != INSN_NO_REG)
			set(s, i->to, value);
		break;
	case INSN_ADD: set(s, i->to, plus(s->reg[i->to], i->value)); break;
	case INSN_ALIGN: set(s, i->to, unknown); break;
	case INSN_MOVE: set(s, i->to, plus(s->reg[i->from], i->value)); break;
	case INSN_LOAD: execute_load(s, i); break;
	case INSN_STORE: execute_store(s, i); break;
	case INSN_SET:
		set_one(s, i->to, unknown);
		set_one(s, i->from, unknown);
		set_one(s, i->second, unknown);
		break;
	case INSN_LEAVE:
		s->reg[SP] = s->reg[BP];
		s->n_pushed = 0;
		s->reg[BP] = pop(s);
		break;
	case INSN_CALL: forget_registers(s); break;
	default: break;
	}
}

/* ---- ways ---- */

struct search {
	struct leave_code code;
	struct leave_work *work;
	struct leave *leave;
	unsigned n_ways, n_taken;
	uint64_t straight_pc; /* after the last instruction */
	bool is_same; /* the way has gone straight on, with sp and bp as at the beginning */
};

/* Returns true the first time, as long as there is room. */
static bool take(struct search *f, uint64_t from)
{
	struct leave_work *w = f->work;
	for (unsigned i = 0; i < f->n_taken; i++)
		if (w->taken[i] == from)
			return false;
	if (f->n_taken == sizeof w->taken / sizeof *w->taken)
		return false;
	w->taken[f->n_taken++] = from;
	return true;
}

/* Keeps the other side of the branch at `from`, once. */
static void keep_way(struct search *f, uint64_t from, uint64_t to)
{
	struct leave_work *w = f->work;
	if (f->n_ways == LEAVE_WAYS || !take(f, from))
		return;
	w->way[f->n_ways] = w->now;
	w->way[f->n_ways++].pc = to;
}

static bool next_way(struct search *f)
{
	if (f->n_ways == 0)
		return false;
	f->work->now = f->work->way[--f->n_ways];
	return true;
}

/*
 * Sets where the return address is. It is on top of the stack, or in a register: then it must come
 * from the stack or still be where the call left it.
 */
static bool find_return(const struct leave_state *s, struct leave *leave)
{
	const struct leave_value *ra = &s->reg[ARCH_LR];
	if (!ARCH_RETURN_BITS) {
		leave->cfa = plus(s->reg[SP], WORD);
		return leave->cfa.kind != LEAVE_UNKNOWN;
	}
	leave->cfa = s->reg[SP];
	leave->ra = *ra;
	return (ra->kind == LEAVE_LOAD && ra->offset == 0) ||
	       (ra->kind == LEAVE_REG && ra->reg == ARCH_LR && ra->offset == 0);
}

/*
 * Returns true if the stack pointer is where the caller's call left it. If the way itself pushed
 * the word, the return is a jump to that word.
 */
static bool is_at_return(const struct leave_state *s, struct leave *leave)
{
	const struct leave_value *sp = &s->reg[SP], *bp = &s->reg[BP];
	if (s->n_pushed || sp->reg == LEAVE_ELSEWHERE || bp->kind == LEAVE_UNKNOWN ||
	    (sp->kind != LEAVE_REG && sp->kind != LEAVE_LOAD) ||
	    (sp->kind == LEAVE_REG && sp->reg == SP && sp->offset < 0))
		return false;
	leave->bp = *bp;
	return find_return(s, leave);
}

/*
 * Returns true if another function begins here, because the call before it does not return. A
 * function begins with a frame, or at an aligned address after a gap. A loop may look like that,
 * too; then another way must be found.
 */
static bool is_next_function(const struct leave_state *s, const struct insn *i)
{
	enum { ALIGNMENT = 16 };
	const bool is_aligned = s->pc % ALIGNMENT == 0;
	switch ((enum insn_kind)i->kind) {
	case INSN_NOP: return false;
	case INSN_ENTRY: return true;
	case INSN_PUSH:
		if (i->from == BP || (is_aligned && i->from != INSN_NO_REG && is_kept(i->from)))
			return true;
		break;
	case INSN_ADD:
		if (is_aligned && i->to == SP && i->value < 0)
			return true;
		break;
	default: break;
	}
	return is_aligned && s->after_gap;
}

/* Returns the registers that are as at the beginning. 0: sp, bp or a saved value is not. */
static uint32_t kept_registers(const struct leave_state *s)
{
	unsigned kept = 0;
	if (s->n_stores)
		return 0;
	for (unsigned r = 0; r < N_REGS; r++)
		kept |= (unsigned)(s->reg[r].kind == LEAVE_REG && s->reg[r].reg == r &&
				   s->reg[r].offset == 0)
			<< r;
	return kept >> SP & kept >> BP & 1 ? kept : 0;
}

/* Returns true if the way out from here is known and is the same as from the beginning. */
static bool pass_branch(struct search *f, uint64_t pc)
{
	struct leave *l = f->leave;
	const uint32_t kept = kept_registers(&f->work->now);
	uint32_t needs;
	if (!kept)
		return false;
	l->known = f->code.known ? f->code.known(f->code.arg, pc, &needs) : 0;
	if (l->known && !(needs & ~kept))
		return true;
	l->known = 0;
	for (unsigned i = 0; i < l->n_passed; i++)
		if (l->passed[i] == pc)
			return false;
	if (l->n_passed < LEAVE_PASSED) {
		l->passed[l->n_passed] = pc;
		l->kept[l->n_passed++] = kept;
	}
	return false;
}

enum outcome { WAY_GOES_ON, WAY_ENDS, WAY_RETURNS };

static bool is_in_window(const struct leave_code *code, uint64_t pc)
{
	return pc >= code->lo && pc < code->hi;
}

static bool decode(struct search *f, uint64_t pc, struct insn *i)
{
	struct leave_code *code = &f->code;
	if (code->more && (!is_in_window(code, pc) || code->hi - pc < INSN_MAX_BYTES) &&
	    !code->more(code, pc))
		return false;
	if (!is_in_window(code, pc))
		return false;
	const uint64_t left = code->hi - pc;
	const uint8_t *at = code->more ? code->bytes + (pc - code->lo) : (const uint8_t *)pc;
	return insn_decode(at, left < INSN_MAX_BYTES ? left : INSN_MAX_BYTES, pc, i);
}

/* Records that the n_bytes of code at pc were examined. A run may include a short gap. */
static void note_run(struct leave *l, uint64_t pc, size_t n_bytes)
{
	enum { GAP_MAX = 512 };
	const unsigned n = l->n_runs < LEAVE_RUNS ? l->n_runs : LEAVE_RUNS;
	for (unsigned i = n; i-- > 0;) {
		struct leave_run *run = &l->run[i];
		if (pc + GAP_MAX >= run->lo && pc <= run->hi + GAP_MAX) {
			run->lo = pc < run->lo ? pc : run->lo;
			run->hi = pc + n_bytes > run->hi ? pc + n_bytes : run->hi;
			return;
		}
	}
	if (n < LEAVE_RUNS)
		l->run[n] = (struct leave_run){pc, pc + n_bytes};
	l->n_runs = n + 1;
}

/* Extends same_hi while the way goes straight on. */
static void note_same(struct search *f)
{
	const struct leave_state *s = &f->work->now;
	struct leave *l = f->leave;
	const struct leave_value *sp = &s->reg[SP], *bp = &s->reg[BP];
	f->is_same = f->is_same && s->pc == f->straight_pc &&
		     sp->kind == LEAVE_REG && sp->reg == SP && sp->offset == 0 &&
		     bp->kind == LEAVE_REG && bp->reg == BP && bp->offset == 0;
	if (f->is_same)
		l->same_hi = s->pc;
}

/*
 * The end of a straight way. A jump leaves the function only if the return address was loaded
 * before it.
 */
static enum outcome end_straight(const struct search *f, const struct insn *i)
{
	struct leave *l = f->leave;
	const bool is_jump = i->kind == INSN_END || i->kind == INSN_JUMP_SLOT ||
			     (i->kind == INSN_JUMP && !is_in_window(&f->code, (uint64_t)i->value));
	if ((i->kind != INSN_RETURN && !is_jump) || !is_at_return(&f->work->now, l))
		return WAY_ENDS;
	return i->kind == INSN_RETURN || f->code.has_restored || l->ra.kind == LEAVE_LOAD
		       ? WAY_RETURNS
		       : WAY_ENDS;
}

static bool is_flow(const struct insn *i)
{
	switch ((enum insn_kind)i->kind) {
	case INSN_CALL:
	case INSN_RETURN:
	case INSN_JUMP:
	case INSN_BRANCH:
	case INSN_JUMP_SLOT:
	case INSN_END: return true;
	default: return false;
	}
}

static enum outcome step(struct search *f)
{
	struct leave_state *s = &f->work->now;
	const uint64_t pc = s->pc;
	struct insn i;
	if (!decode(f, pc, &i))
		return WAY_ENDS;
	if (f->code.more)
		note_run(f->leave, pc, i.n_bytes);
	if (s->after_call && is_next_function(s, &i))
		return WAY_ENDS;
	if (f->code.is_straight && is_flow(&i))
		return end_straight(f, &i);
	s->pc = f->straight_pc = pc + i.n_bytes;
	s->after_gap = s->after_call && i.kind == INSN_NOP;
	s->after_call = i.kind == INSN_CALL || s->after_gap;
	switch ((enum insn_kind)i.kind) {
	case INSN_RETURN:
	case INSN_JUMP_SLOT: return is_at_return(s, f->leave) ? WAY_RETURNS : WAY_ENDS;
	case INSN_JUMP:
		if (s->pc == (uint64_t)i.value)
			return WAY_GOES_ON;
		s->pc = (uint64_t)i.value;
		/* The second time the jump closes a loop, and only a branch can leave a loop. */
		return s->pc > pc || take(f, pc) ? WAY_GOES_ON : WAY_ENDS;
	case INSN_BRANCH:
		if (pass_branch(f, pc))
			return WAY_RETURNS;
		keep_way(f, pc, (uint64_t)i.value);
		return WAY_GOES_ON;
	case INSN_END: return WAY_ENDS;
	default: execute(s, &i); return WAY_GOES_ON;
	}
}

static void begin(struct leave_state *s, uint64_t pc, bool is_exact)
{
	s->pc = pc;
	s->after_call = !is_exact;
	s->after_gap = false;
	s->n_stores = 0;
	s->n_pushed = 0;
	for (unsigned r = 0; r < N_REGS; r++)
		s->reg[r] = (struct leave_value){.kind = is_exact || is_kept(r) ? LEAVE_REG
										: LEAVE_UNKNOWN,
						 .reg = (uint8_t)r};
}

bool leave_find(const struct leave_code *code, uint64_t pc, bool is_exact, struct leave_work *work,
		struct leave *leave)
{
	struct search f = {.code = *code, .work = work, .leave = leave, .is_same = true};
	const unsigned n_max = code->insns_max ? code->insns_max : LEAVE_INSNS_MAX;
	leave->n_passed = leave->n_runs = 0;
	leave->known = 0;
	leave->same_hi = pc;
	begin(&work->now, pc, is_exact);
	for (leave->n_insns = 0; leave->n_insns < n_max; leave->n_insns++) {
		const enum outcome outcome = step(&f);
		if (outcome == WAY_RETURNS)
			return true;
		if (outcome == WAY_ENDS && !next_way(&f))
			return false;
		if (f.is_same && f.code.more)
			note_same(&f);
	}
	return false;
}

/* ---- the edges of a frame ---- */

enum { EDGE_INSNS = 24 };

/* Follows the code from the last branch or call before pc. Returns false if it cannot be read. */
static bool follow_to(const struct leave_code *code, uint64_t pc, struct leave_state *s)
{
	struct insn i;
	uint64_t from = pc;
	for (unsigned n = 0; n < EDGE_INSNS && from - code->lo >= INSN_MAX_BYTES; n++) {
		const uint64_t before = from - INSN_MAX_BYTES;
		if (!insn_decode((const uint8_t *)before, INSN_MAX_BYTES, before, &i))
			return false;
		if (is_flow(&i))
			break;
		from = before;
	}
	begin(s, from, true);
	for (; s->pc < pc; s->pc += i.n_bytes) {
		if (!insn_decode((const uint8_t *)s->pc, INSN_MAX_BYTES, s->pc, &i))
			return false;
		execute(s, &i);
	}
	return true;
}

/* Where the way has stored the value that a register had, from the present stack pointer. */
static bool find_stored(const struct leave_state *s, uint8_t reg, struct leave_value *at)
{
	const struct leave_value value = {.kind = LEAVE_REG, .reg = reg};
	for (unsigned i = 0; i < s->n_stores; i++) {
		const struct leave_value *to = &s->store[i].to;
		if (is_equal(&s->store[i].value, &value) && to->kind == LEAVE_REG &&
		    to->reg == SP) {
			*at = (struct leave_value){.kind = LEAVE_LOAD,
						   .reg = SP,
						   .at = to->offset - s->reg[SP].offset};
			return true;
		}
	}
	*at = value;
	return is_equal(&s->reg[reg], &value);
}

bool leave_edge(const struct leave_code *code, uint64_t pc, bool is_bare, struct leave_work *work,
		struct leave *leave)
{
	struct leave_state *s = &work->now;
	struct leave_code ahead = *code;
	if (!follow_to(code, pc, s))
		return false;
	const struct leave_value sp = s->reg[SP];
	const bool is_known = sp.kind == LEAVE_REG && sp.reg == SP && sp.offset <= 0,
		   found = is_known && find_stored(s, BP, &leave->bp) &&
			   find_stored(s, ARCH_LR, &leave->ra);
	ahead.is_straight = true;
	ahead.has_restored = s->reg[ARCH_LR].kind == LEAVE_LOAD;
	ahead.insns_max = EDGE_INSNS;
	struct leave_value bp = leave->bp, ra = leave->ra;
	if (leave_find(&ahead, pc, true, work, leave))
		return true;
	leave->cfa = (struct leave_value){.kind = LEAVE_REG, .reg = SP, .offset = -sp.offset};
	leave->bp = bp;
	leave->ra = ra;
	return is_bare && found;
}
