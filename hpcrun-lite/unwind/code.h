/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code that one walk looks at and that is not known to be mapped: generated code, garbage. It
 * is read by guarded loads, in lines. A line that one walk used is likely to be used by the next
 * one, so the first need of a known line reads all known lines again, in one system call. What is
 * given out was always read in the walk under way: code that was replaced since is never seen.
 * Signal-safe. Test: tests/unit/test_unwind_code.c. Reasons and figures: doc/unwinding.md.
 */
#ifndef HPCRUN_LITE_UNWIND_CODE_H
#define HPCRUN_LITE_UNWIND_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CODE_LINE_BYTES = 256,
	CODE_LINES = 16,
	CODE_KEEP = 8 /* walks that a line is known for after its last use */
};

/* One thread's; zeroed, it is empty. */
struct code {
	uint32_t walk;
	uint32_t n_fresh; /* lines[0 .. n_fresh) were read in this walk */
	uint32_t n_known; /* lines[n_fresh .. n_known) before; their bytes are not to be used */
	uint64_t n_guarded; /* system calls made */
	struct {
		uint64_t at; /* a multiple of CODE_LINE_BYTES */
		uint32_t used; /* the last walk that used it */
	} line[CODE_LINES];
	uint8_t bytes[CODE_LINES][CODE_LINE_BYTES];
};

/* At the start of a walk: nothing has been read in it. */
void code_begin(struct code *c);

/* Where this thread executes code: likely to be asked for, and readable. */
void code_expect(struct code *c, uint64_t pc);

/* Copies n bytes, at most 4096. False: they cannot all be read; dst is undefined. */
bool code_load(struct code *c, uint64_t address, void *dst, size_t n_bytes);

#endif
