/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the caller if there is no CFI (assembler, generated code) or if the CFI is wrong. Tries the
 * frame pointer first and uses it if everything known about it fits. Otherwise guesses: searches
 * the stack for a word that may be the return address. The evidence is the call before an address,
 * the target of that call, and the tables of the frames further out. doc/unwinding.md has the
 * rules. Reads code and stack that may not be mapped with guarded loads only. Tests:
 * tests/unit/unwind/test_unwind_odd.c, tests/cli/unwind/unwind_languages.sh,
 * tests/workload/unwind/unwind_shadow.cc.
 */
#include "hpcrun-lite/unwind/go.h"
#include "hpcrun-lite/unwind/internal.h"

enum { SCAN_WORDS = 96, BP_DISTANCE_MAX = 1 << 20, PAGE = MACHINE_LEAST_PAGE };

bool heuristic_is_return(struct walk *w, uint64_t address, bool guarded, bool *in_text)
{
	struct unwind_thread *t = w->thread;
	uint8_t code[ARCH_CALL_MAX_BYTES];
	const uint64_t from = address - sizeof code;
	*in_text = false;
	if (address < PAGE)
		return false;
	if (walk_find_image(w, address - 1, guarded)) {
		const struct image *image = &t->image;
		if (image->has_segments && image->text_hi == 0)
			return false;
		*in_text = true;
		if (from >= image->text_lo && address <= image->text_hi)
			return arch_ends_in_call((const uint8_t *)from, sizeof code);
	}
	/* The page before the start of a region of generated code may not be mapped. */
	const size_t in_page = (address - 1) % PAGE + 1,
		     n = in_page < sizeof code ? in_page : sizeof code;
	if (code_load(&t->code_seen, from, code, sizeof code))
		return arch_ends_in_call(code, sizeof code);
	return code_load(&t->code_seen, address - n, code, n) && arch_ends_in_call(code, n);
}

/* ---- evidence about an address ---- */

/* Copies up to n bytes of code. */
static size_t read_code(struct unwind_thread *t, uint64_t pc, uint8_t *dst, size_t n)
{
	const struct image *image = &t->image;
	if (pc >= image->text_lo && pc < image->text_hi) {
		n = n < image->text_hi - pc ? n : image->text_hi - pc;
		__builtin_memcpy(dst, (const void *)pc, n);
		return n;
	}
	return code_load(&t->code_seen, pc, dst, n) ? n : 0;
}

/*
 * Copies n bytes, directly if they are in the module of t->image and otherwise with guarded loads.
 */
static bool read_data(struct unwind_thread *t, uint64_t at, void *dst, size_t n)
{
	if (!image_holds(&t->image, at, n))
		return code_load(&t->code_seen, at, dst, n);
	__builtin_memcpy(dst, (const void *)at, n);
	return true;
}

enum { FUNCTION_BYTES_MAX = 1 << 14 }; /* used if the start of a function is unknown */

static const struct extent *known_extent(const struct unwind_thread *t, uint64_t pc)
{
	const uint32_t n = t->n_extents < EXTENTS ? t->n_extents : EXTENTS;
	for (uint32_t i = 0; i < n; i++)
		if (pc >= t->extents[i].lo && pc < t->extents[i].hi &&
		    t->extents[i].module == t->image.object.dlfo_link_map)
			return &t->extents[i];
	return NULL;
}

