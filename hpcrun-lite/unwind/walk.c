/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk: goes from frame to frame by recipes, with only pc, sp and bp. It stops at a frame of
 * the previous walk whose saved values are unchanged. A frame's caller depends only on (pc, sp, bp)
 * and on the words that its record names. So if these are unchanged, all frames further out are
 * unchanged too. Must not allocate, lock or fault. Tests: tests/unit/unwind/test_unwind.c,
 * tests/unit/unwind/test_unwind_odd.c, tests/workload/unwind/unwind_shadow.cc,
 * tests/workload/unwind/unwind_steps.c.
 */
#include "hpcrun-lite/unwind/deep.h"

#include "common/safe/loader.h"

#include <string.h>

enum {
	SWITCHES_MAX = 32
}; /* steps without a higher sp (another stack, a non-local exit) in one walk; more is a loop */

static inline uint64_t find_recipe(struct walk *w, uint64_t key, uint64_t *delta)
{
	uint64_t recipe;
	if (!w->bypass && recipe_find(w->tag, key, &recipe, delta))
		return recipe;
	return walk_compute_recipe(w, key, delta);
}

uint64_t walk_find_recipe(struct walk *w, uint64_t key, uint64_t *delta)
{
	return find_recipe(w, key, delta);
}

bool walk_find_image(struct walk *w, uint64_t pc, bool guarded)
{
	struct image *image = &w->thread->image;
	if (!guarded && pc >= image->text_lo && pc < image->text_hi)
		return true;
	const bool is_found = image_find(pc, guarded, image);
	w->moves |= image->moves;
	return is_found;
}

/*
 * Finds the caller by an ordinary recipe. Returns false if the memory may not be mapped, or if sp
 * does not grow.
 */
static inline bool step_plain(const struct mem *mem, uint64_t recipe, struct record *r,
			      struct state *s)
{
	const uint64_t base = recipe_kind(recipe) == RECIPE_SP ? s->sp : s->bp;
	const uint64_t cfa = base + (uint64_t)recipe_cfa_offset(recipe);
	const enum recipe_bp how = recipe_bp(recipe);
	const uint64_t ra_slot = cfa + (uint64_t)recipe_return_offset(recipe);
	uint64_t bp_slot =
		(how == RECIPE_BP_AT_BP ? s->bp : cfa) + (uint64_t)recipe_bp_offset(recipe);
	bp_slot = how == RECIPE_BP_SAME ? ra_slot : bp_slot;
	if (cfa <= s->sp || !mem_is_direct(mem, ra_slot) || !mem_is_direct(mem, bp_slot))
		return false;
	uint64_t pc, bp;
	memcpy(&pc, (const void *)ra_slot, sizeof pc);
	memcpy(&bp, (const void *)bp_slot, sizeof bp);
	r->bp_slot = bp_slot;
	r->kind = RECORD_PLAIN;
	if (ARCH_RETURN_BITS)
		r->aux = (int32_t)recipe_return_offset(recipe);
	s->bp = how == RECIPE_BP_SAME ? s->bp : bp;
	s->pc = arch_strip(pc);
	s->sp = cfa;
	s->exact = false;
	return true;
}

