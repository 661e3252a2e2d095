/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The depend room finds what each instruction of a GPU function waits for: backward over the flow
 * graph, from a wait to the instructions that hold what it waits for. doc/dependencies.md has the
 * rules. Work is bounded for each wait, whatever the code is. Tests:
 * tests/unit/struct/test_depend.c, tests/cli/struct/struct_depend.sh, tests/fuzz/fuzz_flow.c.
 */
#ifndef HPCSTRUCT_DEPEND_DEPEND_H
#define HPCSTRUCT_DEPEND_DEPEND_H

#include "common/base/vec.h"
#include "hpcstruct-lite/flow/flow.h"
#include "hpcstruct-lite/isa/sass.h"

/* Causes kept for one wait. */
#define DEPEND_MAX_CAUSES 8

struct depend_cause {
	uint32_t wait, cause; /* positions of the instructions */
	uint32_t cycles;      /* see struct structure_cause, as below */
	uint8_t kind, operation;
	uint8_t bytes;        /* see struct sass_instruction */
	bool is_used, is_carried, is_chained;
};

/* Sorted by wait; the most likely cause first. */
struct depend_causes {
	VEC(struct depend_cause);
};

/* How many waits are explained. */
struct depend_counts {
	uint64_t n_instructions;
	uint64_t n_waits;     /* pairs of an instruction and a barrier that it waits for */
	uint64_t n_explained; /* number of these waits with a cause */
	/* waits without a cause that a path from the entry reaches: the cause may be in a caller */
	uint64_t n_entered;
	uint64_t n_cut; /* searches that were cut short */
};

/* Returns the SASS_BYTES of the instruction at a position of the function. */
typedef const uint8_t *depend_bytes(void *arg, uint32_t position);

/* Memory of one thread, reused for the next function. */
struct depend;
struct depend *depend_new(void);
void depend_free(struct depend *d);
/*
 * Appends the causes of a function whose blocks and loops have been found. *counts may be NULL.
 * Returns false when out of memory.
 */
bool depend_find(struct depend *d, const struct flow *flow, depend_bytes *bytes, void *arg,
		 struct depend_causes *out, struct depend_counts *counts);

#endif
