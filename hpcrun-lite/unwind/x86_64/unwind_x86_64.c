/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * x86-64: registers of a signal context, rows of CFI as recipes, call instructions. System V ABI,
 * AMD64 supplement 1.0, 3.6.2 (register numbers); Linux arch/x86/include/asm/sigframe.h. Writes
 * only to the memory that it is given. Test: tests/unit/unwind/test_unwind_cfi.c.
 */
#include "hpcrun-lite/unwind/arch.h"
#include "hpcrun-lite/unwind/recipe.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <string.h>
#include <sys/ucontext.h>

/* The index in glibc's gregset_t, by DWARF number. The kernel's sigcontext has the same order. */
static const uint8_t greg_of[CFI_N_REGS] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
	REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

enum { SIGNAL_GREGS = ARCH_SIGNAL_PC - 8 * REG_RIP };
_Static_assert(SIGNAL_GREGS == offsetof(ucontext_t, uc_mcontext),
	       "the ucontext lies at sp when the handler has returned");
_Static_assert(SIGNAL_GREGS + 8 * REG_RBP == ARCH_SIGNAL_BP &&
		       SIGNAL_GREGS + 8 * REG_RSP == ARCH_SIGNAL_SP,
	       "sigcontext");

void arch_regs_from_context(struct regs *regs, const ucontext_t *context)
{
	for (unsigned i = 0; i < CFI_N_REGS; i++)
		regs->reg[i] = (uint64_t)context->uc_mcontext.gregs[greg_of[i]];
	regs->known = ARCH_ALL_REGS;
}

bool arch_regs_from_signal_frame(struct regs *regs, struct mem *mem, uint64_t sp)
{
	for (unsigned i = 0; i < CFI_N_REGS; i++)
		if (!mem_load(mem, sp + SIGNAL_GREGS + 8U * greg_of[i], &regs->reg[i]))
			return false;
	regs->known = ARCH_ALL_REGS;
	return true;
}

bool arch_constant_register(uint64_t reg, uint64_t *value)
{
	(void)reg;
	(void)value;
	return false;
}

/* The registers of __builtin_eh_return_data_regno: rax and rdx. */
enum { EH_DATA_0 = 0, EH_DATA_1 = 1 };

enum { OP_DEREF = 0x06, OP_BREG0 = 0x70 };

/*
 * Returns true if the expression is "register + offset", alone or followed by the operation `then`.
 */
static bool is_register_plus(const struct cfi_rule *rule, unsigned reg, int then, int64_t *offset)
{
	const uint8_t *e = rule->expression;
	uint64_t v = 0;
	size_t i = 1;
	unsigned shift = 0;
	if (rule->kind != CFI_EXPRESSION || rule->n_bytes < 2 || e[0] != OP_BREG0 + reg)
		return false;
	for (; i < rule->n_bytes && shift < 35; shift += 7) {
		v |= (uint64_t)(e[i] & 0x7f) << shift;
		if (!(e[i++] & 0x80)) {
			if (e[i - 1] & 0x40)
				v |= ~UINT64_C(0) << (shift + 7);
			*offset = (int64_t)v;
			return then < 0 ? i == rule->n_bytes
					: i + 1 == rule->n_bytes && e[i] == then;
		}
	}
	return false;
}

static bool is_saved_at(const struct cfi_rule *rule, unsigned reg, int64_t offset)
{
	int64_t found;
	return is_register_plus(rule, reg, -1, &found) && found == offset;
}

/* glibc's __restore_rt: all registers are in the kernel's frame at sp. */
static bool is_signal_frame(const struct cfi_row *row)
{
	int64_t offset;
	return is_register_plus(&row->cfa, ARCH_SP, OP_DEREF, &offset) &&
	       offset == ARCH_SIGNAL_SP &&
	       is_saved_at(&row->reg[ARCH_PC], ARCH_SP, ARCH_SIGNAL_PC) &&
	       is_saved_at(&row->reg[ARCH_BP], ARCH_SP, ARCH_SIGNAL_BP) &&
	       (is_saved_at(&row->reg[ARCH_SP], ARCH_SP, ARCH_SIGNAL_SP) ||
		row->reg[ARCH_SP].kind == CFI_SAME);
}