/* Leaves t->image at pc. */
static void find_extent(struct walk *w, uint64_t pc, struct extent *e)
{
	struct unwind_thread *t = w->thread;
	const struct image *image = &t->image;
	struct go_function go;
	uintptr_t lo, hi;
	*e = (struct extent){.hi = UINT64_MAX};
	if (!walk_find_image(w, pc, w->bypass))
		return;
	const struct extent *known = known_extent(t, pc);
	if (known) {
		*e = *known;
		return;
	}
	e->in_module = true;
	e->module = image->object.dlfo_link_map;
	e->is_function = cfi_extent(&image->cfi, pc, &t->cfi, &lo, &hi) == CFI_OK;
	e->lo = lo;
	e->hi = hi;
	if (image->text_hi && !e->is_function) {
		e->lo = e->lo > image->text_lo ? e->lo : image->text_lo;
		e->hi = e->hi < image->text_hi ? e->hi : image->text_hi;
	}
	if (!e->is_function && go_lookup(image, pc, &go)) {
		e->is_function = true;
		e->lo = go.lo;
		e->hi = go.hi;
	}
	if (e->lo >= image->text_lo && e->hi <= image->text_hi)
		t->extents[t->n_extents++ % EXTENTS] = *e;
}

/*
 * Returns true if `target` may be the entry of the callee: it is at or before pc, and not far
 * before it if function starts are unknown.
 */
static bool is_entry(const struct extent *callee, uint64_t pc, uint64_t target)
{
	return callee->in_module && target >= callee->lo && target <= pc &&
	       (callee->is_function || pc - target < FUNCTION_BYTES_MAX);
}

/*
 * Examines the jumps in a function like arch_jumps_into(). *leaves is the target of the first
 * direct jump that leaves the function; 0: none.
 */
static enum arch_call scan_jumps(struct walk *w, const struct extent *e, uint64_t from, uint64_t lo,
				 uint64_t hi, uint64_t *leaves)
{
	enum { BYTES_MAX = 8192, OVERLAP = 5 };
	struct unwind_thread *t = w->thread;
	enum arch_call found = ARCH_CALL_NO;
	const uint64_t most = e->is_function ? BYTES_MAX : sizeof t->code,
		       end = e->hi - from < most ? e->hi : from + most;
	*leaves = 0;
	for (uint64_t at = from; at < end;) {
		const size_t left = end - at,
			     n = read_code(t, at, t->code,
					   left < sizeof t->code ? left : sizeof t->code);
		const enum arch_call jump = arch_jumps_into(t->code, n, at, lo, hi);
		if (jump == ARCH_CALL_YES)
			return jump;
		found = jump == ARCH_CALL_UNKNOWN ? jump : found;
		for (size_t i = 0; *leaves == 0 && i < n; i++)
			if (arch_direct_jump(t->code + i, n - i, at + i, leaves) &&
			    *leaves >= e->lo && *leaves < e->hi)
				*leaves = 0;
		if (n <= OVERLAP || at + n >= end)
			break;
		at += n - OVERLAP;
	}
	return found;
}

/*
 * Returns NO if the function at `target` cannot have jumped to the callee. It may have made a tail
 * call, or the callee may be a part of the function that the compiler put elsewhere.
 */
static enum arch_call jumps_to(struct walk *w, uint64_t target, const struct extent *callee,
			       uint64_t pc)
{
	enum { HOPS_MAX = 3 };
	const uint64_t lo = callee->in_module ? callee->lo : 0;
	const uint64_t hi = !callee->in_module ? 0 : callee->is_function ? callee->hi : pc + 1;
	for (unsigned i = 0; i < HOPS_MAX && target != 0; i++) {
		struct extent e;
		find_extent(w, target, &e);
		/* generated code calls other generated code through generated stubs */
		if (!e.in_module)
			return callee->in_module ? ARCH_CALL_NO : ARCH_CALL_UNKNOWN;
		if (scan_jumps(w, &e, target, lo, hi, &target) != ARCH_CALL_NO)
			return ARCH_CALL_UNKNOWN;
	}
	return ARCH_CALL_NO;
}

/*
 * Does the call before return_address lead to pc, which is in the callee? YES: it calls the callee
 * directly. NO: there is no call, or it has another target. Sets *caller to the function that
 * contains the return address.
 */
