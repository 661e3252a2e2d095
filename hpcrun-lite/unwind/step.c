/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow step: one frame by its CFI, with all registers and expressions. The fast walk keeps pc,
 * sp and bp only. If a frame needs more, the other registers are carried to it from the leaf. Must
 * not recurse or use more than a few hundred bytes of stack. Tests:
 * tests/workload/unwind/unwind_steps.c,
 * tests/unit/unwind/test_unwind_cfi.c.
 */
#include "hpcrun-lite/unwind/internal.h"

#include <string.h>

static enum step_status of_expr(enum expr_status status)
{
	return status == EXPR_OK ? STEP_OK : status == EXPR_BAD ? STEP_BAD_CFI : STEP_UNREADABLE;
}

static enum step_status evaluate(struct unwind_thread *t, const struct cfi_rule *rule,
				 const uint64_t *cfa, uint64_t *value)
{
	return of_expr(expr_evaluate(rule->expression, rule->n_bytes, &t->regs, cfa, &t->mem,
				     t->expr_stack, value));
}

static enum step_status find_cfa(struct unwind_thread *t, const struct cfi_rule *rule,
				 uint64_t *cfa)
{
	if (rule->kind == CFI_EXPRESSION)
		return evaluate(t, rule, NULL, cfa);
	if (!(t->regs.known >> rule->reg & 1))
		return STEP_BAD_CFI;
	*cfa = t->regs.reg[rule->reg] + (uint64_t)rule->value;
	return STEP_OK;
}

/* Computes the caller's register r. Sets *known if it has a value. */
static enum step_status apply_rule(struct unwind_thread *t, unsigned r, bool keeps_all,
				   uint64_t cfa, uint64_t *value, bool *known)
{
	const struct cfi_rule *rule = &t->cfi.row.reg[r];
	uint64_t address = cfa + (uint64_t)rule->value;
	enum step_status status = STEP_OK;
	*known = true;
	switch (rule->kind) {
	case CFI_SAME:
		*value = t->regs.reg[r];
		*known = (t->regs.known >> r & 1) &&
			 (keeps_all || rule->given || (ARCH_CALLEE_SAVED >> r & 1));
		return STEP_OK;
	case CFI_UNDEFINED: *known = false; return STEP_OK;
	case CFI_REGISTER:
		*value = t->regs.reg[rule->reg];
		*known = t->regs.known >> rule->reg & 1;
		return STEP_OK;
	case CFI_VAL_OFFSET: *value = address; return STEP_OK;
	case CFI_VAL_EXPRESSION: return evaluate(t, rule, &cfa, value);
	case CFI_EXPRESSION: status = evaluate(t, rule, &cfa, &address); break;
	default: break;
	}
	if (status == STEP_OK && !mem_load(&t->mem, address, value))
		return STEP_UNREADABLE;
	return status;
}

static enum step_status find_row(struct unwind_thread *t, uint64_t key, struct cfi_frame *frame)
{
	if (!image_find(key, false, &t->image))
		return STEP_NO_MODULE;
	switch (cfi_lookup(&t->image.cfi, key, &t->cfi, frame)) {
	case CFI_OK: return STEP_OK;
	case CFI_NONE: return STEP_NO_CFI;
	default: return STEP_BAD_CFI;
	}
}

enum step_status step_regs(struct unwind_thread *t, bool *exact)
{
	struct cfi_frame frame;
	uint64_t cfa;
	enum step_status status = find_row(t, t->regs.reg[ARCH_PC] - !*exact, &frame);
	if (status != STEP_OK)
		return status;
	if (t->cfi.row.reg[frame.return_column].kind == CFI_UNDEFINED)
		return STEP_ROOT;
	if ((status = find_cfa(t, &t->cfi.row.cfa, &cfa)) != STEP_OK)
		return status;
	t->next.known = 0;
	for (unsigned r = 0; r < CFI_N_REGS; r++) {
		bool known;
		if ((status = apply_rule(t, r, frame.signal, cfa, &t->next.reg[r], &known)) !=
		    STEP_OK)
			return status;
		t->next.known |= (uint64_t)known << r;
	}
	if (!t->cfi.row.reg[ARCH_SP].given)
		t->next.reg[ARCH_SP] = cfa;
	const unsigned column = frame.return_column;
	const bool is_same = t->cfi.row.reg[column].kind == CFI_SAME;
	/* An interrupted function may not have saved its return address yet. */
	const struct regs *has = is_same && ARCH_RETURN_BITS && *exact ? &t->regs : &t->next;
	t->next.reg[ARCH_PC] = arch_strip(has->reg[column]);
	if ((is_same && has == &t->next) || !(has->known >> column & 1))
		return STEP_BAD_CFI;
	t->next.known |= UINT64_C(1) << ARCH_SP | UINT64_C(1) << ARCH_PC;
	t->regs = t->next;
	*exact = frame.signal;
	return STEP_OK;
}

