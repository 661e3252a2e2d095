/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the recipe of a pc from the tables of its module: .eh_frame, or else Go's own. Reads
 * tables and code that may not be mapped with guarded loads only. Tests:
 * tests/unit/unwind/test_unwind.c,
 * tests/unit/unwind/test_unwind_go.c.
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
 * it. It is short.
 */
static bool is_entry(uint64_t key)
{
	enum { ENTRY_BYTES = 48 };
	return key - getauxval(AT_ENTRY) < ENTRY_BYTES;
}

/*
 * The recipe of a Go function. If it has a frame, its caller's bp is directly below the return
 * address.
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
	if (!go_lookup(&w->thread->image, key, &f) || f.kind == GO_UNKNOWN)
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

/*
 * Returns true if a signal handler returns to pc and there is no CFI: the kernel's frame is at sp.
 */
static bool is_sigreturn(struct walk *w, uint64_t pc)
{
	uint8_t code[ARCH_SIGRETURN_BYTES];
	if (image_holds(&w->thread->image, pc, sizeof code))
		return arch_is_sigreturn((const uint8_t *)pc, sizeof code);
	return code_load(&w->thread->code_seen, pc, code, sizeof code) &&
	       arch_is_sigreturn(code, sizeof code);
}

uint64_t walk_compute_recipe(struct walk *w, uint64_t key, uint64_t *delta)
{
	struct unwind_thread *t = w->thread;
	struct cfi_frame frame;
	uint64_t recipe;
	uintptr_t bias;
	t->counts.cache_misses++;
	*delta = 0;
	if (!walk_find_image(w, key, w->bypass && w->mark))
	{
		/* An interrupted frame need not follow a call. */
		const bool is_leaf = w->state.exact && key == w->state.pc;
		return is_leaf ? RECIPE_NO_MODULE : recipe_flags(w, key, RECIPE_NO_MODULE);
	}
	bias = t->image.bias;
	const uint16_t module =
		unwind_config.module_of ? unwind_config.module_of(&t->image.object, &bias) : 1;
	*delta = bias - ((uint64_t)module << UNWIND_ADDR_MODULE_SHIFT);
	switch (cfi_lookup(&t->image.cfi, key, &t->cfi, &frame)) {
	case CFI_OK:
		recipe = arch_recipe(&t->cfi.row, &frame, key);
		recipe |= key == frame.pc_lo ? RECIPE_AT_START : 0;
		break;
	case CFI_NONE:
		recipe = is_entry(key)          ? RECIPE_ROOT
			 : is_sigreturn(w, key) ? RECIPE_SIGNAL
						: go_recipe(w, key);
		break;
	default: recipe = RECIPE_BAD;
	}
	recipe = recipe_flags(w, key, recipe);
	if (!w->bypass)
		recipe_insert(w->tag, key, module, bias, recipe, (unsigned)t->counts.cache_misses);
	return recipe;
}