/* Handles other stacks, realigned frames and signal frames. */
bool walk_step_general(struct mem *mem, uint64_t recipe, struct record *r, struct state *s)
{
	const enum recipe_kind kind = recipe_kind(recipe);
	const int64_t offset = recipe_cfa_offset(recipe);
	struct state next = {.bp = s->bp};
	if (kind == RECIPE_SIGNAL) {
		if (!mem_load(mem, s->sp + ARCH_SIGNAL_PC, &next.pc) ||
		    !mem_load(mem, s->sp + ARCH_SIGNAL_SP, &next.sp) ||
		    !mem_load(mem, s->sp + ARCH_SIGNAL_BP, &next.bp))
			return false;
		next.exact = true;
		r->kind = mem_is_direct(mem, s->sp) && mem_is_direct(mem, s->sp + ARCH_SIGNAL_PC)
				  ? RECORD_SIGNAL
				  : RECORD_OPEN;
		r->bp_slot = s->sp + ARCH_SIGNAL_BP;
		*s = next;
		return true;
	}
	bool direct = true;
	next.sp = (kind == RECIPE_SP ? s->sp : s->bp) + (uint64_t)offset;
	if (kind == RECIPE_DEREF_BP) {
		direct = mem_is_direct(mem, next.sp);
		if (!mem_load(mem, next.sp, &next.sp))
			return false;
	}
	const uint64_t ra_slot = next.sp + (uint64_t)recipe_return_offset(recipe);
	uint64_t bp_slot = ra_slot;
	if (recipe_bp(recipe) != RECIPE_BP_SAME) {
		bp_slot = (recipe_bp(recipe) == RECIPE_BP_AT_BP ? s->bp : next.sp) +
			  (uint64_t)recipe_bp_offset(recipe);
		if (!mem_load(mem, bp_slot, &next.bp))
			return false;
	}
	if (!mem_load(mem, ra_slot, &next.pc))
		return false;
	next.pc = arch_strip(next.pc);
	direct = direct && mem_is_direct(mem, ra_slot) && mem_is_direct(mem, bp_slot);
	r->kind = !direct ? RECORD_OPEN : kind == RECIPE_DEREF_BP ? RECORD_DEREF : RECORD_PLAIN;
	r->aux = (int32_t)(ARCH_RETURN_BITS ? recipe_return_offset(recipe) : offset);
	r->bp_slot = bp_slot;
	*s = next;
	return true;
}

static inline struct record *previous_records(const struct unwind_thread *t)
{
	return t->records + 2 * (size_t)t->max_depth - t->n_records;
}

static inline uint64_t *previous_addresses(const struct unwind_thread *t)
{
	return t->addresses + 2 * (size_t)t->max_depth - t->n_addresses;
}

/* ---- proofs of the previous path ---- */

/*
 * Returns true if proofs show that the previous path is unchanged from record i outwards. Not
 * inline, because the loop needs its registers.
 */
static __attribute__((noinline)) bool is_proven(const struct unwind_thread *t, uint32_t i)
{
	const uint32_t n = t->n_records - i;
	const size_t at = 2 * (size_t)t->max_depth - n;
	return n <= t->n_proven && proof_sum(t->slots + at, n - 1, t->stack.hi) == t->proof[at];
}

/*
 * Stores proofs for the records from i outwards, which were confirmed word by word. Stops at
 * another kind of frame or another stack.
 */
static void prove(struct unwind_thread *t, uint32_t i)
{
	const size_t top = 2 * (size_t)t->max_depth;
	size_t at = top - t->n_proven;
	if (at == top)
		t->proof[--at] = 0; /* the outermost frame has no caller */
	for (; at > top - (t->n_records - i); at--) {
		const struct record *r = &t->records[at - 1], *caller = &t->records[at];
		const uint64_t pc_at = record_return_slot(r, caller);
		if (r->kind != RECORD_PLAIN ||
		    !proof_make_slots(&t->slots[at - 1], t->stack.hi, pc_at, r->bp_slot))
			break;
		t->proof[at - 1] =
			t->proof[at] + proof_hash(caller->pc,
						  r->bp_slot == pc_at ? caller->pc : caller->bp,
						  top - at);
	}
	t->n_proven = (uint32_t)(top - at);
}

/*
 * Copies the records [from, to) of the previous path. The walk continues with the state of record
 * `to`. Returns false if there is no room.
 */
