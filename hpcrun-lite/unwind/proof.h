/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks in one pass, with 8 bytes per frame, whether the memory that made the outer part of the
 * previous path is unchanged. Signal-safe. Tests: tests/unit/unwind/test_unwind.c,
 * tests/unit/unwind/test_unwind_proof.c.
 *
 * Each frame has the places of the two words that made its caller, and a sum over this frame and
 * all frames further out. The sum adds 64-bit hashes of the two words and of the distance from the
 * outermost frame. If the words read now give the same sum, we assume that the path is the same:
 * two different stacks have the same sum by chance only once in 2^64. Otherwise walk.c compares
 * word by word. The hash is that of wyhash (a 64 by 64 bit product, folded; Wang Yi, 2019). Unlike
 * a chained hash, it does not depend on the previous frame.
 */
#ifndef HPCRUN_LITE_UNWIND_PROOF_H
#define HPCRUN_LITE_UNWIND_PROOF_H

#include "common/safe/sys.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Where the return address and the frame pointer of a frame's caller were read, as distances below
 * the end of the stack.
 */
struct proof_slots {
	uint32_t pc, bp;
};

/* For the frame that is n_outer frames from the outermost. */
static inline uint64_t proof_hash(uint64_t pc, uint64_t bp, uint64_t n_outer)
{
	const uint64_t a = pc ^
			   (UINT64_C(0xa0761d6478bd642f) + n_outer * UINT64_C(0xe7037ed1a0b428db)),
		       b = bp ^ UINT64_C(0x8ebc6af09c88c6e3);
	const unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns false if one of the words is outside the stack or too far below its end. */
static inline bool proof_make_slots(struct proof_slots *s, uint64_t stack_end, uint64_t pc_at,
				    uint64_t bp_at)
{
	if (pc_at >= stack_end || bp_at >= stack_end || stack_end - pc_at > UINT32_MAX ||
	    stack_end - bp_at > UINT32_MAX)
		return false;
	*s = (struct proof_slots){
		.pc = (uint32_t)(stack_end - pc_at),
		.bp = (uint32_t)(stack_end - bp_at)};
	return true;
}

/*
 * Returns the sum over n frames from *s outwards, from memory as it is now. The last of these
 * frames still has a caller. All this memory must be readable.
 */
static inline uint64_t proof_sum(const struct proof_slots *s, uint32_t n, uint64_t stack_end)
{
	uint64_t sum = 0;
	for (; n; n--, s++) {
		uint64_t pc, bp;
		memcpy(&pc, (const void *)(stack_end - s->pc), sizeof pc);
		memcpy(&bp, (const void *)(stack_end - s->bp), sizeof bp);
		pc = arch_strip(pc);
		if (ARCH_RETURN_BITS && s->bp == s->pc)
			bp = pc;
		sum += proof_hash(pc, bp, n);
	}
	return sum;
}

#endif