static enum arch_call leads_to(struct walk *w, uint64_t return_address, const struct extent *callee,
			       uint64_t pc, struct extent *caller)
{
	struct unwind_thread *t = w->thread;
	uint8_t code[ARCH_CALL_MAX_BYTES], stub[ARCH_STUB_BYTES];
	uint64_t target, slot;
	bool in_text, or_indirect;
	if (!heuristic_is_return(w, return_address, w->bypass, &in_text))
		return ARCH_CALL_NO;
	find_extent(w, return_address - 1, caller);
	if (caller->in_module && (!in_text || return_address - caller->lo < 2))
		return ARCH_CALL_NO;
	if (read_code(t, return_address - sizeof code, code, sizeof code) != sizeof code)
		return ARCH_CALL_UNKNOWN; /* the start of generated code */
	const enum arch_call call = arch_call_target(code, sizeof code, return_address, &target,
						     &slot, &or_indirect);
	if (call != ARCH_CALL_YES)
		return call;
	if (slot && !read_data(t, slot, &target, sizeof target))
		return ARCH_CALL_NO;
	caller->calls = target;
	if (is_entry(callee, pc, target))
		return ARCH_CALL_YES;
	if (or_indirect)
		return ARCH_CALL_UNKNOWN;
	if (caller->in_module && read_data(t, target, stub, sizeof stub) &&
	    arch_stub_slot(stub, target, &slot) && read_data(t, slot, &target, sizeof target)) {
		caller->calls = target;
		if (is_entry(callee, pc, target))
			return ARCH_CALL_YES;
	}
	return jumps_to(w, target, callee, pc);
}

/*
 * Returns true if a word on the stack may be the return address: it follows a direct call, or a
 * call in a function of the same module. A word at the top of the stack (at_top) is an exception,
 * for the leaf functions of crtbegin.o. doc/unwinding.md, "What is marked", has the reasons.
 */
static bool is_caller(enum arch_call call, const struct extent *callee,
		      const struct extent *caller, bool at_top)
{
	enum { FEW_BYTES = 512 };
	if (call != ARCH_CALL_UNKNOWN || !caller->is_function || !callee->in_module)
		return call == ARCH_CALL_YES;
	return caller->module == callee->module ||
	       (at_top && !callee->is_function && callee->hi - callee->lo < FEW_BYTES);
}

/*
 * Returns true if the callers of a guessed frame are plausible by their tables: each is further
 * out, and returns after a call that leads to the previous one. Checks only ordinary frames, at
 * most AHEAD.
 */
static bool callers_are_plausible(struct walk *w, struct state s)
{
	enum { AHEAD = 8 };
	for (unsigned i = 0; i < AHEAD; i++) {
		struct record unused;
		struct extent callee, caller;
		uint64_t delta;
		const uint64_t sp = s.sp, pc = state_key(&s),
			       recipe = walk_find_recipe(w, pc, &delta);
		const enum recipe_kind kind = recipe_kind(recipe);
		if (kind == RECIPE_BAD)
			return false;
		if (kind < RECIPE_SP || kind > RECIPE_DEREF_BP || (recipe & RECIPE_REWRITES))
			return true;
		if (!walk_step_general(&w->thread->mem, recipe, &unused, &s) || s.sp <= sp)
			return false;
		find_extent(w, pc, &callee);
		if (s.pc == 0)
			return true;
		if (leads_to(w, s.pc, &callee, pc, &caller) == ARCH_CALL_NO)
			return recipe_kind(walk_find_recipe(w, s.pc, &delta)) == RECIPE_ROOT;
	}
	return true;
}

/* ---- by the frame pointer ---- */

static bool is_on_stack(const struct unwind_thread *t, uint64_t address)
{
	return address >= t->stack.lo && address < t->stack.hi;
}

/* Returns true if bp may point to a saved bp and return address further out on the same stack. */
static bool is_frame_pointer(const struct unwind_thread *t, uint64_t bp, uint64_t sp)
{
	return bp % 8 == 0 && bp >= sp && bp - sp <= BP_DISTANCE_MAX &&
	       is_on_stack(t, bp) == is_on_stack(t, sp);
}