static bool copy_previous(struct walk *w, uint32_t from, uint32_t to)
{
	struct unwind_thread *t = w->thread;
	const struct record *old = previous_records(t);
	const uint64_t *addresses = previous_addresses(t);
	for (uint32_t i = from; i < to; i++) {
		if (w->n_records == t->max_depth)
			return false;
		t->records[w->n_records++] = old[i];
		if (!old[i].skipped)
			t->addresses[w->n_addresses++] = addresses[t->n_addresses - old[i].n_outer];
	}
	t->counts.frames_reused += to - from;
	w->state = (struct state){
		.pc = old[to].pc, .sp = old[to].sp, .bp = old[to].bp, .exact = old[to].exact};
	w->old = to + 1;
	return true;
}

/*
 * If the state equals that of a frame of the previous walk, follows the old frames as far as they
 * are confirmed. Returns true if that reached the root, and sets w->n_tail. Otherwise the walk
 * continues from w->state.
 */
static bool meet_previous(struct walk *w)
{
	struct unwind_thread *t = w->thread;
	const struct record *old = previous_records(t);
	const uint32_t n = t->n_records;
	uint32_t i = w->old;
	while (i < n && old[i].sp < w->state.sp)
		i++;
	w->old = i;
	if (i == n || old[i].sp != w->state.sp || old[i].pc != w->state.pc ||
	    old[i].bp != w->state.bp || old[i].exact != w->state.exact)
		return false;
	if (w->mark || old[i].marked)
		return false;
	if (is_proven(t, i)) {
		w->n_tail = n - i;
		t->counts.frames_reused += n - i;
		return true;
	}
	uint32_t to = i;
	while (to + 1 < n && old[to].kind != RECORD_OPEN &&
	       record_still_calls(&old[to], &old[to + 1]))
		to++;
	if (to + 1 == n && t->closed) {
		prove(t, i);
		w->n_tail = n - i;
		t->counts.frames_reused += n - i;
		return true;
	}
	copy_previous(w, i, to);
	return false;
}

static struct record *add_frame(struct walk *w, uint64_t key, uint64_t recipe, uint64_t delta)
{
	struct unwind_thread *t = w->thread;
	struct record *r = &t->records[w->n_records++];
	r->pc = w->state.pc;
	r->sp = w->state.sp;
	r->bp = w->state.bp;
	r->exact = w->state.exact;
	r->kind = RECORD_OPEN;
	r->skipped = recipe & RECIPE_SKIP;
	r->marked = w->mark;
	r->laid = w->laid;
	r->by_code = recipe & RECIPE_BY_CODE;
	r->signal = recipe_kind(recipe) == RECIPE_SIGNAL;
	/* Code of no module may be so high on aarch64 that its address has the bit of the mark. */
	if (!r->skipped)
		t->addresses[w->n_addresses++] =
			((key - delta) & ~UNWIND_ADDR_MARK) | (w->mark ? UNWIND_ADDR_MARK : 0);
	return r;
}

enum doubt { DOUBT_REPLACED, DOUBT_ROOT, DOUBT_DROP };

static bool has_cfi(uint64_t recipe)
{
	return !(recipe & RECIPE_BY_CODE) &&
	       ((recipe_kind(recipe) >= RECIPE_SP && recipe_kind(recipe) <= RECIPE_SLOW) ||
		recipe_kind(recipe) == RECIPE_GO || recipe_kind(recipe) == RECIPE_LEAF);
}

/*
 * Returns true for code without tables that no call leads to, if only tables led to it. Code that
 * makes a new stack put this address there, for a function that must not return (Boost's
 * make_fcontext).
 */
static bool is_end_of_stack(const struct walk *w, const struct record *callee, uint64_t recipe)
{
	return !w->heuristic && !callee->exact && !callee->by_code &&
	       recipe_kind(recipe) == RECIPE_NO_CFI && (recipe & RECIPE_IN_TEXT);
}

/*
 * Decides about a return address that does not follow a call, or that is not in code; see
 * doc/unwinding.md, "What is marked". DOUBT_REPLACED: w->state was replaced. DOUBT_DROP: it cannot
 * be a frame.
 */
