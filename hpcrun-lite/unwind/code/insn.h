/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One instruction: its length, and what it does to the stack pointer and to copies of it. Register
 * numbers are DWARF's. Each processor has its decoder. Pure and signal-safe. Test:
 * tests/unit/unwind/test_leave.c.
 */
#ifndef HPCRUN_LITE_UNWIND_CODE_INSN_H
#define HPCRUN_LITE_UNWIND_CODE_INSN_H

#include "common/safe/sys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_PLAIN, /* nothing that matters here */
	INSN_PUSH,  /* register `from`; INSN_NO_REG: another value */
	INSN_POP,   /* into register `to`, or INSN_NO_REG */
	INSN_ADD,   /* to += value */
	INSN_ALIGN, /* to &= value */
	INSN_MOVE,  /* to = from + value */
	INSN_LOAD,  /* to = *(from + value), second = the next word, from += after */
	INSN_STORE, /* *(to + value) = from, the next word = second, to += after */
	INSN_SET,   /* `to`, `from` and `second` get other values */
	INSN_LEAVE, /* sp = bp, then pops bp */
	INSN_CALL,
	INSN_RETURN,
	INSN_JUMP,   /* to the address `value` */
	INSN_BRANCH, /* to the address `value`, perhaps */
	/* to an address that is loaded from a word at a known address: to another function */
	INSN_JUMP_SLOT,
	INSN_END,   /* nothing comes after it: an indirect jump, a trap */
	INSN_ENTRY, /* endbr64: others call or jump here */
	INSN_NOP,   /* also int3, because some linkers fill gaps with it */
};

enum { INSN_NO_REG = 0xff, INSN_MAX_BYTES = ARCH_INSN_MAX_BYTES };

struct insn {
	uint8_t n_bytes;
	uint8_t kind;     /* enum insn_kind */
	uint8_t to, from, second; /* INSN_NO_REG: none */
	int32_t after;
	int64_t value;
};

/*
 * Decodes the first instruction of the n_bytes of code, which is at `address` in the process.
 * Returns false if the bytes are no instruction, or if it is longer than n_bytes.
 */
bool insn_decode(const uint8_t *code, size_t n_bytes, uint64_t address, struct insn *insn);

#endif
