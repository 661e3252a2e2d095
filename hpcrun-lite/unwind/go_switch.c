/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows a path where Go's run time switched from a goroutine's stack to the thread's own. The
 * path continues in the goroutine. The structures of the run time (runtime2.go: g, m, gobuf;
 * asm_amd64.s of Go 1.18 to 1.24) must confirm each other by their pointers. Uses guarded loads
 * only. Test: tests/cli/unwind/unwind_languages.sh.
 */
#include "common/safe/sys.h"
#include "hpcrun-lite/unwind/go.h"
#include "hpcrun-lite/unwind/internal.h"

#include <string.h>

enum {
	G_STACK_HI = 8, /* after stack.lo */
	G_M = 48,
	G_SCHED_SP = 56, /* and its pc */
	G_BYTES = 72,
	M_CURG = 0xc0,
	M_CURG_1_25 = 0xb8, /* struct gobuf lost a word */
	M_BYTES = 0xc8,
	CODE_BYTES = 64,
};

static uint64_t word(const uint8_t *bytes, size_t offset)
{
	uint64_t v;
	memcpy(&v, bytes + offset, sizeof v);
	return v;
}

static bool load(struct walk *w, uint64_t from, void *to, size_t n)
{
	return mem_load_guarded(&w->thread->mem, from, to, n);
}

/*
 * Finds the first place where the code reads the thread's g from %fs: mov %fs:d, %reg, or mov
 * %fs:(%rcx), %reg after mov $d, %rcx or mov slot(%rip), %rcx (position-independent code).
 */
static bool find_g_offset(struct walk *w, const uint8_t *code, uint64_t at, int64_t *offset)
{
	enum { BEFORE = 7 };
	for (unsigned i = 0; i + 9 <= CODE_BYTES; i++) {
		int32_t d;
		if (code[i] != 0x64 || code[i + 1] != 0x48 || code[i + 2] != 0x8b)
			continue;
		if ((code[i + 3] & 0xc7) == 0x04 && code[i + 4] == 0x25) {
			memcpy(&d, code + i + 5, sizeof d);
			*offset = d;
			return true;
		}
		if ((code[i + 3] & 0xc7) != 0x01 || i < BEFORE || code[i - 7] != 0x48)
			continue;
		memcpy(&d, code + i - 4, sizeof d);
		*offset = d;
		if (code[i - 6] == 0xc7 && code[i - 5] == 0xc1)
			return true;
		if (code[i - 6] == 0x8b && code[i - 5] == 0x0d)
			return load(w, at + i + (uint64_t)(int64_t)d, offset, sizeof *offset);
	}
	return false;
}

/* Finds the goroutine that the thread left, from g0 and its m. */
static bool find_left_goroutine(struct walk *w, const uint8_t *code, uint64_t code_at,
			   uint8_t g[G_BYTES])
{
	static const unsigned curg[] = {M_CURG, M_CURG_1_25};
	uint8_t m[M_BYTES];
	uint64_t g0;
	int64_t offset;
	if (!find_g_offset(w, code, code_at, &offset) ||
	    !load(w, (uint64_t)machine_thread_pointer() + (uint64_t)offset, &g0, sizeof g0) ||
	    !load(w, g0, g, G_BYTES))
		return false;
	const uint64_t m_at = word(g, G_M);
	if (!load(w, m_at, m, sizeof m) || word(m, 0) != g0)
		return false;
	for (unsigned i = 0; i < sizeof curg / sizeof *curg; i++) {
		const uint64_t at = word(m, curg[i]);
		if (at == 0 || at == g0 || !load(w, at, g, G_BYTES) || word(g, G_M) != m_at)
			continue;
		const uint64_t sp = word(g, G_SCHED_SP);
		if (sp > word(g, 0) && sp < word(g, G_STACK_HI))
			return true;
	}
	return false;
}

/*
 * Finds the caller of the function at s->pc, which had this sp when it left the stack. Since Go
 * 1.24 the function pushes bp first, and its first instruction shows that.
 */