/*
 * The linker's rule for the 16-byte entries of .plt: CFA = sp + 8 + ((pc & 15) >= N) * 8, where N
 * is the offset after the push of the index. breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl;
 * plus. The pc is known, so the result is an ordinary offset.
 */
static bool is_plt(const struct cfi_rule *cfa, uint64_t pc, int64_t *offset)
{
	static const uint8_t pattern[11] = {0x77, 8,    0x80, 0,    0x3f, 0x1a,
					    0x30, 0x2a, 0x33, 0x24, 0x22};
	enum { AT_LIT = 6, LIT0 = 0x30 };
	if (cfa->kind != CFI_EXPRESSION || cfa->n_bytes != sizeof pattern ||
	    memcmp(cfa->expression, pattern, AT_LIT) != 0 ||
	    memcmp(cfa->expression + AT_LIT + 1, pattern + AT_LIT + 1,
		   sizeof pattern - AT_LIT - 1) != 0)
		return false;
	const unsigned lit = cfa->expression[AT_LIT] - LIT0;
	if (lit > 31)
		return false;
	*offset = 8 + ((pc & 15) >= lit ? 8 : 0);
	return true;
}

static bool cfa_of(const struct cfi_rule *cfa, uint64_t pc, enum recipe_kind *kind, int64_t *offset)
{
	if (cfa->kind == CFI_REGISTER && (cfa->reg == ARCH_SP || cfa->reg == ARCH_BP)) {
		*kind = cfa->reg == ARCH_SP ? RECIPE_SP : RECIPE_BP;
		*offset = cfa->value;
		return true;
	}
	*kind = RECIPE_SP;
	if (is_plt(cfa, pc, offset))
		return true;
	*kind = RECIPE_DEREF_BP;
	return is_register_plus(cfa, ARCH_BP, OP_DEREF, offset);
}

static bool bp_of(const struct cfi_rule *rule, enum recipe_bp *bp, int64_t *offset)
{
	*offset = 0;
	if (rule->kind == CFI_SAME) {
		*bp = RECIPE_BP_SAME;
		return true;
	}
	if (rule->kind == CFI_OFFSET) {
		*bp = RECIPE_BP_AT_CFA;
		*offset = rule->value;
		return true;
	}
	*bp = RECIPE_BP_AT_BP; /* realigned stack */
	return is_register_plus(rule, ARCH_BP, -1, offset);
}

uint64_t arch_recipe(const struct cfi_row *row, const struct cfi_frame *frame, uint64_t pc)
{
	const struct cfi_rule *ra = &row->reg[frame->return_column];
	enum recipe_kind kind;
	enum recipe_bp bp;
	int64_t cfa_offset, bp_offset;
	uint64_t recipe;
	if (ra->kind == CFI_UNDEFINED)
		return RECIPE_ROOT;
	if (ra->kind == CFI_SAME)
		return RECIPE_BAD;
	if (frame->signal)
		return is_signal_frame(row) && frame->return_column == ARCH_PC ? RECIPE_SIGNAL
									       : RECIPE_SLOW;
	if (ra->kind != CFI_OFFSET || ra->value != -8 || row->reg[ARCH_SP].kind != CFI_SAME)
		return RECIPE_SLOW;
	if (!cfa_of(&row->cfa, pc, &kind, &cfa_offset) ||
	    !bp_of(&row->reg[ARCH_BP], &bp, &bp_offset))
		return RECIPE_SLOW;
	if (!recipe_make(kind, cfa_offset, bp, bp_offset, &recipe))
		return RECIPE_SLOW;
	const bool saves_eh_data =
		row->reg[EH_DATA_0].kind == CFI_OFFSET && row->reg[EH_DATA_1].kind == CFI_OFFSET;
	return saves_eh_data ? recipe | RECIPE_REWRITES : recipe;
}

/*
 * call rel32 is E8 and four bytes. call r/m64 is FF /2 with a ModRM byte, perhaps a SIB byte, and a
 * displacement of 0, 1 or 4 bytes. Prefixes do not matter. Intel SDM volume 2, 2.1.
 */