static enum doubt doubt(struct walk *w)
{
	struct record *callee = &w->thread->records[w->n_records - 1];
	const struct state from = {
		.pc = callee->pc, .sp = callee->sp, .bp = callee->bp, .exact = callee->exact};
	struct heuristic found;
	uint64_t delta;
	const uint64_t at = find_recipe(w, w->state.pc, &delta);
	const bool is_known = recipe_kind(at) == RECIPE_ROOT || recipe_kind(at) == RECIPE_SIGNAL;
	callee->kind = RECORD_OPEN;
	if ((callee->laid && !(at & RECIPE_AT_START)) || is_end_of_stack(w, callee, at))
		return DOUBT_ROOT;
	if (has_cfi(at) && (is_known || !w->heuristic)) {
		w->state.exact = true;
		w->laid = at & RECIPE_AT_START;
		w->mark = !is_known;
		w->heuristic |= w->mark;
		return DOUBT_REPLACED;
	}
	if (!w->mark && (callee->exact || callee->by_code) && heuristic_step(w, &from, &found)) {
		w->state = found.next;
		w->mark = true;
		w->heuristic = true;
		return DOUBT_REPLACED;
	}
	return DOUBT_DROP;
}

static enum unwind_end end_of(enum step_status status)
{
	static const enum unwind_end of[] = {UNWIND_ROOT,   UNWIND_ROOT,    UNWIND_NO_MODULE,
					     UNWIND_NO_CFI, UNWIND_BAD_CFI, UNWIND_UNREADABLE};
	return of[status];
}

/*
 * Returns true for code that will load its stack pointer from a word relative to bp which it has
 * not pushed yet. The recipe does not know where bp is relative to sp.
 */
static bool is_not_yet_saved(const struct state *s, uint64_t recipe)
{
	return recipe_kind(recipe) == RECIPE_DEREF_BP && (recipe & RECIPE_BY_CODE) &&
	       s->bp + (uint64_t)recipe_cfa_offset(recipe) < s->sp;
}

/* Does what the plain step cannot. Returns false if the walk has ended, and sets *end. */
static bool step_other(struct walk *w, uint64_t recipe, struct record *r, enum unwind_end *end)
{
	const enum recipe_kind kind = recipe_kind(recipe);
	const uint64_t sp = w->state.sp, key = state_key(&w->state);
	struct state next;
	enum step_status status = STEP_OK;
	switch (kind) {
	case RECIPE_ROOT:
		w->closed = true;
		*end = UNWIND_ROOT;
		return false;
	case RECIPE_SP:
	case RECIPE_BP:
	case RECIPE_DEREF_BP:
	case RECIPE_SIGNAL:
		if (is_not_yet_saved(&w->state, recipe))
			status = STEP_NO_CFI;
		else if (!walk_step_general(&w->thread->mem, recipe, r, &w->state))
			status = STEP_UNREADABLE;
		else if (recipe & RECIPE_REWRITES) {
			if (!throw_step(w, r, key)) {
				*end = UNWIND_THROWING;
				return false;
			}
		} else if (kind == RECIPE_SIGNAL) /* the handler may have run on another stack */
			mem_note_sp(&w->thread->mem, w->thread->stack.lo, w->state.sp,
				    w->thread->stack.grows);
		break;
	case RECIPE_SLOW:
		status = step_slow(w, &next);
		if (status == STEP_OK) {
			w->state = next;
			w->mark = w->lost_registers;
			w->heuristic |= w->mark;
		}
		break;
	case RECIPE_GO:
		status = go_step(w, recipe, &w->state, &next) ? STEP_OK : STEP_NO_CFI;
		if (status == STEP_OK)
			w->state = next;
		break;
	case RECIPE_REG:
	case RECIPE_DEREF_REG:
		status = step_code(w, recipe, &next);
		if (status == STEP_OK)
			w->state = next;
		break;
	case RECIPE_LEAF:
		status = step_leaf(w, recipe, &next);
		if (status == STEP_OK)
			w->state = next;
		break;
	case RECIPE_BAD: status = STEP_BAD_CFI; break;
	default: status = kind == RECIPE_NO_CFI ? STEP_NO_CFI : STEP_NO_MODULE;
	}
	if (status != STEP_OK) {
		const struct state s = w->state;
		struct heuristic found;
		if (!heuristic_step(w, &s, &found)) {
			/* The dynamic loader does not mark its entry, which has no caller. */
			*end = status == STEP_NO_CFI && w->thread->stack.first &&
					       s.sp == w->thread->stack.first
				       ? UNWIND_ROOT
				       : end_of(status);
			return false;
		}
		w->state = found.next;
		/*
		 * If the registers contradict the code, its frame pointer is not reliable either.
		 */
		w->mark = found.is_guess || (recipe & RECIPE_BY_CODE);
		w->heuristic |= w->mark;
		w->by_bp = found.bp_slot != 0;
		if (!w->mark && mem_is_direct(&w->thread->mem, found.bp_slot) &&
		    mem_is_direct(&w->thread->mem, found.return_slot)) {
			r->kind = RECORD_PLAIN;
			if (ARCH_RETURN_BITS)
				r->aux = (int32_t)(found.return_slot - w->state.sp);
			r->bp_slot = found.bp_slot;
		}
	}
	if (w->state.sp < sp || (w->state.sp == sp && kind != RECIPE_LEAF)) {
		w->old = 0;
		if (++w->n_switches > SWITCHES_MAX) {
			*end = UNWIND_LOOP;
			return false;
		}
	}
	return true;
}

