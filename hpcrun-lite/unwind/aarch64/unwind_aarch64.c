/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aarch64: registers of a signal context, rows of CFI as recipes, calls and jumps. DWARF for the
 * Arm 64-bit architecture; Arm Architecture Reference Manual, C4.1 (encodings). Writes only to the
 * memory that it is given. Test: tests/workload/unwind/unwind_shadow.cc.
 */
#include "hpcrun-lite/unwind/arch.h"
#include "hpcrun-lite/unwind/recipe.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <signal.h>
#include <string.h>

_Static_assert(ARCH_SIGNAL_REGS == sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs),
	       "struct rt_sigframe: a siginfo_t and a ucontext_t");
_Static_assert(offsetof(mcontext_t, pc) - offsetof(mcontext_t, regs) ==
		       ARCH_SIGNAL_PC - ARCH_SIGNAL_REGS,
	       "struct sigcontext");

void arch_regs_from_context(struct regs *regs, const ucontext_t *context)
{
	const mcontext_t *m = &context->uc_mcontext;
	for (unsigned i = 0; i <= MACHINE_LR; i++)
		regs->reg[i] = m->regs[i];
	regs->reg[ARCH_SP] = m->sp;
	regs->reg[ARCH_PC] = m->pc;
	regs->known = ARCH_ALL_REGS;
}

bool arch_regs_from_signal_frame(struct regs *regs, struct mem *mem, uint64_t sp)
{
	for (unsigned i = 0; i < CFI_N_REGS; i++)
		if (!mem_load(mem, sp + ARCH_SIGNAL_REGS + 8 * i, &regs->reg[i]))
			return false;
	regs->known = ARCH_ALL_REGS;
	return true;
}

/* VG: the length of SVE's vectors, in units of 64 bits. */
bool arch_constant_register(uint64_t reg, uint64_t *value)
{
	enum { VG = 46, GET_LENGTH = 51 /* PR_SVE_GET_VL */, LENGTH_MASK = 0xffff };
	const long length = reg == VG ? machine_call3(SYS_prctl, GET_LENGTH, 0, 0) : -1;
	*value = (uint64_t)(length & LENGTH_MASK) / 8;
	return length > 0;
}

/* ---- rows of CFI ---- */

static bool bp_of(const struct cfi_rule *rule, enum recipe_bp *bp, int64_t *offset)
{
	*offset = rule->kind == CFI_OFFSET ? rule->value : 0;
	*bp = rule->kind == CFI_OFFSET ? RECIPE_BP_AT_CFA : RECIPE_BP_SAME;
	return rule->kind == CFI_OFFSET || rule->kind == CFI_SAME;
}

/*
 * The table of glibc's lazy binder (_dl_runtime_resolve) does not say that the PLT has pushed two
 * words, the second of which is the return address. It puts that address above the CFA, knows
 * nothing of it at the first instruction, and has a negative CFA after the two words are popped.
 */
static bool is_binder_entry(const struct cfi_frame *frame, uint64_t pc)
{
	enum { STP_X8_X9_PUSH = 0xa9b027e8, ANY_SIZE = 0xffc07fff & ~0x8000 };
	uint32_t next;
	if (pc != frame->pc_lo || frame->pc_hi - pc < 2 * sizeof next)
		return false;
	memcpy(&next, (const uint8_t *)pc + sizeof next, sizeof next);
	return (next & ANY_SIZE) == (STP_X8_X9_PUSH & ANY_SIZE);
}

/*
 * The table of the kernel's trampoline leads to the register with the return address and not to the
 * pc (before Linux 5.8), so no signal frame is followed by its table.
 */