static bool is_indirect_call(const uint8_t *insn, size_t n_bytes)
{
	enum { CALL_DIGIT = 2, RM_SIB = 4, RM_DISP32 = 5, MOD_REGISTER = 3 };
	if (n_bytes < 2 || insn[0] != 0xff || (insn[1] >> 3 & 7) != CALL_DIGIT)
		return false;
	const unsigned mod = insn[1] >> 6, rm = insn[1] & 7;
	size_t length = 2;
	if (mod == MOD_REGISTER)
		return n_bytes == length;
	if (rm == RM_SIB) {
		if (n_bytes < 3)
			return false;
		length = 3;
		if (mod == 0 && (insn[2] & 7) == RM_DISP32)
			length += 4;
	} else if (mod == 0 && rm == RM_DISP32)
		length += 4;
	length += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	return n_bytes == length;
}

bool arch_ends_in_call(const uint8_t *code, size_t n_bytes)
{
	if (n_bytes >= 5 && code[n_bytes - 5] == 0xe8)
		return true;
	for (size_t n = 2; n <= ARCH_CALL_MAX_BYTES && n <= n_bytes; n++)
		if (is_indirect_call(code + n_bytes - n, n))
			return true;
	return false;
}

const uint8_t *arch_find_eh_return(const uint8_t *code, size_t n_bytes, uint64_t address)
{
	static const uint8_t to_sp[3] = {
		0x48, 0x89, 0xcc}; /* mov %rcx, %rsp; then pop %rcx; jmp *%rcx (gcc 12), or ret */
	const uint8_t *end = code + n_bytes;
	(void)address;
	for (const uint8_t *at = code;
	     (size_t)(end - at) > sizeof to_sp &&
	     (at = memmem(at, (size_t)(end - at), to_sp, sizeof to_sp)) != NULL;
	     at++)
		if (at + sizeof to_sp < end &&
		    (at[sizeof to_sp] == 0x59 || at[sizeof to_sp] == 0xc3))
			return at;
	return NULL;
}

static bool is_direct(uint8_t opcode, const uint8_t *code, size_t n_bytes, uint64_t address,
		      uint64_t *target)
{
	int32_t distance;
	if (n_bytes < 5 || code[0] != opcode)
		return false;
	memcpy(&distance, code + 1, sizeof distance);
	*target = address + 5 + (uint64_t)(int64_t)distance;
	return true;
}

bool arch_direct_call(const uint8_t *code, size_t n_bytes, uint64_t address, uint64_t *target)
{
	return is_direct(0xe8, code, n_bytes, address, target);
}

bool arch_direct_jump(const uint8_t *code, size_t n_bytes, uint64_t address, uint64_t *target)
{
	return is_direct(0xe9, code, n_bytes, address, target);
}

bool arch_stub_slot(const uint8_t *stub, uint64_t address, uint64_t *slot)
{
	static const uint8_t endbr[4] = {0xf3, 0x0f, 0x1e, 0xfa};
	int32_t distance;
	unsigned i = memcmp(stub, endbr, sizeof endbr) == 0 ? sizeof endbr : 0;
	i += stub[i] == 0xf2; /* bnd */
	if (stub[i] != 0xff || stub[i + 1] != 0x25)
		return false;
	memcpy(&distance, stub + i + 2, sizeof distance);
	*slot = address + i + 6 + (uint64_t)(int64_t)distance;
	return true;
}

enum arch_call arch_call_target(const uint8_t *code, size_t n, uint64_t end, uint64_t *target,
				uint64_t *slot, bool *or_indirect)
{
	enum { SLOT_CALL = 6 };
	*or_indirect = false;
	*slot = 0;
	for (size_t i = 2; i <= ARCH_CALL_MAX_BYTES && i <= n; i++)
		*or_indirect |= is_indirect_call(code + n - i, i);
	if (n >= 5 && arch_direct_call(code + n - 5, 5, end - 5, target))
		return ARCH_CALL_YES;
	if (n >= SLOT_CALL && code[n - SLOT_CALL] == 0xff &&
	    code[n - SLOT_CALL + 1] == 0x15) { /* call *slot(%rip) */
		int32_t distance;
		memcpy(&distance, code + n - sizeof distance, sizeof distance);
		*or_indirect = false;
		*slot = end + (uint64_t)(int64_t)distance;
		return ARCH_CALL_YES;
	}
	return *or_indirect ? ARCH_CALL_UNKNOWN : ARCH_CALL_NO;
}