/*
 * Follows ordinary frames, with the state in registers. In these the recipe is known, the pc
 * follows a call, the plain step works, and the previous path has no frame at this sp. Walks spend
 * most of their time here; walk_follow() handles everything else.
 */
static void follow_ordinary(struct walk *w)
{
	enum {
		MASK = RECIPE_KIND_MASK | RECIPE_REWRITES | RECIPE_SKIP | RECIPE_AFTER_CALL |
		       RECIPE_BY_CODE,
		LEAST = RECIPE_AFTER_CALL | RECIPE_SP
	};
	struct unwind_thread *t = w->thread;
	const struct record *previous = previous_records(t), *old = previous + w->old,
			    *old_end = previous + t->n_records;
	struct record *r = t->records + w->n_records, *r_end = t->records + w->most;
	uint64_t *address = t->addresses + w->n_addresses;
	const uint64_t tag = w->tag;
	struct state s = w->state;
	for (; r < r_end; r++) {
		uint64_t recipe, delta;
		while (old < old_end && old->sp < s.sp)
			old++;
		if ((old < old_end && old->sp == s.sp) ||
		    !recipe_find(tag, s.pc - 1, &recipe, &delta))
			break;
		if ((recipe & MASK) - LEAST > RECIPE_BP - RECIPE_SP)
			break;
		*r = (struct record){.pc = s.pc, .sp = s.sp, .bp = s.bp};
		*address = s.pc - 1 - delta;
		if (!step_plain(&t->mem, recipe, r, &s))
			break;
		address++;
	}
	w->n_records = (uint32_t)(r - t->records);
	w->n_addresses = (uint32_t)(address - t->addresses);
	w->old = (uint32_t)(old - previous);
	w->state = s;
}

