/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where there is no CFI (assembler, generated code), or it proves wrong: a return address is a word on the stack that points behind a call
 * instruction in the text of a module. Tried in the order of likelihood; whoever is found this way is marked.
 * Must not read code or stack that may not be there but by guarded loads. Tests: tests/unit/test_unwind_odd.c, tests/workload/unwind_shadow.c.
 */
#include "hpcrun-lite/unwind/internal.h"

enum { SCAN_WORDS = 96, BP_DISTANCE_MAX = 1 << 20, PAGE = 4096 };

bool heuristic_is_return(struct walk *w, uint64_t address, bool guarded, bool *in_text)
{
	struct unwind_thread *t = w->thread;
	uint8_t code[ARCH_CALL_MAX_BYTES];
	const uint64_t from = address - sizeof code;
	*in_text = false;
	if (address < PAGE)
		return false;
	if (image_find(address - 1, guarded, &t->image)) {
		const struct image *image = &t->image;
		if (image->has_segments && image->text_hi == 0)
			return false;
		*in_text = true;
		if (from >= image->text_lo && address <= image->text_hi)
			return arch_ends_in_call((const uint8_t *)from, sizeof code);
	}
	/* At the start of a region of generated code there may be nothing before the page. */
	const size_t in_page = (address - 1) % PAGE + 1, n = in_page < sizeof code ? in_page : sizeof code;
	if (mem_load_guarded(&t->mem, from, code, sizeof code))
		return arch_ends_in_call(code, sizeof code);
	return mem_load_guarded(&t->mem, address - n, code, n) && arch_ends_in_call(code, n);
}

/* Whether pc is a return address into a module. */
static bool is_return(struct walk *w, uint64_t pc)
{
	bool in_text;
	/* Most words are no address in a module: they must not cost the system call that looks at code elsewhere. */
	return pc >= PAGE && image_find(pc - 1, w->bypass, &w->thread->image) && heuristic_is_return(w, pc, w->bypass, &in_text) && in_text;
}

static bool return_at(struct walk *w, uint64_t slot, uint64_t *pc)
{
	return mem_load(&w->thread->mem, slot, pc) && is_return(w, *pc);
}

/* push %rbp; mov %rsp, %rbp. Callers in generated code count too: the chain itself speaks for them. */
static bool by_frame_pointer(struct walk *w, const struct state *s, struct state *next)
{
	bool in_text;
	uint64_t pc, bp;
	if (s->bp % 8 != 0 || s->bp < s->sp || s->bp - s->sp > BP_DISTANCE_MAX)
		return false;
	if (!mem_load(&w->thread->mem, s->bp, &bp) || !mem_load(&w->thread->mem, s->bp + 8, &pc) ||
	    !heuristic_is_return(w, pc, w->bypass, &in_text))
		return false;
	*next = (struct state){.pc = pc, .sp = s->bp + 16, .bp = bp};
	return true;
}

static bool by_scan(struct walk *w, const struct state *s, struct state *next)
{
	for (unsigned i = 0; i < SCAN_WORDS; i++) {
		const uint64_t slot = (s->sp & ~UINT64_C(7)) + 8 * i;
		uint64_t pc;
		if (!mem_load(&w->thread->mem, slot, &pc)) /* the stack's end: each try costs a system call */
			return false;
		if (is_return(w, pc)) {
			*next = (struct state){.pc = pc, .sp = slot + 8, .bp = s->bp};
			return true;
		}
	}
	return false;
}

bool heuristic_step(struct walk *w, const struct state *s, struct state *next)
{
	uint64_t pc, top;
	bool found = false;
	if (s->exact && return_at(w, s->sp, &pc)) { /* a function that has not touched the stack */
		*next = (struct state){.pc = pc, .sp = s->sp + 8, .bp = s->bp};
		found = true;
	} else if (s->exact && mem_load(&w->thread->mem, s->sp, &top) && top == s->bp &&
		   return_at(w, s->sp + 8, &pc)) { /* behind push %rbp */
		*next = (struct state){.pc = pc, .sp = s->sp + 16, .bp = s->bp};
		found = true;
	}
	/*
	 * An interrupted function is mostly a leaf in assembler, where bp may be the caller's: the nearest return address counts. One that has called is more likely
	 * to be compiled code with a frame pointer, and what lies about in its frame is old. So is code in no module: what generates code keeps frame
	 * pointers (V8, LuaJIT, .NET, the JVM when asked to).
	 */
	if (!found && s->exact && image_find(s->pc, w->bypass, &w->thread->image))
		found = by_scan(w, s, next) || by_frame_pointer(w, s, next);
	else if (!found)
		found = by_frame_pointer(w, s, next) || by_scan(w, s, next);
	w->heuristic |= found;
	w->thread->counts.heuristics += found;
	return found;
}

/* Copies up to n bytes of code. */
static size_t read_code(struct unwind_thread *t, uint64_t pc, uint8_t *dst, size_t n)
{
	const struct image *image = &t->image;
	if (pc >= image->text_lo && pc < image->text_hi) {
		n = n < image->text_hi - pc ? n : image->text_hi - pc;
		__builtin_memcpy(dst, (const void *)pc, n);
		return n;
	}
	return mem_load_guarded(&t->mem, pc, dst, n) ? n : 0;
}

static bool is_function(struct unwind_thread *t, uint64_t pc)
{
	struct cfi_frame frame;
	return cfi_lookup(&t->image.cfi, pc, &t->cfi, &frame) == CFI_OK && frame.pc_lo == pc;
}

/*
 * uw_install_context is a macro: uw_install_context_1(); _Unwind_DebugHook(); __builtin_eh_return(). So from the first of these calls on, at most one more call lies before
 * the exit, and before it at least two. The return address is overwritten last of all: while it is that of a call of this function, the path is likely right.
 */
enum rewriting heuristic_rewriting(struct walk *w, uint64_t pc, uint64_t return_address)
{
	enum { CODE_BYTES = sizeof w->thread->code, CALLS_LEFT = 1 };
	struct unwind_thread *t = w->thread;
	struct cfi_frame frame;
	if (!image_find(pc, false, &t->image) || cfi_lookup(&t->image.cfi, pc, &t->cfi, &frame) != CFI_OK)
		return REWRITING_NOW;
	const uint64_t function = frame.pc_lo;
	const size_t left = frame.pc_hi - pc;
	const size_t n = read_code(t, pc, t->code, left < CODE_BYTES ? left : CODE_BYTES);
	const uint8_t *exit = arch_find_eh_return(t->code, n);
	if (!exit)
		return left > CODE_BYTES ? REWRITING_NOT : REWRITING_REGISTERS;
	unsigned n_calls = 0;
	for (const uint8_t *at = t->code; at < exit && n_calls <= CALLS_LEFT; at++) {
		uint64_t target;
		if (arch_direct_call(at, (size_t)(exit - at), pc + (uint64_t)(at - t->code), &target))
			n_calls += is_function(t, target);
	}
	if (n_calls > CALLS_LEFT)
		return REWRITING_NOT;
	return arch_calls(&t->mem, return_address, function) == ARCH_CALL_YES ? REWRITING_REGISTERS : REWRITING_NOW;
}
