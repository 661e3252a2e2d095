/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the unwinder must know of the processor; one ctx_<arch>.c each. Register numbers are DWARF's. Signal-safe.
 * Tests: tests/unit/test_unwind_cfi.c, tests/workload/unwind_steps.c.
 */
#ifndef HPCRUN_LITE_UNWIND_ARCH_H
#define HPCRUN_LITE_UNWIND_ARCH_H

#include "hpcrun-lite/unwind/cfi.h"
#include "hpcrun-lite/unwind/code_lines.h"
#include "hpcrun-lite/unwind/regs.h"

#include <ucontext.h>

enum {
	ARCH_BP = 6,
	ARCH_SP = 7,
	ARCH_PC = 16,
	ARCH_CALLEE_SAVED = 1 << 3 | 1 << 6 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15, /* rbx rbp r12..r15 */
	ARCH_ALL_REGS = (1 << CFI_N_REGS) - 1,
	ARCH_CALL_MAX_BYTES = 7,
	ARCH_STUB_BYTES = 11, /* of a PLT stub: endbr64, bnd jmp *slot(%rip) */
	/* From sp in a signal frame (struct rt_sigframe behind its return address) to the saved registers. */
	ARCH_SIGNAL_BP = 120,
	ARCH_SIGNAL_SP = 160,
	ARCH_SIGNAL_PC = 168,
};

void arch_regs_from_context(struct regs *regs, const ucontext_t *context);

/* The interrupted registers, from the signal frame at `sp`. False: unreadable. */
bool arch_regs_from_signal_frame(struct regs *regs, struct mem *mem, uint64_t sp);

/* The recipe for a row, without the flags. Gives RECIPE_SLOW for what the fast walk cannot do. */
uint64_t arch_recipe(const struct cfi_row *row, const struct cfi_frame *frame, uint64_t pc);

/* Whether the last of n bytes is the last byte of a call instruction. */
bool arch_ends_in_call(const uint8_t *code, size_t n_bytes);

enum arch_call { ARCH_CALL_NO, ARCH_CALL_YES, ARCH_CALL_UNKNOWN };

/* Whether the call before return_address calls `function`, directly or through a PLT stub or a slot; UNKNOWN for a call through a register. */
enum arch_call arch_calls(struct code *seen, uint64_t return_address, uint64_t function);

/*
 * What the call that ends the code calls. YES: *target is set or, where *slot is not 0, the word
 * there; UNKNOWN: it is given by a register or by memory. `end` is the address behind the code. A
 * direct call and an indirect one may end in the same bytes: *or_indirect.
 */
enum arch_call arch_call_target(const uint8_t *code, size_t n_bytes, uint64_t end, uint64_t *target,
				uint64_t *slot, bool *or_indirect);

/* Whether a PLT stub, ARCH_STUB_BYTES at `address`, jumps through a slot: where that is. */
bool arch_stub_slot(const uint8_t *stub, uint64_t address, uint64_t *slot);

/* Whether the code, of which n_bytes lie at `address`, may leave by a jump into [lo, hi). UNKNOWN:
 * by one through a register or memory. */
enum arch_call arch_jumps_into(const uint8_t *code, size_t n_bytes, uint64_t address, uint64_t lo,
			       uint64_t hi);

/* Where the instruction that is next shows that a function has no frame: just entered, or about to
 * return. */
enum arch_place {
	ARCH_IN_BODY,
	ARCH_AT_EDGE,   /* the return address is at sp */
	ARCH_BP_PUSHED, /* the caller's bp is at sp, the return address above it */
	ARCH_ALIGNED,   /* sp was moved by one word, the return address is above that */
};
enum arch_place arch_place_of(const uint8_t *code, size_t n_bytes);

/* Whether code at the entry of a function, perhaps behind some checks, makes a frame: push %rbp;
 * mov %rsp, %rbp. */
bool arch_makes_frame(const uint8_t *code, size_t n_bytes);
enum { ARCH_ENTRY_BYTES = 32 };

/* The trampoline by which a signal handler returns: what lies at sp then is the kernel's signal
 * frame. */
bool arch_is_sigreturn(const uint8_t *code, size_t n_bytes);
enum { ARCH_SIGRETURN_BYTES = 9, ARCH_PLACE_BYTES = 20 };

/* Where in the code __builtin_eh_return leaves the function: the first such place, or NULL. */
const uint8_t *arch_find_eh_return(const uint8_t *code, size_t n_bytes);

/* Whether the code, which is at `address` in the process, begins like a direct call; like a direct
 * jump, not a short one. *target is set then. */
bool arch_direct_call(const uint8_t *code, size_t n_bytes, uint64_t address, uint64_t *target);
bool arch_direct_jump(const uint8_t *code, size_t n_bytes, uint64_t address, uint64_t *target);

#endif