uint64_t arch_recipe(const struct cfi_row *row, const struct cfi_frame *frame, uint64_t pc)
{
	enum { LAST_ARGUMENT = 7 };
	const struct cfi_rule *ra = &row->reg[frame->return_column], *cfa = &row->cfa;
	enum recipe_bp bp;
	int64_t bp_offset;
	uint64_t recipe;
	if (frame->signal)
		return RECIPE_SIGNAL;
	if (ra->kind == CFI_UNDEFINED)
		return RECIPE_ROOT;
	/* glibc's longjmp: the table has a register with the buffer, where addresses are mangled */
	if (cfa->kind == CFI_REGISTER && cfa->reg <= LAST_ARGUMENT)
		return RECIPE_BAD;
	if (cfa->kind != CFI_REGISTER || (cfa->reg != ARCH_SP && cfa->reg != ARCH_BP) ||
	    row->reg[ARCH_SP].kind != CFI_SAME || !bp_of(&row->reg[ARCH_BP], &bp, &bp_offset))
		return RECIPE_SLOW;
	const int64_t popped = cfa->reg == ARCH_SP && cfa->value < 0 ? -cfa->value : 0;
	if (is_binder_entry(frame, pc))
		return recipe_make(RECIPE_SP, 16, RECIPE_BP_SAME, 0, &recipe) ? recipe
									      : RECIPE_SLOW;
	if (ra->kind == CFI_SAME || popped)
		return cfa->reg == ARCH_SP && bp == RECIPE_BP_SAME &&
				       frame->return_column == ARCH_LR &&
				       recipe_make(RECIPE_LEAF, cfa->value + popped, bp, 0, &recipe)
			       ? recipe
			       : RECIPE_SLOW;
	const int64_t pushed = ra->kind == CFI_OFFSET && ra->value == 8 ? 16 : 0;
	if (ra->kind != CFI_OFFSET ||
	    !recipe_make(cfa->reg == ARCH_SP ? RECIPE_SP : RECIPE_BP, cfa->value + pushed, bp,
			 bp == RECIPE_BP_AT_CFA ? bp_offset - pushed : 0, &recipe) ||
	    !recipe_set_return(&recipe, ra->value - pushed))
		return RECIPE_SLOW;
	/* The registers of __builtin_eh_return_data_regno are x0 to x3; the binder saves more. */
	const bool saves_eh_data = row->reg[0].kind == CFI_OFFSET &&
				   row->reg[1].kind == CFI_OFFSET && row->reg[4].kind == CFI_SAME;
	return saves_eh_data ? recipe | RECIPE_REWRITES : recipe;
}

/* ---- instructions ---- */

enum { INSN_BYTES = 4 };

static uint32_t insn_at(const uint8_t *code)
{
	uint32_t insn;
	memcpy(&insn, code, sizeof insn);
	return insn;
}

/* A signed field of `bits` bits from bit `low` on, in words of 4 bytes. */
static uint64_t distance_of(uint32_t insn, unsigned low, unsigned bits)
{
	return (uint64_t)((int64_t)((uint64_t)insn << (64 - low - bits)) >> (64 - bits)) * 4;
}

static bool is_bl(uint32_t insn)
{
	return (insn & 0xfc000000) == 0x94000000;
}

static bool is_b(uint32_t insn)
{
	return (insn & 0xfc000000) == 0x14000000;
}

/* blr, and those that check a signature (blraa, blrab and with a zero modifier) */
static bool is_blr(uint32_t insn)
{
	return (insn & 0xfffffc1f) == 0xd63f0000 || (insn & 0xfefff800) == 0xd63f0800;
}

static bool is_br(uint32_t insn)
{
	return (insn & 0xfffffc1f) == 0xd61f0000 || (insn & 0xfefff800) == 0xd61f0800;
}

/* Sets *target for b.cond, cbz, cbnz, tbz and tbnz. */
static bool is_branch(uint32_t insn, uint64_t address, uint64_t *target)
{
	const bool is_tested = (insn & 0x7e000000) == 0x36000000;
	if (!is_tested && (insn & 0xff000000) != 0x54000000 && (insn & 0x7e000000) != 0x34000000)
		return false;
	*target = address + distance_of(insn, 5, is_tested ? 14 : 19);
	return true;
}

