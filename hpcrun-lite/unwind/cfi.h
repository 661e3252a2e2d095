/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call frame information: .eh_frame_hdr -> FDE -> the row of register rules at one pc. DWARF 5, 6.4; Linux Standard Base Core 5.0,
 * 10.6 (.eh_frame, .eh_frame_hdr). All bytes are foreign: every read is bounded, every loop is bounded by the bytes or a constant.
 *
 * Must not: read outside of the source, allocate, keep anything between calls. Signal-safe. Tests: tests/unit/test_unwind_cfi.c, tests/fuzz/fuzz_cfi.c.
 */
#ifndef HPCRUN_LITE_UNWIND_CFI_H
#define HPCRUN_LITE_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CFI_N_REGS = 17, /* x86-64: DWARF numbers 0..15, and 16 the return address. Rules of higher registers are read over */
	CFI_REMEMBER_MAX = 6, /* nested DW_CFA_remember_state; compilers use 1 */
	CFI_COPY_BYTES = 1024 /* a CIE or FDE that has to be copied is at most that long; longer ones are bad */
};

enum cfi_status {
	CFI_OK,
	CFI_NONE, /* nothing covers the pc */
	CFI_BAD   /* damaged, or not understood */
};

enum cfi_rule_kind {
	CFI_SAME, /* as in the callee; also no rule given */
	CFI_UNDEFINED,
	CFI_OFFSET,         /* saved at CFA + value */
	CFI_VAL_OFFSET,     /* is CFA + value */
	CFI_REGISTER,       /* is in register `reg`; as CFA rule: reg + value */
	CFI_EXPRESSION,     /* saved at the address the expression gives; as CFA rule: the value it gives */
	CFI_VAL_EXPRESSION, /* is what the expression gives */
};

struct cfi_rule {
	uint8_t kind;
	uint8_t reg;
	bool given; /* CFI_SAME by an instruction, not by default */
	uint16_t n_bytes;
	union {
		int64_t value;
		const uint8_t *expression; /* n_bytes, borrowed from the source or the work area */
	};
};

/* The rules at one pc. */
struct cfi_row {
	struct cfi_rule cfa; /* CFI_REGISTER or CFI_EXPRESSION */
	struct cfi_rule reg[CFI_N_REGS];
};

/* Scratch, the caller's (a signal stack is too small for it). */
struct cfi_work {
	struct cfi_row row; /* the result */
	struct cfi_row initial;
	struct cfi_row remembered[CFI_REMEMBER_MAX];
	uint8_t cie_copy[CFI_COPY_BYTES];
	uint8_t fde_copy[CFI_COPY_BYTES];
};

/*
 * Where the tables lie. Addresses are those of this process. Bytes in [lo, hi) and in [frames_lo,
 * frames_hi) are read directly; all others, and with empty ranges all, through load_guarded() within
 * [map_lo, map_hi).
 */
struct cfi_source {
	uintptr_t lo, hi; /* the segment of the header */
	uintptr_t frames_lo, frames_hi; /* that of .eh_frame, if it is another one */
	uintptr_t map_lo, map_hi;
	uintptr_t hdr; /* .eh_frame_hdr */
};

/* What an FDE covers and how its frames behave. */
struct cfi_frame {
	uintptr_t pc_lo, pc_hi;
	uint8_t return_column; /* the register that stands for the return address */
	bool signal;           /* augmentation S: the caller was interrupted at its pc, did not call */
};

/* Finds the FDE for pc and computes work->row. On CFI_OK *frame and work->row are set. */
enum cfi_status cfi_lookup(const struct cfi_source *source, uintptr_t pc, struct cfi_work *work, struct cfi_frame *frame);

/*
 * CFI_OK: [*lo, *hi) is what the FDE that holds pc covers. Otherwise CFI_NONE, and it is the
 * stretch between FDEs that holds pc, as far as the sorted table tells: 0 and UINTPTR_MAX where it
 * does not.
 */
enum cfi_status cfi_extent(const struct cfi_source *source, uintptr_t pc, struct cfi_work *work,
			   uintptr_t *lo, uintptr_t *hi);

/* As cfi_lookup with a known FDE address, for tests of one record. CFI_NONE: it does not cover pc.
 */
enum cfi_status cfi_row_at(const struct cfi_source *source, uintptr_t fde, uintptr_t pc, struct cfi_work *work,
			   struct cfi_frame *frame);

#endif
