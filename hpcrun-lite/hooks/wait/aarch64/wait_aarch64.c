/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aarch64; see wait_machine.h. A system call changes x0 alone, which has argument 0 before it and
 * the result after it.
 */
#include "hpcrun-lite/hooks/wait/wait_machine.h"

#include "common/safe/load.h"
#include "hpcrun-lite/unwind/code/insn.h"

long wait_number_in_code(const ucontext_t *context, uintptr_t pc)
{
	enum { SVC_0 = 0xd4000001 };
	uint32_t code;
	return machine_may_have_called(context) &&
			       load_guarded(&code, pc - sizeof code, sizeof code) == sizeof code &&
			       code == SVC_0
		       ? machine_number_again(context)
		       : NO_CALL;
}

/* ---- argument 0 ---- */

enum { N_BEFORE = 12, N_AROUND = 64, WORD = 4 };

/* Returns true if a branch nearby leads to an instruction in [from, to], or nothing is known. */
static bool is_target(uintptr_t from, uintptr_t to)
{
	uint32_t code[2 * N_AROUND];
	uintptr_t lo = to - N_AROUND * WORD;
	size_t n = load_guarded(code, lo, sizeof code) / WORD;
	struct insn i;
	if (n == 0) { /* the page before is not code */
		lo = machine_page_floor(to);
		n = load_guarded(code, lo, sizeof code) / WORD;
	}
	for (size_t k = 0; k < n; k++)
		if (insn_decode((const uint8_t *)&code[k], WORD, lo + k * WORD, &i) &&
		    (i.kind == INSN_JUMP || i.kind == INSN_BRANCH) && (uint64_t)i.value >= from &&
		    (uint64_t)i.value <= to)
			return true;
	return n == 0;
}

/* Adds the registers that an instruction changes. Returns false if it may lead elsewhere. */
static bool add_changed(const struct insn *i, uint32_t *changed)
{
	const uint32_t to = i->to < 32 ? 1u << i->to : 0, from = i->from < 32 ? 1u << i->from : 0,
		       second = i->second < 32 ? 1u << i->second : 0;
	switch (i->kind) {
	case INSN_PLAIN:
	case INSN_NOP: return true;
	case INSN_ADD:
	case INSN_MOVE: *changed |= to; return true;
	case INSN_STORE: *changed |= i->after ? to : 0; return true;
	case INSN_LOAD: *changed |= to | second | (i->after ? from : 0); return true;
	case INSN_SET: *changed |= to | from | second; return true;
	default: return false;
	}
}

/*
 * libc's functions move argument 0 from another register to x0, directly before the call (glibc up
 * to 2.40). That register still has it, if nothing in between has changed it and no branch leads
 * there.
 */
bool wait_first_in_code(const ucontext_t *context, uintptr_t pc, long *first)
{
	const uintptr_t call = pc - WORD;
	uint32_t changed = 0, code;
	struct insn i;
	for (uintptr_t at = call - WORD; call - at <= N_BEFORE * WORD; at -= WORD) {
		if (load_guarded(&code, at, WORD) != WORD)
			return false;
		const bool is_moved = (code & 0xffe0ffff) == 0xaa0003e0, /* mov x0, x.. */
			is_extended = (code & 0xfffffc1f) == 0x93407c00; /* sxtw x0, w.. */
		if (is_moved || is_extended) {
			const unsigned from = code >> (is_moved ? 16 : 5) & 31;
			*first = machine_argument(context, from);
			if (is_extended)
				*first = (int)*first;
			return from != 0 && from < 31 && !(changed >> from & 1) &&
			       !is_target(at + WORD, call);
		}
		if (!insn_decode((const uint8_t *)&code, WORD, at, &i) ||
		    !add_changed(&i, &changed) || (changed & 1))
			return false;
	}
	return false;
}

/* ---- marks ---- */

/*
 * The upper half of x8, which has the number: the kernel does not look at it, and code sets x8 anew
 * before each call.
 */
enum { TAG = 0x68706c00, MARKS = 0x3, SAME = 0x4, HALF = 32 };

static uint32_t tag_of(const ucontext_t *context)
{
	const uint32_t tag = (uint32_t)(context->uc_mcontext.regs[8] >> HALF);
	return (tag & ~(uint32_t)(MARKS | SAME)) == TAG ? tag : TAG;
}

static void set_tag(ucontext_t *context, uint32_t tag)
{
	const uint64_t upper = tag & (MARKS | SAME) ? tag : 0;
	context->uc_mcontext.regs[8] = (uint32_t)context->uc_mcontext.regs[8] | upper << HALF;
}

enum wait_mark wait_mark_of(const ucontext_t *context)
{
	return (enum wait_mark)(tag_of(context) & MARKS);
}

void wait_set_mark(ucontext_t *context, enum wait_mark mark)
{
	set_tag(context, (tag_of(context) & ~(uint32_t)MARKS) | (uint32_t)mark);
}

void wait_set_same(ucontext_t *context)
{
	set_tag(context, tag_of(context) | SAME);
}

bool wait_take_same(ucontext_t *context)
{
	const uint32_t tag = tag_of(context);
	set_tag(context, tag & ~(uint32_t)SAME);
	return tag & SAME;
}