bool arch_ends_in_call(const uint8_t *code, size_t n)
{
	const uint32_t insn = n < INSN_BYTES ? 0 : insn_at(code + n - INSN_BYTES);
	return is_bl(insn) || is_blr(insn);
}

static bool is_direct(bool is_it(uint32_t), const uint8_t *code, size_t n, uint64_t address,
		      uint64_t *target)
{
	if (n < INSN_BYTES || address % INSN_BYTES != 0 || !is_it(insn_at(code)))
		return false;
	*target = address + distance_of(insn_at(code), 0, 26);
	return true;
}

bool arch_direct_call(const uint8_t *code, size_t n, uint64_t address, uint64_t *target)
{
	return is_direct(is_bl, code, n, address, target);
}

bool arch_direct_jump(const uint8_t *code, size_t n, uint64_t address, uint64_t *target)
{
	return is_direct(is_b, code, n, address, target);
}

enum arch_call arch_call_target(const uint8_t *code, size_t n, uint64_t end, uint64_t *target,
				uint64_t *slot, bool *or_indirect)
{
	*slot = 0;
	*or_indirect = n >= INSN_BYTES && is_blr(insn_at(code + n - INSN_BYTES));
	if (*or_indirect)
		return ARCH_CALL_UNKNOWN;
	return n >= INSN_BYTES && arch_direct_call(code + n - INSN_BYTES, INSN_BYTES,
						   end - INSN_BYTES, target)
		       ? ARCH_CALL_YES
		       : ARCH_CALL_NO;
}

/* stp x16, x30, [sp, #-16]!; then adrp, ldr, add, br. The binder pops the two words. */
uint64_t arch_binder_recipe(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i + INSN_BYTES <= n; i += INSN_BYTES) {
		uint64_t recipe;
		const bool is_next = i + INSN_BYTES == n;
		if (insn_at(code + i) == 0xa9bf7bf0 &&
		    recipe_make(is_next ? RECIPE_LEAF : RECIPE_SP, is_next ? 0 : 16, RECIPE_BP_SAME,
				0, &recipe))
			return recipe;
	}
	return RECIPE_NONE;
}

/* adrp x16, page; ldr x17, [x16, #offset]; ..., perhaps after bti c */
bool arch_stub_slot(const uint8_t *stub, uint64_t address, uint64_t *slot)
{
	const unsigned skip = insn_at(stub) == 0xd503245f ? INSN_BYTES : 0;
	const uint32_t adrp = insn_at(stub + skip), ldr = insn_at(stub + skip + INSN_BYTES);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	const uint64_t pages =
		(uint64_t)((int64_t)((uint64_t)adrp << 40) >> 45) << 2 | (adrp >> 29 & 3);
	*slot = ((address + skip) & ~UINT64_C(0xfff)) + (pages << 12) + (ldr >> 10 & 0xfff) * 8;
	return true;
}

enum arch_call arch_calls(struct code *seen, uint64_t return_address, uint64_t function)
{
	uint8_t code[INSN_BYTES], stub[ARCH_STUB_BYTES];
	uint64_t target, slot;
	bool or_indirect;
	if (!code_load(seen, return_address - sizeof code, code, sizeof code))
		return ARCH_CALL_NO;
	const enum arch_call found =
		arch_call_target(code, sizeof code, return_address, &target, &slot, &or_indirect);
	if (found != ARCH_CALL_YES)
		return found;
	const bool is_it = target == function ||
			   (code_load(seen, target, stub, sizeof stub) &&
			    arch_stub_slot(stub, target, &slot) &&
			    code_load(seen, slot, &target, sizeof target) && target == function);
	return is_it ? ARCH_CALL_YES : ARCH_CALL_NO;
}

