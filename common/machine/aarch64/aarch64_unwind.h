/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aarch64: numbers for the unwinder; hpcrun-lite/unwind/arch.h says what each means.
 * AAPCS64, 6.1.1; Linux arch/arm64/kernel/signal.c (struct rt_sigframe).
 */
#ifndef COMMON_MACHINE_AARCH64_AARCH64_UNWIND_H
#define COMMON_MACHINE_AARCH64_AARCH64_UNWIND_H

enum {
	ARCH_CALLEE_SAVED = 0x7ff << 19, /* x19 to x29 */
	ARCH_CALL_MAX_BYTES = 4,
	ARCH_INSN_MAX_BYTES = 4,
	ARCH_STUB_BYTES = 16, /* of a PLT stub: perhaps bti c; adrp, ldr, add */
	ARCH_SIGRETURN_BYTES = 8,
	ARCH_PLACE_BYTES = 4,
	ARCH_BINDER_BYTES = 20,
	ARCH_ENTRY_BYTES = 32,
	/* after the siginfo_t at sp: uc_mcontext.regs, sp and pc */
	ARCH_SIGNAL_REGS = 128 + 176 + 8,
	ARCH_SIGNAL_BP = ARCH_SIGNAL_REGS + 8 * 29,
	ARCH_SIGNAL_LR = ARCH_SIGNAL_REGS + 8 * 30,
	ARCH_SIGNAL_SP = ARCH_SIGNAL_REGS + 8 * 31,
	ARCH_SIGNAL_PC = ARCH_SIGNAL_REGS + 8 * 32,
	ARCH_LR = MACHINE_LR,
	/* a recipe says where the return address is, in words from the CFA */
	ARCH_RETURN_BITS = 10,
};

/*
 * The address without its signature (pointer authentication) and its tag. Programs have addresses
 * of 48 bits unless they ask for more (mmap above 1 << 48), which recipes do not know either.
 */
static inline uint64_t arch_strip(uint64_t address)
{
	return address & ((UINT64_C(1) << MACHINE_ADDRESS_BITS) - 1);
}

#endif
