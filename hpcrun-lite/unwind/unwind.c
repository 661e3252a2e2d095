/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets up the unwinder and its threads; see unwind.h. Must not allocate. Test:
 * tests/unit/unwind/test_unwind.c.
 */
#include "hpcrun-lite/unwind/internal.h"

#include <stdatomic.h>
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

size_t unwind_deep_bytes(unsigned max_depth)
{
	const size_t n = 2 * (size_t)max_depth;
	return round_up(n * sizeof(struct record)) + 2 * round_up(n * sizeof(uint64_t)) +
	       round_up(n * sizeof(struct proof_slots));
}

size_t unwind_shallow_bytes(void)
{
	return round_up(sizeof(struct unwind_thread)) + unwind_deep_bytes(UNWIND_FEW);
}

size_t unwind_thread_bytes(unsigned max_depth)
{
	return unwind_shallow_bytes() + unwind_deep_bytes(max_depth);
}

void unwind_take_arrays(struct unwind_thread *t, void *memory, uint32_t max_depth)
{
	const size_t n = 2 * (size_t)max_depth;
	t->records = memory;
	t->addresses = (uint64_t *)((char *)t->records + round_up(n * sizeof(struct record)));
	t->proof = (uint64_t *)((char *)t->addresses + round_up(n * sizeof(uint64_t)));
	t->slots = (struct proof_slots *)((char *)t->proof + round_up(n * sizeof(uint64_t)));
	atomic_signal_fence(memory_order_seq_cst); /* see join(): the depth fits at any moment */
	t->max_depth = max_depth;
}

struct unwind_thread *unwind_thread_place(void *shallow, void *deep, unsigned max_depth,
					  const struct unwind_stack *stack)
{
	struct unwind_thread *t = shallow;
	const bool is_few = max_depth <= UNWIND_FEW;
	t->stack = *stack;
	t->mem.lo = t->mem.hi = stack->hi;
	t->n_records = t->n_addresses = t->n_proven = 0; /* unwind_steps.c clears less */
	t->full_depth = max_depth;
	t->full = is_few ? NULL : deep;
	unwind_take_arrays(t, (char *)shallow + round_up(sizeof *t),
			   is_few ? max_depth : UNWIND_FEW);
	t->end = UNWIND_N_ENDS;
	return t;
}

struct unwind_thread *unwind_thread_init(void *mem, unsigned max_depth,
					 const struct unwind_stack *stack)
{
	return unwind_thread_place(mem, (char *)mem + unwind_shallow_bytes(), max_depth, stack);
}

const struct unwind_counts *unwind_counts(const struct unwind_thread *t)
{
	return &t->counts;
}
