/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets up the unwinder and its threads; see unwind.h. Must not allocate. Test:
 * tests/unit/unwind/test_unwind.c.
 */
#include "hpcrun-lite/unwind/internal.h"

#include <string.h>

struct unwind_config unwind_config;

const char *unwind_end_name(enum unwind_end end)
{
	static const char *const name[UNWIND_N_ENDS] = {
		"root",    "no CFI", "no module", "unreadable stack",
		"bad CFI", "loop",   "too deep",  "stack being rewritten by a throw",
	};
	return (unsigned)end < UNWIND_N_ENDS ? name[end] : "unknown";
}

void unwind_init(const struct unwind_config *config)
{
	unwind_config = *config;
}

static size_t round_up(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

/* State and scratch come first, because every walk touches them. The arrays follow. */
size_t unwind_thread_bytes(unsigned max_depth)
{
	const size_t n = 2 * (size_t)max_depth;
	return round_up(sizeof(struct unwind_thread)) + round_up(n * sizeof(struct record)) +
	       2 * round_up(n * sizeof(uint64_t)) + round_up(n * sizeof(struct proof_slots));
}

struct unwind_thread *unwind_thread_init(void *mem, unsigned max_depth,
					 const struct unwind_stack *stack)
{
	const size_t n = 2 * (size_t)max_depth;
	struct unwind_thread *t = mem;
	t->max_depth = max_depth;
	t->stack = *stack;
	t->mem.lo = t->mem.hi = stack->hi;
	t->records = (struct record *)((char *)mem + round_up(sizeof *t));
	t->addresses = (uint64_t *)((char *)t->records + round_up(n * sizeof(struct record)));
	t->proof = (uint64_t *)((char *)t->addresses + round_up(n * sizeof(uint64_t)));
	t->slots = (struct proof_slots *)((char *)t->proof + round_up(n * sizeof(uint64_t)));
	t->end = UNWIND_N_ENDS;
	return t;
}

const struct unwind_counts *unwind_counts(const struct unwind_thread *t)
{
	return &t->counts;
}