/*
 * Like leads_to(), for a return address found by a frame pointer. HotSpot's interpreter pushes a
 * return address and enters generated code by a jump. So an address near the callee, in code that
 * was generated with it, is accepted.
 */
static bool may_lead_to(struct walk *w, uint64_t return_address, const struct extent *callee,
			uint64_t pc, struct extent *caller)
{
	enum { GENERATED_BYTES_MAX = 1 << 28 };
	uint8_t code;
	if (leads_to(w, return_address, callee, pc, caller) != ARCH_CALL_NO)
		return true;
	if (callee->in_module ||
	    return_address - pc + GENERATED_BYTES_MAX > 2 * GENERATED_BYTES_MAX ||
	    is_on_stack(w->thread, return_address))
		return false;
	find_extent(w, return_address, caller);
	return !caller->in_module &&
	       code_load(&w->thread->code_seen, return_address, &code, sizeof code);
}

/* Returns true if the function at `entry` starts with push %rbp; mov %rsp, %rbp. */
static bool makes_frame(struct walk *w, uint64_t entry)
{
	uint8_t code[ARCH_ENTRY_BYTES];
	return code_load(&w->thread->code_seen, entry, code, sizeof code) &&
	       arch_makes_frame(code, sizeof code);
}

/*
 * Returns true if the word at `slot` may be the return address of s itself. Then bp does not point
 * to a frame of s.
 */
static bool may_return_to(struct walk *w, const struct state *s, const struct extent *callee,
			  uint64_t slot, uint64_t word)
{
	const uint64_t reach = UINT64_C(1) << 31; /* of a direct call */
	struct extent caller;
	const uint64_t pc = state_key(s);
	const bool is_near = !callee->in_module && word - pc + reach < 2 * reach;
	/* Most words are not addresses in a module. They must not cost a system call. */
	if (word < PAGE || is_on_stack(w->thread, word) ||
	    (!is_near && !walk_find_image(w, word, w->bypass)))
		return false;
	const enum arch_call call = leads_to(w, word, callee, pc, &caller);
	if (call == ARCH_CALL_NO)
		return false;
	if (caller.is_function)
		return is_caller(call, callee, &caller, s->exact && slot == s->sp);
	if (slot == s->sp && s->exact)
		return true;
	/*
	 * Code without tables leaves return addresses of its own calls on the stack. The word
	 * matters only if it follows a call of s itself, and if s makes no frame that bp would
	 * point to.
	 */
	return caller.calls != 0 && caller.calls <= pc && pc - caller.calls < FUNCTION_BYTES_MAX &&
	       !makes_frame(w, caller.calls);
}

/*
 * Returns true if the frame pointer may have skipped a frame. A frame that was called with the
 * current frame pointer has its return address between sp and bp. Code outside modules has either
 * not used the stack yet, or has saved bp first.
 */
static bool may_skip(struct walk *w, const struct state *s, const struct extent *callee)
{
	uint64_t below = 0;
	for (uint64_t slot = s->sp; slot < s->bp; slot += 8) {
		uint64_t word;
		if (slot - s->sp >= 8 * SCAN_WORDS || !mem_load(&w->thread->mem, slot, &word))
			return callee->in_module;
		const bool is_likely = callee->in_module || (slot == s->sp && s->exact) ||
				       (slot > s->sp && below == s->bp);
		if (is_likely && may_return_to(w, s, callee, slot, word))
			return true;
		below = word;
	}
	return false;
}

/*
 * Sets the caller's sp, if a frame pointer shows only its pc and bp. If the caller has saved bp,
 * its own frame pointer is where it did that, and so its table gives the CFA. Otherwise sp is the
 * lowest value that is possible; a caller whose CFA is at a distance from bp needs no better one.
 */