enum arch_call arch_jumps_into(const uint8_t *code, size_t n, uint64_t address, uint64_t lo,
			       uint64_t hi)
{
	enum arch_call found = ARCH_CALL_NO;
	for (size_t i = -address % INSN_BYTES; i + INSN_BYTES <= n; i += INSN_BYTES) {
		const uint32_t insn = insn_at(code + i);
		uint64_t target;
		if (is_br(insn))
			found = ARCH_CALL_UNKNOWN;
		else if ((is_b(insn) && arch_direct_jump(code + i, n - i, address + i, &target)) ||
			 is_branch(insn, address + i, &target))
			if (target >= lo && target < hi)
				return ARCH_CALL_YES;
	}
	return found;
}

/* The return address is in a register or behind the frame pointer: no place tells more. */
enum arch_place arch_place_of(const uint8_t *code, size_t n)
{
	(void)code;
	(void)n;
	return ARCH_IN_BODY;
}

/* stp x29, x30, [sp, #-n]! */
bool arch_makes_frame(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i + INSN_BYTES <= n; i += INSN_BYTES)
		if ((insn_at(code + i) & 0xffc07fff) == 0xa9807bfd)
			return true;
	return false;
}

bool arch_is_sigreturn(const uint8_t *code, size_t n) /* mov x8, #139; svc #0 */
{
	return n >= ARCH_SIGRETURN_BYTES && insn_at(code) == 0xd2801168 &&
	       insn_at(code + INSN_BYTES) == 0xd4000001;
}

/*
 * str xN, [x29, #8], which puts the landing pad where the return address was; add sp, sp, xN. gcc
 * may place the second, which all ways have in common, before the first, and jump back to it. Then
 * what has been called before both is far from the exit.
 */
const uint8_t *arch_find_eh_return(const uint8_t *code, size_t n, uint64_t address)
{
	const bool after_call = address % INSN_BYTES != 0;
	const uint8_t *common = NULL;
	for (size_t i = -address % INSN_BYTES; i + INSN_BYTES <= n; i += INSN_BYTES) {
		const uint32_t insn = insn_at(code + i);
		if ((insn & 0xffffffe0) == 0xf90007a0)
			return !common || after_call ? code + i : common;
		if ((insn & 0xffe0ffff) == 0x8b2063ff && !common)
			common = code + i;
	}
	return common;
}

/* add sp, sp, xN */
uint64_t arch_added_to_sp(const struct regs *regs)
{
	enum { ZERO = 31 };
	const uint32_t insn = insn_at((const uint8_t *)regs->reg[ARCH_PC]);
	const unsigned n = insn >> 16 & 31;
	return (insn & 0xffe0ffff) == 0x8b2063ff && n != ZERO ? regs->reg[n] : 0;
}

/* Stores the registers by DWARF number; pc and sp as they are after the return. */
__asm__(".text\n"
	".globl unwind_here\n"
	".hidden unwind_here\n"
	".type unwind_here, %function\n"
	"unwind_here:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	stp x0, x1, [x0, #0]\n"
	"	stp x2, x3, [x0, #16]\n"
	"	stp x4, x5, [x0, #32]\n"
	"	stp x6, x7, [x0, #48]\n"
	"	stp x8, x9, [x0, #64]\n"
	"	stp x10, x11, [x0, #80]\n"
	"	stp x12, x13, [x0, #96]\n"
	"	stp x14, x15, [x0, #112]\n"
	"	stp x16, x17, [x0, #128]\n"
	"	stp x18, x19, [x0, #144]\n"
	"	stp x20, x21, [x0, #160]\n"
	"	stp x22, x23, [x0, #176]\n"
	"	stp x24, x25, [x0, #192]\n"
	"	stp x26, x27, [x0, #208]\n"
	"	stp x28, x29, [x0, #224]\n"
	"	mov x1, sp\n"
	"	stp x30, x1, [x0, #240]\n"
	"	str x30, [x0, #256]\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size unwind_here, .-unwind_here\n");
