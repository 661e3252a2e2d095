/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call frame information: from .eh_frame_hdr to the FDE, and to the row of register rules at one
 * pc. DWARF 5, section 6.4; Linux Standard Base Core 5.0, section 10.6 (.eh_frame, .eh_frame_hdr).
 * All bytes are foreign: every read is bounded, and every loop is bounded by the bytes or a
 * constant.
 *
 * It never reads outside the source, never allocates and keeps nothing between calls. Signal-safe.
 * Tests: tests/unit/unwind/test_unwind_cfi.c, tests/fuzz/fuzz_cfi.c.
 */
#ifndef HPCRUN_LITE_UNWIND_CFI_H
#define HPCRUN_LITE_UNWIND_CFI_H

#include "common/safe/sys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CFI_N_REGS = MACHINE_N_REGS, /* rules of higher registers are ignored */
	CFI_REMEMBER_MAX = 6,        /* nested DW_CFA_remember_state; compilers use 1 */
	/* Maximum length of a CIE or FDE that has to be copied; longer ones are bad. */
	CFI_COPY_BYTES = 1024
};

enum cfi_status {
	CFI_OK,
	CFI_NONE, /* nothing covers the pc */
	CFI_BAD   /* damaged or not supported */
};

enum cfi_rule_kind {
	CFI_SAME, /* the same as in the callee; also if there is no rule */
	CFI_UNDEFINED,
	CFI_OFFSET,         /* saved at CFA + value */
	CFI_VAL_OFFSET,     /* equals CFA + value */
	CFI_REGISTER,       /* in register `reg`; as CFA rule: reg + value */
	CFI_EXPRESSION, /* saved at the address that the expression gives; as CFA rule: its value */
	CFI_VAL_EXPRESSION, /* equals the value of the expression */
};

struct cfi_rule {
	uint8_t kind;
	uint8_t reg;
	bool given; /* CFI_SAME because of an instruction, not by default */
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

/* Scratch memory of the caller; a signal stack is too small for it. */
struct cfi_work {
	struct cfi_row row; /* the result */
	struct cfi_row initial;
	struct cfi_row remembered[CFI_REMEMBER_MAX];
	uint8_t cie_copy[CFI_COPY_BYTES];
	uint8_t fde_copy[CFI_COPY_BYTES];
};

/*
 * The location of the tables, as addresses in this process. Bytes in [lo, hi) and in [frames_lo,
 * frames_hi) are read directly. All others, or all if these are empty, are read with load_guarded()
 * within [map_lo, map_hi).
 */
struct cfi_source {
	uintptr_t lo, hi;               /* the segment of the header */
	uintptr_t frames_lo, frames_hi; /* the segment of .eh_frame if it is another one */
	uintptr_t map_lo, map_hi;
	uintptr_t hdr; /* .eh_frame_hdr */
};

/* What an FDE covers, and properties of its frames. */
struct cfi_frame {
	uintptr_t pc_lo, pc_hi;
	uint8_t return_column; /* number of the return address's register */
	bool signal; /* augmentation S: the caller was interrupted and did not make a call */
};

/* Finds the FDE for pc and computes work->row. On CFI_OK *frame and work->row are set. */
enum cfi_status cfi_lookup(const struct cfi_source *source, uintptr_t pc, struct cfi_work *work,
			   struct cfi_frame *frame);

/*
 * CFI_OK: [*lo, *hi) is the range of the FDE that covers pc. Otherwise CFI_NONE, and it is the gap
 * between FDEs that contains pc, as far as the sorted table shows; 0 and UINTPTR_MAX if it does
 * not.
 */
enum cfi_status cfi_extent(const struct cfi_source *source, uintptr_t pc, struct cfi_work *work,
			   uintptr_t *lo, uintptr_t *hi);

/*
 * Like cfi_lookup with a known FDE address, for tests of one record. CFI_NONE: it does not cover
 * pc.
 */
enum cfi_status cfi_row_at(const struct cfi_source *source, uintptr_t fde, uintptr_t pc,
			   struct cfi_work *work, struct cfi_frame *frame);

#endif
