/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out how code without tables will return to its caller (its way out). Follows the
 * instructions from a pc to a return, and keeps the stack pointer and copies of it as expressions
 * of the registers at that pc. The result is the word that the processor will use as the return
 * address. This needs to know neither where the function begins nor how it made its frame. See
 * doc/unwinding.md, "Code without tables".
 *
 * Reads only code in the given bounds, or code that `more` provides. Bounded work. Signal-safe.
 * Test: tests/unit/unwind/test_leave.c, tests/workload/unwind/unwind_steps.c.
 */
#ifndef HPCRUN_LITE_UNWIND_CODE_LEAVE_H
#define HPCRUN_LITE_UNWIND_CODE_LEAVE_H

#include "common/safe/sys.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	LEAVE_INSNS_MAX = 8192,      /* instructions that are decoded */
	LEAVE_WAYS = 16,             /* branches whose other side must still be tried */
	LEAVE_STORES = 16,           /* words that the code stores before it loads them */
	LEAVE_PASSED = 16,           /* branches from which the way out is the same */
	LEAVE_RUNS = 16,             /* pieces of code that were examined */
	LEAVE_REGS = MACHINE_PC + 1, /* the registers and LEAVE_ELSEWHERE */
	/* a stack pointer that was aligned, or changed by a register */
	LEAVE_ELSEWHERE = MACHINE_PC
};

enum leave_kind {
	LEAVE_UNKNOWN,
	LEAVE_REG,      /* reg + offset */
	LEAVE_LOAD,     /* *(reg + at) + offset */
	LEAVE_LOAD_TWO, /* *(*(reg + at) + offset) */
};

/* A value, expressed by the registers (DWARF numbers) and memory at the pc where the way begins. */
struct leave_value {
	uint8_t kind, reg;
	int32_t at, offset;
};

/* What the registers and the stack hold at one place of a way. */
struct leave_state {
	uint64_t pc;
	bool after_call, after_gap; /* a call, or a call and then a gap, comes directly before */
	uint8_t n_stores;
	uint16_t n_pushed; /* words on top of the stack that the way has pushed */
	struct leave_value reg[LEAVE_REGS - 1];
	struct leave_store {
		struct leave_value to, value;
	} store[LEAVE_STORES];
};

/* Scratch memory of the caller. */
struct leave_work {
	struct leave_state now, way[LEAVE_WAYS];
	uint64_t taken[4 * LEAVE_WAYS]; /* branches whose other side was kept */
};

struct leave {
	/*
	 * At the return: the canonical frame address, and the caller's bp. With ARCH_RETURN_BITS
	 * also the return address, which is below the CFA otherwise.
	 */
	struct leave_value cfa, bp, ra;
	/* If not 0, the way reached a branch whose answer is known, and this is the answer. */
	uint64_t known;
	/*
	 * Branches on the way where sp, bp and all saved values are as at its beginning. So are the
	 * registers whose bits are set in kept[].
	 */
	unsigned n_passed;
	uint64_t passed[LEAVE_PASSED];
	uint32_t kept[LEAVE_PASSED];
	unsigned n_insns; /* number of instructions decoded */
	/*
	 * If the code is read by `more`: the pieces with all code that was examined; n_runs >
	 * LEAVE_RUNS if there are too many. Up to the instruction at same_hi, sp and bp are as at
	 * the beginning.
	 */
	unsigned n_runs;
	struct leave_run {
		uint64_t lo, hi;
	} run[LEAVE_RUNS];
	uint64_t same_hi;
};

/*
 * Returns the known answer for the way out from a branch, or 0. It is used only if the registers in
 * *needs (bits by DWARF number) are as at the beginning.
 */
typedef uint64_t leave_known_fn(void *arg, uint64_t pc, uint32_t *needs);

struct leave_code;

/* Moves the window [lo, hi) so that it begins at pc. Returns false if there is no code. */
typedef bool leave_more_fn(struct leave_code *code, uint64_t pc);

struct leave_code {
	uint64_t lo, hi;       /* code that can be read */
	leave_known_fn *known; /* or NULL */
	void *arg;
	leave_more_fn *more;  /* or NULL: there is no code outside [lo, hi) */
	/* with `more`: the bytes at lo; otherwise the code is read in place */
	const uint8_t *bytes;
	unsigned insns_max;   /* at most LEAVE_INSNS_MAX; 0: LEAVE_INSNS_MAX */
	bool is_straight;     /* see leave_edge() */
	bool has_restored;    /* the return address was loaded before pc */
};

/*
 * Finds the way out for the code at pc. is_exact: pc is the next instruction; otherwise it is a
 * return address, and only the registers that a callee keeps have known values. Returns false if no
 * return is found.
 */
bool leave_find(const struct leave_code *code, uint64_t pc, bool is_exact, struct leave_work *work,
		struct leave *leave);

/*
 * Finds the way out from the next instruction of a function, if the function is making or removing
 * its frame there: tables need not describe that (clang before 15 on aarch64). The instructions
 * around pc are followed as far as no branch and no call comes between. `code` is the function.
 * is_bare: the tables say that there is no frame. Only for processors with ARCH_RETURN_BITS.
 * Returns false if the tables apply.
 */
bool leave_edge(const struct leave_code *code, uint64_t pc, bool is_bare, struct leave_work *work,
		struct leave *leave);

#endif
