/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that a walk examines although it may not be mapped: generated code, garbage. It is read with
 * guarded loads, in lines that are kept until the walk ends. The next walk reads it again, because
 * the code may have been replaced. Signal-safe. See doc/unwinding.md. Test:
 * tests/unit/unwind/test_unwind_code.c.
 */
#ifndef HPCRUN_LITE_UNWIND_CODE_CODE_LINES_H
#define HPCRUN_LITE_UNWIND_CODE_CODE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_LINE_BYTES = 256, CODE_LINES = 16 };

/* The state of one thread. Zeroed, it is empty. */
struct code {
	uint32_t n;              /* lines read in this walk; the newest CODE_LINES are kept */
	uint64_t n_guarded;      /* system calls made */
	uint64_t at[CODE_LINES]; /* multiples of CODE_LINE_BYTES */
	uint8_t bytes[CODE_LINES][CODE_LINE_BYTES];
};

/* Call at the start of a walk: drops all lines. */
static inline void code_begin(struct code *c)
{
	if (c->n) /* do not touch the page if nothing changes */
		c->n = 0;
}

/* Copies n bytes, at most 4096. Returns false if not all can be read; `dst` is then undefined. */
bool code_load(struct code *c, uint64_t address, void *dst, size_t n_bytes);

#endif