static bool find_sp(struct walk *w, struct state *next)
{
	uint64_t delta;
	if (!ARCH_RETURN_BITS)
		return true;
	const uint64_t recipe = walk_find_recipe(w, next->pc - 1, &delta);
	if (recipe_kind(recipe) != RECIPE_SP)
		return true;
	const uint64_t sp =
		next->bp - (uint64_t)recipe_bp_offset(recipe) - (uint64_t)recipe_cfa_offset(recipe);
	if (recipe_bp(recipe) != RECIPE_BP_AT_CFA || sp < next->sp)
		return false;
	next->sp = sp;
	return true;
}

/*
 * Steps by the frame pointer (push %rbp; mov %rsp, %rbp). In generated code the next frame must be
 * plausible too, because only the chain is evidence.
 */
static bool step_by_frame_pointer(struct walk *w, const struct state *s,
				  const struct extent *callee, struct heuristic *found)
{
	struct unwind_thread *t = w->thread;
	struct extent caller, outer;
	uint64_t pc, bp, next_pc;
	if (!is_frame_pointer(t, s->bp, s->sp) || !mem_load(&t->mem, s->bp, &bp) ||
	    !mem_load(&t->mem, s->bp + 8, &pc) ||
	    !may_lead_to(w, arch_strip(pc), callee, state_key(s), &caller))
		return false;
	struct state next = {.pc = arch_strip(pc), .sp = s->bp + 16, .bp = bp};
	if (!find_sp(w, &next))
		return false;
	if (caller.is_function) {
		if (!callers_are_plausible(w, next))
			return false;
	} else if (!is_frame_pointer(t, bp, next.sp) || !mem_load(&t->mem, bp + 8, &next_pc) ||
		   !may_lead_to(w, arch_strip(next_pc), &caller, next.pc - 1, &outer))
		return false;
	*found = (struct heuristic){.next = next,
				    .bp_slot = s->bp,
				    .return_slot = s->bp + 8,
				    .is_guess = may_skip(w, s, callee)};
	return true;
}

/* ---- by the code ---- */

/*
 * Steps from generated code without a frame pointer, by following the code to its return. The
 * caller must be as plausible as one found by the frame pointer.
 */
static bool step_by_code(struct walk *w, const struct state *s, const struct extent *callee,
			 struct heuristic *found)
{
	struct extent caller;
	struct record r = {.kind = RECORD_OPEN};
	struct state next = *s;
	const uint64_t recipe = walk_generated_recipe(w, s);
	const bool is_current = s->pc == w->state.pc && s->sp == w->state.sp;
	const bool is_deref = recipe_kind(recipe) == RECIPE_DEREF_BP;
	if (is_deref && s->bp + (uint64_t)recipe_cfa_offset(recipe) < s->sp)
		return false; /* the code has not yet saved it */
	switch (recipe_kind(recipe)) {
	case RECIPE_SP:
	case RECIPE_BP:
	case RECIPE_DEREF_BP:
		if (!walk_step_general(&w->thread->mem, recipe, &r, &next))
			return false;
		break;
	case RECIPE_REG:
	case RECIPE_DEREF_REG:
		if (!is_current || step_code(w, recipe, &next) != STEP_OK)
			return false;
		break;
	case RECIPE_LEAF:
		if (!is_current || step_leaf(w, recipe, &next) != STEP_OK)
			return false;
		break;
	default: return false;
	}
	next.exact = false;
	if (next.sp < s->sp || (next.sp == s->sp && recipe_kind(recipe) != RECIPE_LEAF) ||
	    leads_to(w, next.pc, callee, state_key(s), &caller) == ARCH_CALL_NO ||
	    (caller.in_module && !callers_are_plausible(w, next)))
		return false;
	*found = (struct heuristic){.next = next};
	if (r.kind == RECORD_PLAIN) {
		found->bp_slot = r.bp_slot;
		found->return_slot = next.sp + (uint64_t)recipe_return_offset(recipe);
	}
	return true;
}