enum arch_call arch_calls(struct code *seen, uint64_t return_address, uint64_t function)
{
	uint8_t code[6], stub[ARCH_STUB_BYTES];
	uint64_t target, slot;
	bool or_indirect;
	if (!code_load(seen, return_address - sizeof code, code, sizeof code))
		return ARCH_CALL_NO;
	const enum arch_call found =
		arch_call_target(code, sizeof code, return_address, &target, &slot, &or_indirect);
	if (found != ARCH_CALL_YES)
		return found;
	if (slot && !code_load(seen, slot, &target, sizeof target))
		return ARCH_CALL_NO;
	const bool is_it = target == function || (code_load(seen, target, stub, sizeof stub) &&
						  arch_stub_slot(stub, target, &slot) &&
						  code_load(seen, slot, &target, sizeof target) &&
						  target == function);
	return is_it ? ARCH_CALL_YES : ARCH_CALL_NO;
}

/*
 * jmp rel32 is E9, a conditional one 0F 8x; jmp r/m64 is FF /4. Tests every byte, because it is
 * unknown where instructions begin.
 */
enum arch_call arch_jumps_into(const uint8_t *code, size_t n, uint64_t address, uint64_t lo,
			       uint64_t hi)
{
	enum arch_call found = ARCH_CALL_NO;
	enum { JUMP_DIGIT = 4 };
	for (size_t i = 0; i + 2 <= n; i++) {
		if (code[i] == 0xff && (code[i + 1] >> 3 & 7) == JUMP_DIGIT)
			found = ARCH_CALL_UNKNOWN;
		const size_t at = code[i] == 0xe9                                   ? i + 1
				  : code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80 ? i + 2
										    : 0;
		int32_t distance;
		if (at == 0 || at + sizeof distance > n)
			continue;
		memcpy(&distance, code + at, sizeof distance);
		const uint64_t target =
			address + at + sizeof distance + (uint64_t)(int64_t)distance;
		if (target >= lo && target < hi)
			return ARCH_CALL_YES;
	}
	return found;
}

static bool starts_with(const uint8_t *code, size_t n_bytes, const char *bytes, size_t n)
{
	return n_bytes >= n && memcmp(code, bytes, n) == 0;
}
#define STARTS_WITH(code, n, bytes) starts_with(code, n, bytes, sizeof(bytes) - 1)

/* HotSpot polls for a safepoint between pop %rbp and ret: cmp d(%r15), %rsp; ja. */
static enum arch_place place_at_return(const uint8_t *c, size_t n)
{
	if (STARTS_WITH(c, n, "\x49\x3b\xa7") && n >= 7) {
		c += 7;
		n -= 7;
	}
	if (STARTS_WITH(c, n, "\x0f\x87") && n >= 6) {
		c += 6;
		n -= 6;
	}
	return n && (c[0] == 0xc3 || c[0] == 0xc2) ? ARCH_AT_EDGE : ARCH_IN_BODY;
}

bool arch_makes_frame(const uint8_t *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (STARTS_WITH(c + i, n - i, "\x55\x48\x89\xe5") ||
		    STARTS_WITH(c + i, n - i, "\x55\x48\x8b\xec"))
			return true;
	return false;
}

/*
 * _init and _fini, which crti.o and crtn.o add to every object without CFI: sub $8, %rsp; in _init
 * perhaps a call of __gmon_start__; add $8, %rsp; ret.
 */