enum unwind_end walk_follow(struct walk *w)
{
	struct unwind_thread *t = w->thread;
	for (;;) {
		if (!w->state.exact && !w->mark && !w->bypass)
			follow_ordinary(w);
		if (meet_previous(w))
			return UNWIND_ROOT;
		if (w->n_records == w->most)
			return UNWIND_DEEP;
		if (w->state.pc == 0 && w->n_records > 0)
			return UNWIND_ROOT;
		uint64_t delta, key = state_key(&w->state), recipe = find_recipe(w, key, &delta);
		if (!w->state.exact && !w->by_bp && !(recipe & RECIPE_AFTER_CALL) &&
		    recipe_kind(recipe) != RECIPE_SIGNAL) {
			const bool in_text = recipe & RECIPE_IN_TEXT;
			const enum doubt found = doubt(w);
			if (found == DOUBT_REPLACED)
				continue;
			return found == DOUBT_ROOT ? UNWIND_ROOT
			       : in_text           ? UNWIND_NO_CFI
						   : UNWIND_NO_MODULE;
		}
		struct record *r = add_frame(w, key, recipe, delta);
		w->mark = w->laid = w->by_bp = false;
		const uint64_t kind = recipe & (RECIPE_KIND_MASK | RECIPE_REWRITES);
		enum unwind_end end;
		if (__builtin_expect(kind > RECIPE_BP || !step_plain(&t->mem, recipe, r, &w->state),
				     0) &&
		    !step_other(w, recipe, r, &end))
			return end;
	}
}

/*
 * Counts the outermost addresses that equal those of the previous path: the tail, and any equal
 * addresses further in.
 */
static uint32_t count_same(const struct walk *w, uint32_t n_tail_addresses)
{
	const struct unwind_thread *t = w->thread;
	const uint64_t *old_end = previous_addresses(t) + t->n_addresses - n_tail_addresses;
	const uint32_t n_old = t->n_addresses - n_tail_addresses;
	uint32_t n = 0;
	while (n < n_old && n < w->n_addresses &&
	       t->addresses[w->n_addresses - 1 - n] == old_end[-1 - (ptrdiff_t)n])
		n++;
	return n_tail_addresses + n;
}

/*
 * Makes the path: new frames and then the tail. Drops the outermost frames beyond max_depth. Sets
 * *n_same.
 */
static enum unwind_end join(struct walk *w, enum unwind_end end, uint32_t *n_same,
			    uint32_t *n_root)
{
	struct unwind_thread *t = w->thread;
	const size_t top = 2 * (size_t)t->max_depth;
	const uint32_t tail = w->n_tail;
	const uint32_t tail_addresses = tail ? t->records[top - tail].n_outer : 0;
	*n_same = end == t->end ? count_same(w, tail_addresses) : 0;
	const uint32_t n_old = t->end == UNWIND_DEEP ? t->n_addresses : 0;
	/*
	 * If a signal handler of the program jumps out of this function, there is no previous path.
	 */
	t->n_records = t->n_addresses = 0;
	t->n_proven = t->n_proven < tail ? t->n_proven : tail;
	atomic_signal_fence(memory_order_seq_cst);
	uint32_t n_records = w->n_records + tail, n_addresses = w->n_addresses + tail_addresses;
	uint32_t n_deep = 0;
	*n_root = 0;
	if (n_records > t->max_depth || end == UNWIND_DEEP)
		n_deep = deep_join(w, n_old, n_root, n_same);
	if (n_deep) {
		n_addresses = n_deep;
		n_records = 0;
		end = UNWIND_DEEP;
	} else if (n_records > t->max_depth || end == UNWIND_DEEP) {
		const uint32_t drop = n_addresses > t->max_depth ? n_addresses - t->max_depth : 0;
		memmove(t->addresses + top - tail_addresses + drop,
			t->addresses + top - tail_addresses,
			(tail_addresses - drop) * sizeof *t->addresses);
		n_addresses -= drop;
		n_records = 0;
		*n_same = 0;
		end = UNWIND_DEEP;
	} else {
		struct record *to = t->records + top - n_records;
		uint32_t n_outer = tail_addresses;
		for (uint32_t i = w->n_records; i-- > 0;) {
			to[i] = t->records[i];
			n_outer += !to[i].skipped;
			to[i].n_outer = (uint16_t)n_outer;
		}
	}
	if (!n_deep)
		memcpy(t->addresses + top - n_addresses, t->addresses,
		       w->n_addresses * sizeof *t->addresses);
	atomic_signal_fence(memory_order_seq_cst);
	t->n_records = n_records;
	t->n_addresses = n_addresses;
	t->end = end;
	t->epoch = w->epoch;
	return end;
}