/* ---- by a search ---- */

/*
 * Guesses that the word at `slot` is the return address. It must be in a module, in a function that
 * has a table, unless it follows a direct call of this function. bp is unchanged, or was saved
 * first.
 */
static bool guess(struct walk *w, const struct state *s, const struct extent *callee, uint64_t slot,
		  struct heuristic *found)
{
	struct unwind_thread *t = w->thread;
	struct extent caller;
	uint64_t pc, below = 0;
	bool in_text;
	if (!mem_load(&t->mem, slot, &pc) || pc < PAGE ||
	    !walk_find_image(w, pc - 1, w->bypass) ||
	    !heuristic_is_return(w, pc, w->bypass, &in_text) || !in_text)
		return false;
	const enum arch_call call = leads_to(w, pc, callee, state_key(s), &caller);
	if (!is_caller(call, callee, &caller, s->exact && slot == s->sp))
		return false;
	*found = (struct heuristic){.next = {.pc = pc, .sp = slot + 8, .bp = s->bp},
				    .is_guess = true};
	if (callers_are_plausible(w, found->next))
		return true;
	if (slot == s->sp || !mem_load(&t->mem, slot - 8, &below) || below == s->bp ||
	    !is_frame_pointer(t, below, slot + 8))
		return false;
	found->next.bp = below;
	return callers_are_plausible(w, found->next);
}

static bool by_scan(struct walk *w, const struct state *s, const struct extent *callee,
		    struct heuristic *found)
{
	if (ARCH_RETURN_BITS) /* the place of a return address does not show the caller's sp */
		return false;
	for (unsigned i = 0; i < SCAN_WORDS; i++) {
		const uint64_t slot = (s->sp & ~UINT64_C(7)) + 8 * i;
		uint64_t word;
		if (!mem_load(&w->thread->mem, slot,
			      &word)) /* the end of the stack: each attempt costs a system call */
			return false;
		if (guess(w, s, callee, slot, found))
			return true;
	}
	return false;
}

/*
 * Steps if the next instructions show that the function has not yet made its frame, has already
 * removed it, or has pushed only one word.
 */
static bool step_by_place(struct walk *w, const struct state *s, struct heuristic *found)
{
	struct unwind_thread *t = w->thread;
	uint8_t code[ARCH_PLACE_BYTES];
	uint64_t pc, bp = s->bp;
	const size_t n = read_code(t, s->pc, code, sizeof code);
	const enum arch_place place = arch_place_of(code, n);
	const uint64_t slot = s->sp + (place == ARCH_AT_EDGE ? 0 : 8);
	if (place == ARCH_IN_BODY || !mem_load(&t->mem, slot, &pc) ||
	    (place == ARCH_BP_PUSHED && !mem_load(&t->mem, s->sp, &bp)))
		return false;
	*found = (struct heuristic){.next = {.pc = pc, .sp = slot + 8, .bp = bp},
				    .bp_slot = place == ARCH_BP_PUSHED ? s->sp : slot,
				    .return_slot = slot};
	return true;
}

/*
 * Used during a dlclose, when tables need guarded loads: only the check of the call instruction is
 * cheap enough. It is for the code without CFI that every object then runs: _fini, a leaf, and
 * __do_global_dtors_aux, which makes a frame and calls.
 */