static bool is_at(const struct regs *regs, const struct record *r)
{
	return regs->reg[ARCH_PC] == r->pc && regs->reg[ARCH_SP] == r->sp;
}

/* Carries the registers from the frame where they are known to the last record. */
static enum step_status carry(struct walk *w)
{
	struct unwind_thread *t = w->thread;
	const uint32_t last = w->n_records - 1;
	if (t->regs_at > last) {
		t->regs = t->leaf;
		t->regs_at = 0;
	}
	for (uint32_t i = last; i > t->regs_at; i--) {
		if (t->records[i - 1].signal) {
			if (!arch_regs_from_signal_frame(&t->regs, &t->mem, t->records[i - 1].sp))
				return STEP_UNREADABLE;
			t->regs_at = i;
		}
	}
	while (t->regs_at < last) {
		bool exact = t->records[t->regs_at].exact;
		const struct record *to = &t->records[t->regs_at + 1];
		t->counts.slow_frames++;
		if (step_regs(t, &exact) != STEP_OK || !is_at(&t->regs, to)) {
			/* A heuristic found this frame: only pc, sp and bp are known. */
			t->regs.reg[ARCH_PC] = to->pc;
			t->regs.reg[ARCH_SP] = to->sp;
			t->regs.reg[ARCH_BP] = to->bp;
			t->regs.known = UINT64_C(1) << ARCH_PC | UINT64_C(1) << ARCH_SP |
					UINT64_C(1) << ARCH_BP;
		}
		t->regs_at++;
	}
	return STEP_OK;
}

enum step_status step_slow(struct walk *w, struct state *next)
{
	struct unwind_thread *t = w->thread;
	bool exact = w->state.exact;
	enum step_status status = carry(w);
	if (status == STEP_OK) {
		t->counts.slow_frames++;
		status = step_regs(t, &exact);
	}
	if (status != STEP_OK)
		return status;
	t->regs_at = w->n_records;
	*next = (struct state){.pc = t->regs.reg[ARCH_PC],
			       .sp = t->regs.reg[ARCH_SP],
			       .bp = t->regs.reg[ARCH_BP],
			       .exact = exact};
	return STEP_OK;
}

enum step_status step_leaf(struct walk *w, uint64_t recipe, struct state *next)
{
	struct unwind_thread *t = w->thread;
	const struct record *r = &t->records[w->n_records - 1];
	uint64_t pc;
	uint64_t sp = w->state.sp + (uint64_t)recipe_cfa_offset(recipe);
	if (r == t->records) {
		pc = t->leaf.reg[ARCH_LR];
		sp += arch_added_to_sp(&t->leaf);
	} else if (!ARCH_RETURN_BITS || !r[-1].signal)
		return STEP_BAD_CFI;
	else if (!mem_load(&t->mem, r[-1].sp + ARCH_SIGNAL_LR, &pc))
		return STEP_UNREADABLE;
	*next = (struct state){.pc = arch_strip(pc), .sp = sp, .bp = w->state.bp};
	return STEP_OK;
}

enum step_status step_code(struct walk *w, uint64_t recipe, struct state *next)
{
	struct unwind_thread *t = w->thread;
	const struct recipe_reg by = recipe_reg(recipe);
	const enum step_status status = carry(w);
	if (status != STEP_OK)
		return status;
	if (!(t->regs.known >> by.reg & 1))
		return STEP_NO_CFI;
	uint64_t cfa = t->regs.reg[by.reg] + (uint64_t)by.offset;
	const bool is_deref = recipe_kind(recipe) == RECIPE_DEREF_REG;
	if (is_deref && cfa < w->state.sp)
		return STEP_NO_CFI; /* the code has not yet saved it */
	if (is_deref && !mem_load(&t->mem, cfa, &cfa))
		return STEP_UNREADABLE;
	cfa += (uint64_t)by.then;
	*next = (struct state){.sp = cfa, .bp = w->state.bp};
	const uint64_t of[] = {[RECIPE_BP_SAME] = cfa,
			       [RECIPE_BP_AT_CFA] = cfa,
			       [RECIPE_BP_AT_BP] = w->state.bp,
			       [RECIPE_BP_AT_SP] = w->state.sp};
	const uint64_t bp_slot = of[recipe_bp(recipe)] + (uint64_t)recipe_bp_offset(recipe);
	if (!mem_load(&t->mem, cfa - 8, &next->pc) ||
	    (recipe_bp(recipe) != RECIPE_BP_SAME && !mem_load(&t->mem, bp_slot, &next->bp)))
		return STEP_UNREADABLE;
	return STEP_OK;
}