static enum arch_place place_in_init(const uint8_t *c, size_t n)
{
	enum { SUB_BYTES = 4, MOV_BYTES = 7, BEGINNING = 5 };
	/* test %rax, %rax; je; call *%rax; add $8, %rsp; ret */
	static const uint8_t body[] = {0x48, 0x85, 0xc0, 0x74, 0x02, 0xff,
				       0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	static const uint8_t at[] = {0, 3, 5, 7};
	const bool at_sub = STARTS_WITH(c, n, "\x48\x83\xec\x08");
	const size_t sub = at_sub ? SUB_BYTES : 0;
	const size_t mov = STARTS_WITH(c + sub, n - sub, "\x48\x8b\x05") ? MOV_BYTES : 0;
	if (n < sub + mov)
		return ARCH_IN_BODY;
	c += sub + mov;
	n -= sub + mov;
	for (size_t i = 0; i < sizeof at; i++) {
		const size_t left = sizeof body - at[i], have = n < left ? n : left;
		const bool may_start = mov ? at[i] == 0 : !at_sub || at[i] == 7;
		const size_t enough =
			mov && at_sub ? BEGINNING : left; /* fewer bytes may have been read */
		if (may_start && have >= enough && memcmp(c, body + at[i], have) == 0)
			return at_sub ? ARCH_AT_EDGE : ARCH_ALIGNED;
	}
	return ARCH_IN_BODY;
}

enum arch_place arch_place_of(const uint8_t *c, size_t n)
{
	const enum arch_place in_init = place_in_init(c, n);
	if (in_init != ARCH_IN_BODY)
		return in_init;
	if (STARTS_WITH(c, n, "\x89\x84\x24") &&
	    n >= 7) { /* HotSpot touches the stack in advance: mov %eax, -d(%rsp) */
		c += 7;
		n -= 7;
	}
	if (STARTS_WITH(c, n, "\xf3\x0f\x1e\xfa")) /* endbr64 */
		return ARCH_AT_EDGE;
	if (STARTS_WITH(c, n, "\x55\x48\x89\xe5") ||
	    STARTS_WITH(c, n, "\x55\x48\x8b\xec")) /* push %rbp; mov %rsp, %rbp */
		return ARCH_AT_EDGE;
	if (STARTS_WITH(c, n, "\x48\x89\xe5") || STARTS_WITH(c, n, "\x48\x8b\xec"))
		return ARCH_BP_PUSHED;
	if (n && c[0] == 0x5d) /* pop %rbp */
		return place_at_return(c + 1, n - 1) == ARCH_AT_EDGE ? ARCH_BP_PUSHED
								     : ARCH_IN_BODY;
	/*
	 * V8 checks the function before the code makes its frame. After a ret or int3 another
	 * function begins.
	 */
	for (size_t i = 1; i < n && c[i - 1] != 0xc3 && c[i - 1] != 0xcc; i++)
		if (STARTS_WITH(c + i, n - i, "\x55\x48\x89\xe5"))
			return ARCH_AT_EDGE;
	return place_at_return(c, n);
}

bool arch_is_sigreturn(const uint8_t *c, size_t n) /* mov $15, %rax or %eax; syscall */
{
	return STARTS_WITH(c, n, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05") ||
	       STARTS_WITH(c, n, "\xb8\x0f\0\0\0\x0f\x05");
}

uint64_t arch_binder_recipe(const uint8_t *code, size_t n)
{
	(void)code;
	(void)n;
	return RECIPE_NONE; /* linkers write tables for it */
}

uint64_t arch_added_to_sp(const struct regs *regs)
{
	(void)regs;
	return 0;
}

/* Stores the registers by DWARF number; rip and rsp as they are after the return. */
__asm__(".text\n"
	".globl unwind_here\n"
	".hidden unwind_here\n"
	".type unwind_here, @function\n"
	"unwind_here:\n"
	"	.cfi_startproc\n"
	"	movq %rax, 0(%rdi)\n"
	"	movq %rdx, 8(%rdi)\n"
	"	movq %rcx, 16(%rdi)\n"
	"	movq %rbx, 24(%rdi)\n"
	"	movq %rsi, 32(%rdi)\n"
	"	movq %rdi, 40(%rdi)\n"
	"	movq %rbp, 48(%rdi)\n"
	"	leaq 8(%rsp), %rax\n"
	"	movq %rax, 56(%rdi)\n"
	"	movq %r8, 64(%rdi)\n"
	"	movq %r9, 72(%rdi)\n"
	"	movq %r10, 80(%rdi)\n"
	"	movq %r11, 88(%rdi)\n"
	"	movq %r12, 96(%rdi)\n"
	"	movq %r13, 104(%rdi)\n"
	"	movq %r14, 112(%rdi)\n"
	"	movq %r15, 120(%rdi)\n"
	"	movq (%rsp), %rax\n"
	"	movq %rax, 128(%rdi)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size unwind_here, .-unwind_here\n");
