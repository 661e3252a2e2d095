/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unwinds Go code with Go's own tables. The Go linker writes no .eh_frame for Go code but
 * .gopclntab, which the Go run time itself uses to walk stacks. For each instruction of a function
 * it says how far sp is below the return address. Sources: runtime/symtab.go and
 * internal/abi/symtab.go of Go 1.18 to 1.24 (magics 0xfffffff0 and 0xfffffff1). Signal-safe. Tests:
 * tests/unit/unwind/test_unwind_go.c, tests/cli/unwind/unwind_languages.sh.
 */
#ifndef HPCRUN_LITE_UNWIND_GO_H
#define HPCRUN_LITE_UNWIND_GO_H

#include "hpcrun-lite/unwind/unwind_image.h"

/* How to find the caller of a Go function. */
enum go_kind {
	GO_FRAME, /* ordinary: the return address is sp_delta bytes above sp */
	/* No caller: goexit, mstart, rt0_go; mcall, where the stack of a scheduler starts. */
	GO_ROOT,
	GO_INTERRUPTED, /* like GO_FRAME, but the caller was interrupted: asyncPreempt, sigpanic */
	GO_ASMCGOCALL,  /* on the goroutine's stack, which asmcgocall left for the C stack */
	GO_SYSTEMSTACK, /* the same for systemstack */
	GO_MORESTACK,   /* the same for morestack */
	GO_UNKNOWN      /* moves sp in a way that the table does not describe */
};

struct go_function {
	uintptr_t lo, hi; /* its code */
	enum go_kind kind;
	int64_t sp_delta;
};

/* A table in this process, inside [at, hi). */
struct go_table {
	uintptr_t at, hi;
	uintptr_t text;
	uint64_t n_functions;
	uint64_t names, pc_values, functions; /* distances from `at` */
	unsigned id_offset;                   /* of funcID in struct _func */
	bool is_mapped; /* certainly mapped: read directly; otherwise with guarded loads */
};

/*
 * Returns true if a valid table starts at `at`. `hi` is the end of the readable memory; [text_lo,
 * text_hi) is the code of the module.
 */
bool go_table_at(uintptr_t at, uintptr_t hi, uintptr_t text_lo, uintptr_t text_hi,
		 struct go_table *table);

/*
 * Finds the function that contains pc and its row at pc. Returns false if there is none, or on
 * damage.
 */
bool go_find(const struct go_table *table, uintptr_t pc, struct go_function *function);

/* The same with the table of a loaded module. Also false if the module is not a Go module. */
bool go_lookup(const struct image *image, uintptr_t pc, struct go_function *function);

#endif
