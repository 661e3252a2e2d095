/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code that one walk looks at and that is not known to be mapped: generated code, garbage. It
 * is read by guarded loads, in lines that are kept until the walk ends: code that was replaced
 * before it is never seen. Signal-safe. Test: tests/unit/test_unwind_code.c. Reasons and figures:
 * doc/unwinding.md.
 */
#ifndef HPCRUN_LITE_UNWIND_CODE_LINES_H
#define HPCRUN_LITE_UNWIND_CODE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_LINE_BYTES = 256, CODE_LINES = 16 };

/* One thread's; zeroed, it is empty. */
struct code {
	uint32_t n; /* lines ever read in this walk; the newest CODE_LINES are kept */
	uint64_t n_guarded; /* system calls made */
	uint64_t at[CODE_LINES]; /* multiples of CODE_LINE_BYTES */
	uint8_t bytes[CODE_LINES][CODE_LINE_BYTES];
};

/* At the start of a walk: nothing has been read in it. */
static inline void code_begin(struct code *c)
{
	c->n = 0;
}

/* Copies n bytes, at most 4096. False: they cannot all be read; dst is undefined. */
bool code_load(struct code *c, uint64_t address, void *dst, size_t n_bytes);

#endif
