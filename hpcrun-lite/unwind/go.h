/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Go's own unwind tables. The Go linker writes no .eh_frame for Go code but .gopclntab, which the
 * Go runtime itself walks stacks with: for each function, how far sp is below the return address at
 * every instruction. Sources: runtime/symtab.go and internal/abi/symtab.go of Go 1.18 to 1.24
 * (magics 0xfffffff0 and 0xfffffff1). Signal-safe. Tests: tests/unit/test_unwind_go.c,
 * tests/cli/unwind_languages.sh.
 */
#ifndef HPCRUN_LITE_UNWIND_GO_H
#define HPCRUN_LITE_UNWIND_GO_H

#include "hpcrun-lite/unwind/unwind_image.h"

/* What the caller of a Go function is. */
enum go_kind {
	GO_FRAME, /* ordinary: the return address is sp_delta bytes above sp */
	GO_ROOT,  /* nobody: goexit, mstart, rt0_go; mcall, where a scheduler's stack begins */
	GO_INTERRUPTED, /* as GO_FRAME, but it did not call: asyncPreempt, sigpanic */
	GO_ASMCGOCALL,  /* on the goroutine's stack, which asmcgocall left for C's */
	GO_SYSTEMSTACK, /* the same, of systemstack */
	GO_MORESTACK,   /* the same, of morestack */
	GO_UNKNOWN      /* it moves sp in a way that the table does not tell */
};

struct go_function {
	uintptr_t lo, hi; /* its code */
	enum go_kind kind;
	int64_t sp_delta;
};

/* A table in this process: all of it lies in [at, hi). */
struct go_table {
	uintptr_t at, hi;
	uintptr_t text;
	uint64_t n_functions;
	uint64_t names, pc_values, functions; /* distances from `at` */
	unsigned id_offset;                   /* of funcID in struct _func */
	bool is_mapped; /* for sure: it is read directly, else by guarded loads */
};

/* Whether a sound table begins at `at`; `hi` is the end of what may be read, [text_lo, text_hi) the
 * module's code. */
bool go_table_at(uintptr_t at, uintptr_t hi, uintptr_t text_lo, uintptr_t text_hi,
		 struct go_table *table);

/* The function that holds pc, and its row there. False: none, or damage. */
bool go_find(const struct go_table *table, uintptr_t pc, struct go_function *function);

/* The same by the table of a loaded module. False also where the module is none of Go's. */
bool go_lookup(const struct image *image, uintptr_t pc, struct go_function *function);

#endif
