/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * x86-64: numbers for the unwinder; hpcrun-lite/unwind/arch.h says what each means. System V ABI,
 * AMD64 supplement 1.0, 3.6.2; Linux arch/x86/include/asm/sigframe.h.
 */
#ifndef COMMON_MACHINE_X86_64_X86_64_UNWIND_H
#define COMMON_MACHINE_X86_64_X86_64_UNWIND_H

enum {
	/* rbx rbp r12..r15 */
	ARCH_CALLEE_SAVED = 1 << 3 | 1 << 6 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15,
	ARCH_CALL_MAX_BYTES = 7,
	ARCH_INSN_MAX_BYTES = 15,
	ARCH_STUB_BYTES = 11, /* of a PLT stub: endbr64, bnd jmp *slot(%rip) */
	ARCH_SIGRETURN_BYTES = 9,
	ARCH_PLACE_BYTES = 20,
	ARCH_BINDER_BYTES = 16,
	ARCH_ENTRY_BYTES = 32,
	/* after the return address of struct rt_sigframe */
	ARCH_SIGNAL_BP = 120,
	ARCH_SIGNAL_SP = 160,
	ARCH_SIGNAL_PC = 168,
	ARCH_SIGNAL_LR = 0, /* none */
	ARCH_LR = 0,        /* none */
	ARCH_RETURN_BITS = 0,
};

static inline uint64_t arch_strip(uint64_t address)
{
	return address;
}

#endif
