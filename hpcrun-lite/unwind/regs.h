/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registers of one frame in a slow step, and DWARF expressions over them. Signal-safe. Test:
 * tests/unit/unwind/test_unwind_cfi.c.
 */
#ifndef HPCRUN_LITE_UNWIND_REGS_H
#define HPCRUN_LITE_UNWIND_REGS_H

#include "hpcrun-lite/unwind/cfi.h"
#include "hpcrun-lite/unwind/mem.h"

enum { EXPR_STACK_MAX = 32, EXPR_STEPS_MAX = 512 };

/* Registers by DWARF number. Bit i of `known` is set if reg[i] is valid. */
struct regs {
	uint64_t reg[CFI_N_REGS];
	uint64_t known;
};

enum expr_status { EXPR_OK, EXPR_BAD, EXPR_UNREADABLE };

/*
 * Evaluates a DWARF expression (DWARF 5, section 2.5; what CFI may contain, section 6.4.2).
 * `initial` (NULL: none) is on its stack at the start. `stack` is scratch. EXPR_BAD: damaged, an
 * unknown operation, an unknown register, or more than EXPR_STEPS_MAX operations.
 */
enum expr_status expr_evaluate(const uint8_t *at, size_t n_bytes, const struct regs *regs,
			       const uint64_t *initial, struct mem *mem,
			       uint64_t stack[EXPR_STACK_MAX], uint64_t *value);

#endif
