/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds how code that a program generates in anonymous memory will return; see leave.h for the way
 * out. The code may be replaced or unmapped at any time, so it is read with guarded loads. A way
 * that was found is kept with a check value of all code that it depends on, and is used again only
 * if that code is unchanged. See doc/unwinding.md, "Generated code". Bounded work. Signal-safe.
 * Test: tests/unit/unwind/test_generated.c.
 */
#ifndef HPCRUN_LITE_UNWIND_CODE_GENERATED_H
#define HPCRUN_LITE_UNWIND_CODE_GENERATED_H

#include "hpcrun-lite/unwind/code/leave.h"

#include <stddef.h>

enum {
	GENERATED_WAYS = 64,            /* ways that a thread keeps */
	GENERATED_WINDOW_BYTES = 4096,  /* bytes that one system call reads */
	GENERATED_CHECK_MAX = 64 << 10, /* bytes of code that one way may depend on */
	GENERATED_NO_WAY_BYTES = 256,   /* bytes that are checked where no way was found */
	GENERATED_READS_MAX = 64,       /* system calls in a walk */
};

/* The way out from any instruction in lo..hi. */
struct generated_way {
	uint64_t lo, hi;
	uint64_t check; /* of the code in run[] */
	uint64_t walk;  /* the last one that found the code unchanged */
	bool is_exact;  /* `lo` was interrupted; otherwise it is a return address */
	bool is_found;  /* false: there is no way out */
	uint8_t n_runs; /* 0: unused */
	struct leave_run run[LEAVE_RUNS];
	struct leave_value cfa, bp, ra;
};

/* The state of one thread. Zeroed, it is empty. */
struct generated {
	uint64_t walk;                   /* number of the last walk that used it */
	unsigned reads_left, insns_left; /* in this walk */
	uint64_t n_reads;                /* system calls, ever */
	uint64_t n_searches;
	unsigned next;
	struct generated_way way[GENERATED_WAYS];
	uint8_t window[GENERATED_WINDOW_BYTES];
};

/* Returns true if an address is in a module. The unwinder has other means for such code. */
typedef bool generated_module_fn(void *arg, uint64_t pc);

struct generated_place {
	uint64_t walk; /* number of the walk, not 0 */
	uint64_t pc;
	bool is_exact; /* as in leave_find() */
	generated_module_fn *in_module;
	void *arg;
};

/* Like leave_find(). Sets only leave->cfa, bp and ra. */
bool generated_find(struct generated *g, const struct generated_place *place,
		    struct leave_work *work, struct leave *leave);

#endif
