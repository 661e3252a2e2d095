/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of functions that end with __builtin_eh_return (libgcc's _Unwind_RaiseException and
 * others). Shortly before, they overwrite their own saved registers and return address with those
 * of the function where the exception lands. See doc/unwinding.md, "Throws". Tests:
 * tests/workload/unwind/unwind_steps.c, tests/workload/unwind/unwind_shadow.cc.
 */
#include "hpcrun-lite/unwind/internal.h"

enum rewriting {
	REWRITING_NOT,
	/* Perhaps: the return address, which is written last, is still the frame's own. */
	REWRITING_REGISTERS,
	REWRITING_NOW
};

static size_t read_code(struct unwind_thread *t, uint64_t pc, uint8_t *dst, size_t n)
{
	if (image_holds(&t->image, pc, n)) {
		memcpy(dst, (const void *)pc, n);
		return n;
	}
	return code_load(&t->code_seen, pc, dst, n) ? n : 0;
}

static bool is_function(struct unwind_thread *t, uint64_t pc)
{
	struct cfi_frame frame;
	return cfi_lookup(&t->image.cfi, pc, &t->cfi, &frame) == CFI_OK && frame.pc_lo == pc;
}

/*
 * Counts calls to find out how far uw_install_context has come. The return address is overwritten
 * last. It is the frame's own as long as it follows a call of this function, which is *function.
 */
static enum rewriting how_far(struct walk *w, uint64_t pc, uint64_t return_address,
			      uint64_t *function)
{
	enum { CODE_BYTES = sizeof w->thread->code, CALLS_LEFT = 1 };
	struct unwind_thread *t = w->thread;
	struct cfi_frame frame;
	*function = 0;
	if (!walk_find_image(w, pc, false) ||
	    cfi_lookup(&t->image.cfi, pc, &t->cfi, &frame) != CFI_OK)
		return REWRITING_NOW;
	*function = frame.pc_lo;
	const size_t left = frame.pc_hi - pc;
	const size_t n = read_code(t, pc, t->code, left < CODE_BYTES ? left : CODE_BYTES);
	const uint8_t *exit = arch_find_eh_return(t->code, n, pc);
	if (!exit)
		return left > CODE_BYTES ? REWRITING_NOT : REWRITING_REGISTERS;
	unsigned n_calls = 0;
	for (const uint8_t *at = t->code; at < exit && n_calls <= CALLS_LEFT; at++) {
		uint64_t target;
		if (arch_direct_call(at, (size_t)(exit - at), pc + (uint64_t)(at - t->code),
				     &target))
			n_calls += is_function(t, target);
	}
	if (n_calls > CALLS_LEFT)
		return REWRITING_NOT;
	return arch_calls(&t->code_seen, return_address, *function) == ARCH_CALL_YES
		       ? REWRITING_REGISTERS
		       : REWRITING_NOW;
}

/*
 * The frame of the function has a copy of its own return address, which uw_init_context made: the
 * words cfa and ra in a struct _Unwind_Context.
 */
static bool find_copy(struct walk *w, uint64_t lo, uint64_t function)
{
	enum { WORDS_MAX = 1024 };
	struct unwind_thread *t = w->thread;
	const uint64_t cfa = w->state.sp;
	uint64_t before = 0, word;
	for (uint64_t slot = lo; slot < cfa && slot - lo < 8 * WORDS_MAX; slot += 8) {
		if (!mem_load(&t->mem, slot, &word))
			return false;
		if (before == cfa &&
		    arch_calls(&t->code_seen, arch_strip(word), function) != ARCH_CALL_NO) {
			w->state.pc = arch_strip(word);
			return true;
		}
		before = word;
	}
	return false;
}

/*
 * Returns true if the caller's own table needs neither bp nor another register that may be
 * overwritten, and says where its caller's bp is.
 */
static bool needs_only_sp(struct walk *w)
{
	uint64_t delta;
	const uint64_t recipe = walk_find_recipe(w, state_key(&w->state), &delta);
	return recipe_kind(recipe) == RECIPE_SP && recipe_bp(recipe) == RECIPE_BP_AT_CFA;
}

bool throw_step(struct walk *w, struct record *r, uint64_t key)
{
	uint64_t function;
	const enum rewriting found = how_far(w, key, w->state.pc, &function);
	r->kind = RECORD_OPEN;
	if (found == REWRITING_NOT)
		return true;
	if (found == REWRITING_NOW && !find_copy(w, r->sp, function))
		return false;
	w->lost_registers = true;
	w->mark = !needs_only_sp(w);
	w->heuristic |= w->mark;
	return true;
}
