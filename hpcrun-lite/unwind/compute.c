/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the recipe of a pc from the tables of its module (.eh_frame or Go's own), or else from
 * its code. Tables and code that may not be mapped are read only with guarded loads. Tests:
 * tests/unit/unwind/test_unwind.c, tests/unit/unwind/test_unwind_go.c,
 * tests/unit/unwind/test_unwind_odd.c.
 */
#include "hpcrun-lite/unwind/go.h"
#include "hpcrun-lite/unwind/internal.h"

#include <sys/auxv.h>

static uint64_t recipe_flags(struct walk *w, uint64_t key, uint64_t recipe)
{
	const bool guess = w->bypass && w->mark;
	bool in_text;
	if (key >= unwind_config.skip_lo && key < unwind_config.skip_hi)
		recipe |= RECIPE_SKIP;
	if (heuristic_is_return(w, key + 1, guess, &in_text))
		recipe |= RECIPE_AFTER_CALL;
	return in_text ? recipe | RECIPE_IN_TEXT : recipe;
}

/*
 * Returns true for the program's entry, which has no caller. crt1.o of older systems does not mark
 * it. The entry code is short.
 */
static bool is_entry(uint64_t key)
{
	enum { ENTRY_BYTES = 48 };
	return key - getauxval(AT_ENTRY) < ENTRY_BYTES;
}

/*
 * The recipe of a Go function. If it has a frame, its caller's bp is directly below the return
 * address. On processors with a register for the return address, frames are others: there a frame
 * pointer leads on.
 */
static uint64_t go_recipe(struct walk *w, uint64_t key)
{
	static const uint8_t step[] = {[GO_INTERRUPTED] = GO_STEP_INTERRUPTED,
				       [GO_ASMCGOCALL] = GO_STEP_ASMCGOCALL,
				       [GO_SYSTEMSTACK] = GO_STEP_SYSTEMSTACK,
				       [GO_MORESTACK] = GO_STEP_MORESTACK};
	struct go_function f;
	uint64_t recipe = RECIPE_NO_CFI;
	bool fits = true;
	if (ARCH_RETURN_BITS || !go_lookup(&w->thread->image, key, &f) || f.kind == GO_UNKNOWN)
		return RECIPE_NO_CFI;
	if (f.kind == GO_ROOT)
		recipe = RECIPE_ROOT;
	else if (f.kind == GO_FRAME)
		fits = recipe_make(RECIPE_SP, f.sp_delta + 8,
				   f.sp_delta ? RECIPE_BP_AT_CFA : RECIPE_BP_SAME,
				   f.sp_delta ? -16 : 0, &recipe);
	else
		fits = recipe_make(RECIPE_GO, f.sp_delta + 8, (enum recipe_bp)step[f.kind], 0,
				   &recipe);
	return fits ? recipe | (key == f.lo ? RECIPE_AT_START : 0) : RECIPE_NO_CFI;
}

static bool returns_by(struct walk *w, uint64_t pc)
{
	uint8_t code[ARCH_SIGRETURN_BYTES];
	if (image_holds(&w->thread->image, pc, sizeof code))
		return arch_is_sigreturn((const uint8_t *)pc, sizeof code);
	return code_load(&w->thread->code_seen, pc, code, sizeof code) &&
	       arch_is_sigreturn(code, sizeof code);
}

/*
 * Returns true if a signal handler returns to pc and there is no CFI: the kernel's frame is at sp.
 * Without CFI anywhere, also if pc is at the second instruction.
 */
static bool is_sigreturn(struct walk *w, uint64_t pc)
{
	return returns_by(w, pc) || (ARCH_RETURN_BITS && returns_by(w, pc - ARCH_INSN_MAX_BYTES));
}

/* The way to the lazy binder, which has no return. */
static uint64_t binder_recipe(struct walk *w, uint64_t pc)
{
	const uint64_t from = pc + ARCH_INSN_MAX_BYTES - ARCH_BINDER_BYTES;
	return image_holds(&w->thread->image, from, ARCH_BINDER_BYTES)
		       ? arch_binder_recipe((const uint8_t *)from, ARCH_BINDER_BYTES)
		       : RECIPE_NONE;
}

/* Finds where the caller's bp is. An ordinary recipe cannot express a place relative to sp. */
static bool bp_of(const struct leave *l, enum recipe_bp *how, int64_t *offset)
{
	const struct leave_value *cfa = &l->cfa, *bp = &l->bp;
	const bool same_base = bp->reg == cfa->reg;
	*how = RECIPE_BP_AT_CFA;
	*offset = 0;
	if (bp->kind == LEAVE_REG) {
		*how = RECIPE_BP_SAME;
		return bp->reg == ARCH_BP && bp->offset == 0;
	}
	if (bp->kind == LEAVE_LOAD_TWO) {
		*offset = bp->offset - cfa->offset;
		return cfa->kind == LEAVE_LOAD && same_base && bp->at == cfa->at;
	}
	if (bp->offset != 0)
		return false;
	if (cfa->kind == LEAVE_REG && same_base) {
		*offset = bp->at - cfa->offset;
		return true;
	}
	*how = bp->reg == ARCH_BP ? RECIPE_BP_AT_BP : RECIPE_BP_AT_SP;
	*offset = bp->at;
	return bp->reg == ARCH_BP || (bp->reg == ARCH_SP && cfa->reg != ARCH_BP);
}

/* The same if the return address is not below the CFA. */
static bool recipe_of_return(const struct leave *l, enum recipe_bp how, int64_t offset,
			     uint64_t *recipe)
{
	const struct leave_value *cfa = &l->cfa, *ra = &l->ra;
	if (cfa->kind != LEAVE_REG || (cfa->reg != ARCH_SP && cfa->reg != ARCH_BP))
		return false;
	if (ra->kind == LEAVE_REG)
		return cfa->reg == ARCH_SP && how == RECIPE_BP_SAME &&
		       recipe_make(RECIPE_LEAF, cfa->offset, how, 0, recipe);
	return ra->reg == cfa->reg &&
	       recipe_make(cfa->reg == ARCH_SP ? RECIPE_SP : RECIPE_BP, cfa->offset, how, offset,
			   recipe) &&
	       recipe_set_return(recipe, ra->at - cfa->offset);
}

static bool recipe_of_leave(const struct leave *l, uint64_t *recipe)
{
	const struct leave_value *cfa = &l->cfa;
	const bool deref = cfa->kind == LEAVE_LOAD;
	const struct recipe_reg by_reg = {cfa->reg, deref ? cfa->at : cfa->offset,
					  deref ? cfa->offset : 0};
	enum recipe_bp how;
	int64_t offset;
	if (!bp_of(l, &how, &offset))
		return false;
	if (ARCH_RETURN_BITS)
		return recipe_of_return(l, how, offset, recipe);
	if (!deref && (cfa->reg == ARCH_SP || cfa->reg == ARCH_BP))
		return recipe_make(cfa->reg == ARCH_SP ? RECIPE_SP : RECIPE_BP, cfa->offset, how,
				   offset, recipe);
	if (deref && cfa->reg == ARCH_BP && cfa->offset == 0)
		return recipe_make(RECIPE_DEREF_BP, cfa->at, how, offset, recipe);
	return recipe_make_reg(deref ? RECIPE_DEREF_REG : RECIPE_REG, &by_reg, how, offset, recipe);
}

/* The register of the CFA, as a bit. */
static uint32_t needs_of(uint64_t recipe)
{
	const enum recipe_kind kind = recipe_kind(recipe);
	if (kind == RECIPE_LEAF)
		return UINT32_C(1) << ARCH_SP | UINT32_C(1) << ARCH_LR;
	const unsigned reg = kind == RECIPE_SP ? ARCH_SP
			     : kind == RECIPE_BP || kind == RECIPE_DEREF_BP ? ARCH_BP
									   : recipe_reg(recipe).reg;
	return UINT32_C(1) << reg;
}

static uint64_t known_recipe(void *arg, uint64_t pc, uint32_t *needs)
{
	enum { FLAGS = RECIPE_IN_TEXT | RECIPE_SKIP | RECIPE_AFTER_CALL | RECIPE_AT_START };
	const struct walk *w = arg;
	uint64_t recipe, delta;
	if (w->bypass || !recipe_find(w->tag, pc, &recipe, &delta) || !(recipe & RECIPE_BY_CODE))
		return 0;
	*needs = needs_of(recipe);
	return recipe & ~(uint64_t)FLAGS;
}

/*
 * Stores the recipe for the branches on the way, which have the same one. The next search may then
 * end at one of them.
 */
static void insert_passed(struct walk *w, const struct leave *l, uint64_t recipe, uint16_t module,
			  uintptr_t bias)
{
	const uint32_t needs = needs_of(recipe);
	for (unsigned i = 0; i < l->n_passed; i++)
		if (!(needs & ~l->kept[i]))
			recipe_insert(w->tag, l->passed[i], module, bias,
				      recipe_flags(w, l->passed[i], recipe), i);
}

/*
 * Finds the recipe of code without tables by following the code to its return. During a dlclose,
 * code that a guess has led to may be gone, so it is not read.
 */
static uint64_t code_recipe(struct walk *w, uint64_t key, bool is_exact, uint16_t module,
			    uintptr_t bias)
{
	struct unwind_thread *t = w->thread;
	const struct image *image = &t->image;
	const struct leave_code code = {
		.lo = image->text_lo, .hi = image->text_hi, .known = known_recipe, .arg = w};
	struct leave leave;
	uint64_t recipe;
	if ((w->bypass && w->heuristic) || !image->has_segments || key < image->text_lo ||
	    key >= image->text_hi)
		return RECIPE_NO_CFI;
	t->counts.codes++;
	if (!leave_find(&code, is_exact ? key : key + 1, is_exact, &t->leave, &leave))
		return RECIPE_NO_CFI;
	if (leave.known)
		recipe = leave.known;
	else if (!recipe_of_leave(&leave, &recipe))
		return RECIPE_NO_CFI;
	recipe |= RECIPE_BY_CODE;
	if (!w->bypass)
		insert_passed(w, &leave, recipe, module, bias);
	return recipe;
}

struct place {
	uint64_t key;
	bool is_exact;
	uint16_t module;
	uintptr_t bias;
};

/*
 * Some tables describe a function only where it calls, not while it makes and removes its frame
 * (clang before 15), or say of assembler that it never has a frame (libomp). There the instructions
 * show the caller.
 */
static uint64_t checked_recipe(struct walk *w, const struct cfi_frame *frame,
			       const struct place *at, uint64_t recipe)
{
	struct unwind_thread *t = w->thread;
	const struct image *image = &t->image;
	const struct leave_code code = {.lo = frame->pc_lo, .hi = frame->pc_hi};
	const enum recipe_kind kind = recipe_kind(recipe);
	const bool is_bare =
		kind == RECIPE_BAD || (kind == RECIPE_LEAF && recipe_cfa_offset(recipe) == 0);
	struct leave leave;
	uint64_t found;
	if (!ARCH_RETURN_BITS || kind == RECIPE_ROOT || kind == RECIPE_SIGNAL ||
	    (!at->is_exact && !is_bare) || (w->bypass && w->mark) || !image->has_segments ||
	    frame->pc_lo < image->text_lo || frame->pc_hi > image->text_hi)
		return recipe;
	if (at->is_exact && leave_edge(&code, at->key, is_bare, &t->leave, &leave))
		return recipe_of_leave(&leave, &found) ? found : recipe;
	const size_t n = at->key - frame->pc_lo < ARCH_ENTRY_BYTES ? at->key - frame->pc_lo
								   : ARCH_ENTRY_BYTES;
	if (!is_bare || (at->is_exact && !arch_makes_frame((const uint8_t *)frame->pc_lo, n)))
		return recipe;
	found = code_recipe(w, at->key, at->is_exact, at->module, at->bias);
	return found == RECIPE_NO_CFI ? recipe : found;
}

static bool in_module(void *arg, uint64_t pc)
{
	return walk_find_image(arg, pc, false);
}

uint64_t walk_generated_recipe(struct walk *w, const struct state *s)
{
	struct unwind_thread *t = w->thread;
	const struct generated_place place = {.walk = t->counts.walks + 1,
					      .pc = s->pc,
					      .is_exact = s->exact,
					      .in_module = in_module,
					      .arg = w};
	struct leave leave;
	uint64_t recipe;
	if (w->moves) /* the path ends, or goes on with guesses */
		return RECIPE_NO_MODULE;
	const uint64_t n_before = t->generated.n_searches;
	const bool is_found = generated_find(&t->generated, &place, &t->leave, &leave);
	t->counts.codes += t->generated.n_searches - n_before;
	return is_found && recipe_of_leave(&leave, &recipe) ? recipe : RECIPE_NO_MODULE;
}

/* Returns true if a call ends at key + 1. Otherwise we do not know where the instruction begins. */
static bool is_return(struct walk *w, uint64_t key)
{
	bool in_text;
	return heuristic_is_return(w, key + 1, w->bypass && w->mark, &in_text);
}

uint64_t walk_compute_recipe(struct walk *w, uint64_t key, uint64_t *delta)
{
	struct unwind_thread *t = w->thread;
	struct cfi_frame frame;
	uint64_t recipe;
	uintptr_t bias;
	bool is_known = true;
	const bool is_exact = w->state.exact && key == w->state.pc;
	t->counts.cache_misses++;
	*delta = 0;
	if (!walk_find_image(w, key, w->bypass && w->mark))
		/*
		 * Handlers may return to code of the kernel. An interrupted frame need not follow a
		 * call.
		 */
		return ARCH_RETURN_BITS && is_sigreturn(w, key) ? RECIPE_SIGNAL
		       : is_exact                               ? RECIPE_NO_MODULE
				  : recipe_flags(w, key, RECIPE_NO_MODULE);
	bias = t->image.bias;
	const uint16_t module =
		unwind_config.module_of ? unwind_config.module_of(&t->image.object, &bias) : 1;
	*delta = bias - ((uint64_t)module << UNWIND_ADDR_MODULE_SHIFT);
	switch (cfi_lookup(&t->image.cfi, key, &t->cfi, &frame)) {
	case CFI_OK:
		recipe = arch_recipe(&t->cfi.row, &frame, key);
		recipe = checked_recipe(w, &frame, &(struct place){key, is_exact, module, bias},
					recipe);
		recipe |= key == frame.pc_lo ? RECIPE_AT_START : 0;
		break;
	case CFI_NONE:
		recipe = is_entry(key)          ? RECIPE_ROOT
			 : is_sigreturn(w, key) ? RECIPE_SIGNAL
						: go_recipe(w, key);
		if (recipe == RECIPE_NO_CFI && is_exact && ARCH_RETURN_BITS &&
		    binder_recipe(w, key) != RECIPE_NONE)
			recipe = binder_recipe(w, key);
		if (recipe == RECIPE_NO_CFI && (is_known = is_exact || is_return(w, key)))
			recipe = code_recipe(w, key, is_exact, module, bias);
		break;
	default: recipe = RECIPE_BAD;
	}
	recipe = recipe_flags(w, key, recipe);
	if (!w->bypass && is_known)
		recipe_insert(w->tag, key, module, bias, recipe, (unsigned)t->counts.cache_misses);
	return recipe;
}