static bool find_caller(struct walk *w, uint64_t sp, const struct state *s, struct state *next)
{
	enum { PUSH_BP = 0x55 };
	struct go_function f;
	uint8_t first;
	if (!image_find(s->pc - 1, false, &w->thread->image) ||
	    !go_lookup(&w->thread->image, s->pc - 1, &f) || !load(w, f.lo, &first, sizeof first))
		return false;
	*next = (struct state){.bp = s->bp};
	if (first == PUSH_BP) {
		if (!load(w, sp, &next->bp, sizeof next->bp))
			return false;
		sp += 8;
	}
	next->sp = sp + 8;
	return load(w, sp, &next->pc, sizeof next->pc);
}

/*
 * Finds where asmcgocall saved the depth of its stack and, above it, g: at 40 and 48 from sp before
 * Go 1.24, at 0 and 8 since then. The code after its call reads g into rdi, or the depth into rsi
 * if there is no g.
 */
static bool find_saved(struct walk *w, uint64_t pc, uint64_t *at)
{
	enum { N_BYTES = 24 };
	uint8_t code[N_BYTES];
	if (!load(w, pc, code, sizeof code))
		return false;
	for (unsigned i = 0; i + 5 <= N_BYTES; i++) {
		const uint8_t *c = code + i;
		if (c[0] != 0x48 || c[1] != 0x8b || c[3] != 0x24)
			continue;
		if (c[2] == 0x7c || c[2] == 0x74 || c[2] == 0x34) {
			*at = c[2] == 0x7c ? c[4] - 8u : c[2] == 0x74 ? c[4] : 0;
			return *at < 0x80;
		}
	}
	return false;
}

static bool step_asmcgocall(struct walk *w, const struct state *s, struct state *next)
{
	uint8_t saved[16], stack[16];
	uint64_t at;
	if (!find_saved(w, s->pc, &at) || !load(w, s->sp + at, saved, sizeof saved))
		return false;
	const uint64_t depth = word(saved, 0), g = word(saved, 8);
	if (g == 0) /* the goroutine was on this stack already */
		return find_caller(w, depth, s, next);
	if (!load(w, g, stack, sizeof stack) || depth >= word(stack, G_STACK_HI) - word(stack, 0))
		return false;
	return find_caller(w, word(stack, G_STACK_HI) - depth, s, next);
}

static bool step_to_goroutine(struct walk *w, const struct state *s, bool is_morestack,
			      struct state *next)
{
	uint8_t code[CODE_BYTES], g[G_BYTES];
	struct go_function f;
	uint64_t code_at = s->pc;
	if (is_morestack) { /* morestack does not return: its first instructions read g */
		if (!image_find(s->pc - 1, false, &w->thread->image) ||
		    !go_lookup(&w->thread->image, s->pc - 1, &f))
			return false;
		code_at = f.lo;
	}
	if (!load(w, code_at, code, sizeof code) || !find_left_goroutine(w, code, code_at, g))
		return false;
	if (!is_morestack)
		return find_caller(w, word(g, G_SCHED_SP), s, next);
	*next = (struct state){
		.pc = word(g, G_SCHED_SP + 8), .sp = word(g, G_SCHED_SP), .bp = s->bp};
	return true;
}

bool go_step(struct walk *w, uint64_t recipe, const struct state *s, struct state *next)
{
	switch ((unsigned)recipe_bp(recipe)) {
	case GO_STEP_INTERRUPTED:
		next->exact = true;
		next->bp = s->bp;
		next->sp = s->sp + (uint64_t)recipe_cfa_offset(recipe);
		return load(w, next->sp - 8, &next->pc, sizeof next->pc);
	case GO_STEP_ASMCGOCALL: return !s->exact && step_asmcgocall(w, s, next);
	case GO_STEP_SYSTEMSTACK: return !s->exact && step_to_goroutine(w, s, false, next);
	default: return !s->exact && step_to_goroutine(w, s, true, next);
	}
}
