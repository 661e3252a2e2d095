/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What code_ranges.c and code_tables.c share: the state of a worker that decodes a function.
 * Nothing else includes this file. Test: tests/cli/struct/struct_loops.sh.
 */
#ifndef HPCSTRUCT_LITE_SCOPE_CODE_DECODER_H
#define HPCSTRUCT_LITE_SCOPE_CODE_DECODER_H

#include "hpcstruct-lite/scope/code_ranges.h"

#define STARTS_INSTRUCTION 1u
#define STARTS_BLOCK 2u /* the target of a jump, or behind a jump, call or return */

/* What one worker needs while it decodes a function. */
struct decoder {
	struct code *code;
	struct code_batch *batch;
	struct code_function *function;
	VEC(uint8_t) starts; /* by byte of the function: STARTS_* */
	VEC(size_t) before;  /* by range: bytes of the function before it */
	bool has_leaders;    /* STARTS_BLOCK is set where it should be */
	bool is_wanted;      /* otherwise only whether it returns matters */
	bool ok;
};

/* Returns the index of the last section that starts at or before a position; 0 if there is none. */
size_t code_piece_before(const struct code *c, uint32_t position);
/* Returns true if the position is in the function, and sets *offset to its index in d->starts. */
bool decoder_offset(const struct decoder *d, uint32_t position, size_t *offset);
/*
 * Adds the tables of the function's indirect jumps to the batch, in the order of the jumps. All its
 * ranges must be decoded. Sets d->ok to false when out of memory.
 */
void decoder_find_tables(struct decoder *d);
/* Returns true if decoder_find_tables() found a table of a jump of the function. */
bool decoder_has_table(const struct decoder *d, uint32_t jump);

#endif
