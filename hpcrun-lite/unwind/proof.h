/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the memory that made the outer part of the previous path still holds what it held, in one pass over 8 bytes a frame. Each frame has the places of the two words that made its
 * caller, and the sum, over this frame and all further out, of 64-bit hashes of what they held and of how far out they are. If the words read now give the same sum, the path is taken to be the
 * same: two different states of a stack have the same sum by chance alone, once in 2^64. Where they do not, walk.c compares word by word. The hash is that of wyhash (a 64 by 64 bit product,
 * folded; Wang Yi, 2019), which needs no chain from one frame to the next. Signal-safe. Tests: tests/unit/test_unwind.c, tests/unit/test_unwind_proof.c.
 */
#ifndef HPCRUN_LITE_UNWIND_PROOF_H
#define HPCRUN_LITE_UNWIND_PROOF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Of a frame: its caller's return address and frame pointer were read this far below the stack's end. */
struct proof_slots {
	uint32_t pc, bp;
};

/* Of the frame that is n_outer frames from the outermost. */
static inline uint64_t proof_hash(uint64_t pc, uint64_t bp, uint64_t n_outer)
{
	const uint64_t a = pc ^ (UINT64_C(0xa0761d6478bd642f) + n_outer * UINT64_C(0xe7037ed1a0b428db)), b = bp ^ UINT64_C(0x8ebc6af09c88c6e3);
	const unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* False: it lies elsewhere, or too far below. */
static inline bool proof_make_slots(struct proof_slots *s, uint64_t stack_end, uint64_t pc_at, uint64_t bp_at)
{
	if (pc_at >= stack_end || bp_at >= stack_end || stack_end - pc_at > UINT32_MAX || stack_end - bp_at > UINT32_MAX)
		return false;
	*s = (struct proof_slots){.pc = (uint32_t)(stack_end - pc_at), .bp = (uint32_t)(stack_end - bp_at)};
	return true;
}

/* The sum as memory stands now: of n frames from *s outwards; the last of them has one frame outside of it. All of it may be read. */
static inline uint64_t proof_sum(const struct proof_slots *s, uint32_t n, uint64_t stack_end)
{
	uint64_t sum = 0;
	for (; n; n--, s++) {
		uint64_t pc, bp;
		memcpy(&pc, (const void *)(stack_end - s->pc), sizeof pc);
		memcpy(&bp, (const void *)(stack_end - s->bp), sizeof bp);
		sum += proof_hash(pc, bp, n);
	}
	return sum;
}

#endif
