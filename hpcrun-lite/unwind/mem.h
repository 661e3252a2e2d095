/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack memory of one walk. Memory that is known to be mapped is read directly; everything else
 * with guarded loads, through a window that lasts one walk. Signal-safe. Test:
 * tests/unit/unwind/test_unwind_odd.c.
 */
#ifndef HPCRUN_LITE_UNWIND_MEM_H
#define HPCRUN_LITE_UNWIND_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEM_WINDOW_BYTES = 1024 };

struct mem {
	uint8_t window[MEM_WINDOW_BYTES];
	/* certainly mapped: the part of the thread's stack that has been in use */
	uintptr_t lo, hi;
	uintptr_t window_at;
	size_t window_bytes;
	uint64_t n_guarded; /* system calls made */
};

/* At the start of a walk: memory in the window may have changed. */
static inline void mem_begin(struct mem *m)
{
	m->window_bytes = 0;
}

static inline bool mem_is_direct(const struct mem *m, uintptr_t address)
{
	return address >= m->lo && address < m->hi && m->hi - address >= sizeof(uint64_t);
}

/* Guarded load of n bytes, at most MEM_WINDOW_BYTES / 2. Returns false if they are unreadable. */
bool mem_load_guarded(struct mem *m, uintptr_t address, void *dst, size_t n_bytes);

/* Sets *value to 0 on failure. */
static inline bool mem_load(struct mem *m, uintptr_t address, uint64_t *value)
{
	if (__builtin_expect(mem_is_direct(m, address), 1)) {
		__builtin_memcpy(value, (const void *)address, sizeof *value);
		return true;
	}
	return mem_load_guarded(m, address, value, sizeof *value);
}

/*
 * The thread runs with stack pointer `sp` on its own stack [stack_lo, hi), so everything from sp up
 * is mapped. `grows`: assume that only if the kernel confirms it (mincore), because a coroutine's
 * stack on the heap may look like the stack of a main thread that has grown.
 */
void mem_note_sp(struct mem *m, uintptr_t stack_lo, uintptr_t sp, bool grows);

#endif