static bool step_by_call(struct walk *w, const struct state *s, struct heuristic *found)
{
	struct unwind_thread *t = w->thread;
	uint64_t top, pc, bp;
	bool in_text;
	const bool has_top = !ARCH_RETURN_BITS && s->exact && mem_load(&t->mem, s->sp, &top);
	struct heuristic tries[3];
	unsigned n = 0;
	if (s->exact && step_by_place(w, s, &tries[0]))
		n = 1;
	else if (has_top) {
		const uint64_t slot = s->sp + (top == s->bp ? 8 : 0); /* after push %rbp */
		if (mem_load(&t->mem, slot, &pc))
			tries[n++] = (struct heuristic){
				.next = {.pc = pc, .sp = slot + 8, .bp = s->bp}};
	}
	if (is_frame_pointer(t, s->bp, s->sp) && mem_load(&t->mem, s->bp, &bp) &&
	    mem_load(&t->mem, s->bp + 8, &pc))
		tries[n++] = (struct heuristic){
			.next = {.pc = arch_strip(pc), .sp = s->bp + 16, .bp = bp}};
	for (unsigned i = 0; i < n; i++) {
		*found = tries[i];
		found->bp_slot = 0;
		found->is_guess = true;
		if (heuristic_is_return(w, found->next.pc, true, &in_text) && in_text)
			return true;
	}
	return false;
}

/*
 * An interrupted function is probably a leaf, so its nearest return address is the right one. A
 * function that has made a call, or generated code, probably has a frame pointer, and old return
 * addresses in its frame. See doc/unwinding.md, "What is marked".
 */
bool heuristic_step(struct walk *w, const struct state *s, struct heuristic *found)
{
	struct unwind_thread *t = w->thread;
	struct extent callee, caller;
	struct heuristic by_bp;
	uint64_t top;
	if (w->bypass) {
		const bool is_guessed = step_by_call(w, s, found);
		w->heuristic |= is_guessed;
		t->counts.heuristics += is_guessed;
		return is_guessed;
	}
	find_extent(w, state_key(s), &callee);
	bool is_found = s->exact && step_by_place(w, s, found) &&
			leads_to(w, found->next.pc, &callee, s->pc, &caller) != ARCH_CALL_NO &&
			callers_are_plausible(w, found->next);
	const bool has_bp = !is_found && step_by_frame_pointer(w, s, &callee, &by_bp);
	if (!is_found && !callee.in_module && !(has_bp && !by_bp.is_guess))
		is_found = step_by_code(w, s, &callee, found);
	if (!is_found && has_bp && (!by_bp.is_guess || !s->exact || !callee.in_module)) {
		*found = by_bp;
		is_found = true;
	}
	if (!is_found && s->exact && mem_load(&t->mem, s->sp, &top) &&
	    top == s->bp) /* after push %rbp */
		is_found = !ARCH_RETURN_BITS && guess(w, s, &callee, s->sp + 8, found);
	if (!is_found)
		is_found = by_scan(w, s, &callee, found);
	if (!is_found && has_bp) {
		*found = by_bp;
		is_found = true;
	}
	w->heuristic |= is_found && found->is_guess;
	t->counts.heuristics += is_found;
	return is_found;
}

/* ---- throws ---- */

static bool is_function(struct unwind_thread *t, uint64_t pc)
{
	struct cfi_frame frame;
	return cfi_lookup(&t->image.cfi, pc, &t->cfi, &frame) == CFI_OK && frame.pc_lo == pc;
}

/*
 * Counts calls to find out how far uw_install_context has come; see doc/unwinding.md, "What is
 * marked". The return address is overwritten last. As long as it still follows a call of this
 * function, the path is probably right.
 */
enum rewriting heuristic_rewriting(struct walk *w, uint64_t pc, uint64_t return_address)
{
	enum { CODE_BYTES = sizeof w->thread->code, CALLS_LEFT = 1 };
	struct unwind_thread *t = w->thread;
	struct cfi_frame frame;
	if (!walk_find_image(w, pc, false) ||
	    cfi_lookup(&t->image.cfi, pc, &t->cfi, &frame) != CFI_OK)
		return REWRITING_NOW;
	const uint64_t function = frame.pc_lo;
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
	return arch_calls(&t->code_seen, return_address, function) == ARCH_CALL_YES
		       ? REWRITING_REGISTERS
		       : REWRITING_NOW;
}
