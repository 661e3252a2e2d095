/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack memory of one walk: direct loads where it is known to be mapped, guarded ones (through a window that lasts one walk)
 * everywhere else. Signal-safe. Tests: tests/unit/test_unwind_odd.c.
 */
#ifndef HPCRUN_LITE_UNWIND_MEM_H
#define HPCRUN_LITE_UNWIND_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEM_WINDOW_BYTES = 1024 };

struct mem {
	uintptr_t lo, hi; /* mapped for sure: the part of the thread's stack that has been in use */
	uintptr_t window_at;
	size_t window_bytes;
	uint64_t n_guarded; /* system calls made */
	uint8_t window[MEM_WINDOW_BYTES];
};

/* At the start of a walk: what the window holds may have changed. */
static inline void mem_begin(struct mem *m)
{
	m->window_bytes = 0;
}

static inline bool mem_is_direct(const struct mem *m, uintptr_t address)
{
	return address >= m->lo && address < m->hi && m->hi - address >= sizeof(uint64_t);
}

/* The guarded load of n bytes (at most MEM_WINDOW_BYTES / 2). False: unreadable. */
bool mem_load_guarded(struct mem *m, uintptr_t address, void *dst, size_t n_bytes);

/* *value is 0 when it fails. */
static inline bool mem_load(struct mem *m, uintptr_t address, uint64_t *value)
{
	if (__builtin_expect(mem_is_direct(m, address), 1)) {
		__builtin_memcpy(value, (const void *)address, sizeof *value);
		return true;
	}
	return mem_load_guarded(m, address, value, sizeof *value);
}

/*
 * Takes note that the thread runs with stack pointer sp on its own stack [stack_lo, hi): everything from there up is mapped. `grows`: only if
 * the kernel says so (mincore), as a coroutine's stack on the heap may look like a main thread's that has grown.
 */
void mem_note_sp(struct mem *m, uintptr_t stack_lo, uintptr_t sp, bool grows);

#endif
