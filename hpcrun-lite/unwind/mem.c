/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stack memory; see mem.h. Must not fault or change errno. Test:
 * tests/unit/unwind/test_unwind_odd.c.
 */
#include "hpcrun-lite/unwind/mem.h"

#include "common/safe/load.h"
#include "common/safe/sys.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	CHUNK_PAGES = MEM_WINDOW_BYTES,
	MAX_CHUNKS = 64
}; /* 256 MiB of growth between two samples */

bool mem_load_guarded(struct mem *m, uintptr_t address, void *dst, size_t n_bytes)
{
	enum { BEFORE = 64 };
	if (address < m->window_at || address - m->window_at > m->window_bytes ||
	    m->window_bytes - (address - m->window_at) < n_bytes) {
		/*
		 * A walk goes up, so most of the window is above the address. BEFORE never crosses
		 * into another page.
		 */
		m->window_at = address & ~(uintptr_t)(BEFORE - 1);
		m->window_bytes = load_guarded(m->window, m->window_at, MEM_WINDOW_BYTES);
		m->n_guarded++;
	}
	if (m->window_bytes < address - m->window_at + n_bytes) {
		memset(dst, 0, n_bytes);
		return false;
	}
	memcpy(dst, m->window + (address - m->window_at), n_bytes);
	return true;
}

/* mincore fails with ENOMEM if a page of the range is not mapped. The window serves as its
 * output. */
static bool range_is_mapped(struct mem *m, uintptr_t lo, uintptr_t hi)
{
	unsigned chunks = 0;
	const size_t chunk = CHUNK_PAGES * machine_page_bytes();
	for (uintptr_t at = lo; at < hi; at += chunk) {
		const size_t left = hi - at, n = left < chunk ? left : chunk;
		m->n_guarded++;
		if (++chunks > MAX_CHUNKS ||
		    sys_call3(SYS_mincore, (long)at, (long)n, (long)m->window) != 0)
			return false;
	}
	return true;
}

void mem_note_sp(struct mem *m, uintptr_t stack_lo, uintptr_t sp, bool grows)
{
	if (sp >= m->lo || sp < stack_lo || sp >= m->hi)
		return;
	if (!grows) {
		m->lo = sp;
		return;
	}
	const int saved_errno = errno;
	const uintptr_t page = machine_page_floor(sp);
	m->window_bytes = 0;
	if (range_is_mapped(m, page, machine_page_floor(m->lo)))
		m->lo = page; /* take the whole page, for fewer calls as the stack grows */
	errno = saved_errno;
}
