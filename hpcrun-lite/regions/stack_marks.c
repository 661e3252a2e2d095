/* SPDX-License-Identifier: BSD-3-Clause */
/* See stack_marks.h. Test: tests/unit/openmp/test_region.c. */
#include "hpcrun-lite/regions/stack_marks.h"

static struct {
	_Atomic uint64_t lo, hi;
} code;

void stack_marks_set_code(uint64_t lo, uint64_t hi)
{
	uint64_t none = 0;
	/* release: a thread that finds hi also finds lo */
	atomic_store_explicit(&code.lo, lo, memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(&code.hi, &none, hi, memory_order_release,
						memory_order_relaxed);
}

static bool is_marked_code(uint64_t addr)
{
	const uint64_t hi = atomic_load_explicit(&code.hi, memory_order_acquire),
		       lo = atomic_load_explicit(&code.lo, memory_order_relaxed);
	return addr >= lo && addr < hi;
}

/*
 * Frames at this place and deeper ones have returned. The handler may interrupt at any point; it
 * uses only the first n marks.
 */
bool stack_marks_enter(struct stack_marks *m, uintptr_t place, uint64_t frame)
{
	uint32_t n = atomic_load_explicit(&m->n, memory_order_relaxed);
	while (n && atomic_load_explicit(&m->mark[n - 1].place, memory_order_relaxed) <= place)
		n--;
	atomic_store_explicit(&m->n, n, memory_order_relaxed);
	if (!frame || n == STACK_MARKS_MAX)
		return !frame;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&m->mark[n].place, place, memory_order_relaxed);
	atomic_store_explicit(&m->mark[n].frame, frame, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&m->n, n + 1, memory_order_relaxed);
	return true;
}

bool stack_marks_find(const struct stack_marks *m, uint32_t i, const struct unwind_thread *walk,
		      const struct unwind_path *walked, struct unwind_scan *scan, uint32_t *index,
		      uint64_t *frame)
{
	const uint32_t n = atomic_load_explicit(&m->n, memory_order_relaxed);
	if (i >= n || n > STACK_MARKS_MAX)
		return false;
	const struct stack_mark *mark = &m->mark[n - 1 - i];
	*index = unwind_find_on_stack(walk, scan,
				      atomic_load_explicit(&mark->place, memory_order_relaxed));
	*frame = atomic_load_explicit(&mark->frame, memory_order_relaxed);
	return *index < walked->n && is_marked_code(walked->addr[*index] & ~UNWIND_ADDR_MARK);
}

uint64_t stack_marks_tag(const struct stack_marks *m, uintptr_t sp)
{
	const uint32_t n = atomic_load_explicit(&m->n, memory_order_relaxed);
	uint64_t hash = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uintptr_t place =
			atomic_load_explicit(&m->mark[i].place, memory_order_relaxed);
		if (place < sp)
			break;
		hash = (hash ^ place) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
		hash = (hash ^ atomic_load_explicit(&m->mark[i].frame, memory_order_relaxed)) *
		       UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}