/* Forgets all recipes if objects were unloaded without our knowledge (iconv does that). */
static void notice_unloads(const struct loader_state *now)
{
	static _Atomic uint64_t n_noticed;
	const uint64_t n = loader_n_removed(now);
	/* Relaxed: the epoch orders. */
	if (loader_is_quiet(now) && atomic_load_explicit(&n_noticed, memory_order_relaxed) != n &&
	    atomic_exchange_explicit(&n_noticed, n, memory_order_relaxed) != n) {
		unwind_flush_begin();
		unwind_flush_end();
	}
}

/* Starts at the registers in t->leaf. */
static struct walk begin(struct unwind_thread *t)
{
	const struct loader_state now = loader_now();
	notice_unloads(&now);
	struct walk w = {.thread = t, .epoch = recipe_epoch_now()};
	w.bypass = recipe_epoch_is_open(w.epoch) || now.is_deleting;
	w.tag = recipe_tag(w.epoch);
	w.state = (struct state){.pc = t->leaf.reg[ARCH_PC],
				 .sp = t->leaf.reg[ARCH_SP],
				 .bp = t->leaf.reg[ARCH_BP],
				 .exact = true};
	w.most = deep_most_records(t, w.state.sp);
	mem_begin(&t->mem);
	code_begin(&t->code_seen);
	mem_note_sp(&t->mem, t->stack.lo, w.state.sp, t->stack.grows);
	if (w.bypass || w.epoch != t->epoch) {
		/* Their recipes may be stale. The addresses are still valid for n_same. */
		t->n_records = 0;
		t->n_extents = 0;
	}
	t->image.text_lo = t->image.text_hi = 0; /* its object may have been unloaded */
	t->regs_at = UINT32_MAX;
	return w;
}

/*
 * Moves the previous path to the larger arrays, once, when a path is deeper than the first arrays.
 * In the meantime there is no previous path, as in join().
 */
static bool enlarge(struct unwind_thread *t)
{
	if (!t->full)
		return false;
	const uint32_t n_records = t->n_records, n_addresses = t->n_addresses,
		       n_proven = t->n_proven;
	const struct record *records = previous_records(t);
	const uint64_t *addresses = previous_addresses(t);
	const size_t proven_at = 2 * (size_t)t->max_depth - n_proven;
	const struct proof_slots *slots = t->slots + proven_at;
	const uint64_t *proof = t->proof + proven_at;
	t->n_records = t->n_addresses = t->n_proven = 0;
	atomic_signal_fence(memory_order_seq_cst);
	unwind_take_arrays(t, t->full, t->full_depth);
	const size_t top = 2 * (size_t)t->max_depth;
	memcpy(t->records + top - n_records, records, n_records * sizeof *records);
	memcpy(t->addresses + top - n_addresses, addresses, n_addresses * sizeof *addresses);
	memcpy(t->slots + top - n_proven, slots, n_proven * sizeof *slots);
	memcpy(t->proof + top - n_proven, proof, n_proven * sizeof *proof);
	t->full = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	t->n_records = n_records;
	t->n_addresses = n_addresses;
	t->n_proven = n_proven;
	return true;
}

static void walk(struct unwind_thread *t, struct unwind_path *path)
{
	struct walk w = begin(t);
	enum unwind_end end = walk_follow(&w);
	if ((end == UNWIND_DEEP || w.n_records + w.n_tail > t->max_depth) && enlarge(t)) {
		w = begin(t);
		end = walk_follow(&w);
	}
	t->closed = w.closed || w.n_tail;
	path->end = join(&w, end, &path->n_same, &path->n_root);
	if (path->end == UNWIND_ROOT && w.n_tail < DEEP_ROOTS && t->n_records >= DEEP_ROOTS &&
	    !w.heuristic && !w.bypass)
		deep_keep_roots(t, previous_records(t) + t->n_records - DEEP_ROOTS,
				previous_addresses(t) + t->n_addresses);
	path->addr = previous_addresses(t);
	path->n = t->n_addresses;
	path->heuristic = w.heuristic;
	t->counts.walks++;
	t->counts.frames_walked += w.n_records;
	t->counts.guarded_loads =
		t->mem.n_guarded + t->code_seen.n_guarded + t->generated.n_reads;
	t->counts.ends[path->end]++;
}

