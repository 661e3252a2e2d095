/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the unwinder must know about the processor. Each processor has a folder here, and its
 * numbers are in a header of common/machine:
 *
 *   ARCH_CALLEE_SAVED     registers that a function keeps, as bits
 *   ARCH_CALL_MAX_BYTES   length of the longest call instruction
 *   ARCH_INSN_MAX_BYTES   length of the longest instruction
 *   ARCH_STUB_BYTES       length of the part of a PLT stub that leads to its slot
 *   ARCH_SIGRETURN_BYTES  length of what arch_is_sigreturn() looks at
 *   ARCH_PLACE_BYTES, ARCH_ENTRY_BYTES  what arch_place_of() and arch_makes_frame() look at
 *   ARCH_BINDER_BYTES     what arch_binder_recipe() looks at
 *   ARCH_SIGNAL_BP, _SP, _PC  offsets of the saved registers in a signal frame, from sp as the
 *                         handler returns; _LR: of the register with the return address
 *   ARCH_LR               the register with the return address, if ARCH_RETURN_BITS is not 0
 *   ARCH_RETURN_BITS      of a recipe, for where the return address is; 0: below the CFA
 *   arch_strip()          a return address without what protects it
 *
 * Register numbers are DWARF's. Signal-safe. Tests: tests/unit/unwind/test_unwind_cfi.c,
 * tests/workload/unwind/unwind_steps.c.
 */
#ifndef HPCRUN_LITE_UNWIND_ARCH_H
#define HPCRUN_LITE_UNWIND_ARCH_H

#include "common/safe/sys.h"
#include "hpcrun-lite/unwind/cfi.h"
#include "hpcrun-lite/unwind/code/code_lines.h"
#include "hpcrun-lite/unwind/regs.h"

enum {
	ARCH_BP = MACHINE_BP,
	ARCH_SP = MACHINE_SP,
	ARCH_PC = MACHINE_PC,
};
#define ARCH_ALL_REGS ((UINT64_C(1) << CFI_N_REGS) - 1)

void arch_regs_from_context(struct regs *regs, const ucontext_t *context);

/*
 * Reads the interrupted registers from the signal frame at `sp`. Returns false if it is unreadable.
 */
bool arch_regs_from_signal_frame(struct regs *regs, struct mem *mem, uint64_t sp);

/* Encodes a row as a recipe, without the flags. RECIPE_SLOW if the fast walk cannot follow it. */
uint64_t arch_recipe(const struct cfi_row *row, const struct cfi_frame *frame, uint64_t pc);

/*
 * A register that no frame saves, for DWARF expressions: the length of vectors (VG). Returns false
 * for other numbers.
 */
bool arch_constant_register(uint64_t reg, uint64_t *value);

/* Returns true if a call instruction ends with the last of the n bytes. */
bool arch_ends_in_call(const uint8_t *code, size_t n_bytes);

enum arch_call { ARCH_CALL_NO, ARCH_CALL_YES, ARCH_CALL_UNKNOWN };

/*
 * Whether the call before return_address calls `function`, directly or through a PLT stub or a
 * slot. UNKNOWN for a call through a register.
 */
enum arch_call arch_calls(struct code *seen, uint64_t return_address, uint64_t function);

/*
 * Finds out what the call at the end of the code calls. YES: *target is set, or, if *slot is not 0,
 * the target is in the word at *slot. UNKNOWN: a register or memory holds it. `end` is the address
 * after the code. *or_indirect: the same bytes could also end an indirect call.
 */
enum arch_call arch_call_target(const uint8_t *code, size_t n_bytes, uint64_t end, uint64_t *target,
				uint64_t *slot, bool *or_indirect);

/*
 * Returns true if the PLT stub of ARCH_STUB_BYTES at `address` jumps through a slot, and sets
 * *slot.
 */
bool arch_stub_slot(const uint8_t *stub, uint64_t address, uint64_t *slot);

/*
 * Whether the n_bytes of code at `address` may jump into [lo, hi). UNKNOWN: through a register or
 * memory.
 */
enum arch_call arch_jumps_into(const uint8_t *code, size_t n_bytes, uint64_t address, uint64_t lo,
			       uint64_t hi);

/*
 * Where the return address is, judged by the next instruction. A function that was just entered, or
 * is about to return, has no frame.
 */
enum arch_place {
	ARCH_IN_BODY,
	ARCH_AT_EDGE,   /* the return address is at sp */
	ARCH_BP_PUSHED, /* the caller's bp is at sp, the return address above it */
	ARCH_ALIGNED,   /* sp was moved by one word; the return address is above that word */
};
enum arch_place arch_place_of(const uint8_t *code, size_t n_bytes);

/*
 * Returns true if the code at a function's entry makes a frame, perhaps after some checks: push
 * %rbp; mov %rsp, %rbp.
 */
bool arch_makes_frame(const uint8_t *code, size_t n_bytes);

/*
 * Returns true for the trampoline through which a signal handler returns. The kernel's signal frame
 * is then at sp.
 */
bool arch_is_sigreturn(const uint8_t *code, size_t n_bytes);

/*
 * The recipe at the last instruction of these n_bytes of code, if they are in the piece of the PLT
 * that leads to the lazy binder; otherwise RECIPE_NONE.
 */
uint64_t arch_binder_recipe(const uint8_t *code, size_t n_bytes);

/*
 * The first place in the code, which is at `address` in the process, where __builtin_eh_return
 * leaves the function; NULL: none. `address` is inside an instruction after a call.
 */
const uint8_t *arch_find_eh_return(const uint8_t *code, size_t n_bytes, uint64_t address);

/*
 * What the instruction at the pc adds to sp just before the function returns (__builtin_eh_return).
 */
uint64_t arch_added_to_sp(const struct regs *regs);

/*
 * Returns true and sets *target if the code starts with the bytes of a direct call, or of a direct
 * jump that is not a short one. The code is at `address` in the process.
 */
bool arch_direct_call(const uint8_t *code, size_t n_bytes, uint64_t address, uint64_t *target);
bool arch_direct_jump(const uint8_t *code, size_t n_bytes, uint64_t address, uint64_t *target);

#endif