void unwind_walk(struct unwind_thread *t, const ucontext_t *context, struct unwind_path *path)
{
	arch_regs_from_context(&t->leaf, context);
	walk(t, path);
}

bool unwind_find_return(struct unwind_thread *t, const ucontext_t *context, uint64_t pc,
			uint64_t *sp)
{
	enum { FRAMES_MOST = 4 };
	struct record unused;
	arch_regs_from_context(&t->leaf, context);
	struct walk w = begin(t);
	for (unsigned i = 0; i < FRAMES_MOST; i++) {
		uint64_t delta;
		const uint64_t recipe = find_recipe(&w, state_key(&w.state), &delta);
		const enum recipe_kind kind = recipe_kind(recipe);
		if ((recipe & (RECIPE_SKIP | RECIPE_BY_CODE)) ||
		    (kind != RECIPE_SP && kind != RECIPE_BP) ||
		    !walk_step_general(&t->mem, recipe, &unused, &w.state))
			return false;
		if (w.state.pc == pc) {
			*sp = w.state.sp;
			return true;
		}
	}
	return false;
}

void unwind_walk_regs(struct unwind_thread *t, const struct unwind_regs *regs,
		      struct unwind_path *path)
{
	memcpy(t->leaf.reg, regs->reg, sizeof t->leaf.reg);
	t->leaf.known = ARCH_ALL_REGS;
	walk(t, path);
}

void unwind_walk_other(struct unwind_thread *t, const struct unwind_stack *stack,
		       const struct unwind_regs *regs, struct unwind_path *path)
{
	t->stack = *stack;
	t->mem.lo = t->mem.hi = 0; /* nothing is certainly mapped */
	unwind_walk_regs(t, regs, path);
}

/*
 * The pc of an interrupted frame is exact. The pc of a laid or guessed frame is exact too, but
 * these frames are marked.
 */
bool unwind_met_signal(const struct unwind_thread *t)
{
	const struct record *r = previous_records(t);
	for (uint32_t i = 1; i < t->n_records; i++)
		if (r[i - 1].kind == RECORD_SIGNAL || (r[i].exact && !r[i].laid && !r[i].marked))
			return true;
	return t->n_records == 0;
}

/* A frame extends from its sp to its caller's. The end of the root is unknown. */
static uint32_t find_place(const struct unwind_thread *t, struct unwind_scan *scan, uintptr_t place,
			   bool also_skipped)
{
	const struct record *r = previous_records(t);
	uint32_t address = scan->address;
	for (uint32_t i = scan->record; i + 1 < t->n_records; i++) {
		if ((also_skipped || !r[i].skipped) && place >= r[i].sp && place < r[i + 1].sp) {
			*scan = (struct unwind_scan){i, address};
			return address;
		}
		address += !r[i].skipped;
	}
	return UINT32_MAX;
}

uint32_t unwind_find_on_stack(const struct unwind_thread *t, struct unwind_scan *scan,
			      uintptr_t place)
{
	return find_place(t, scan, place, false);
}

uint32_t unwind_find_outside(const struct unwind_thread *t, struct unwind_scan *scan,
			     uintptr_t place)
{
	return find_place(t, scan, place, true);
}

void unwind_own_stack(const struct unwind_thread *t, uintptr_t *lo, uintptr_t *hi)
{
	*lo = t->mem.lo;
	*hi = t->mem.hi;
}
