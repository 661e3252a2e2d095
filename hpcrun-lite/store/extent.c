/* SPDX-License-Identifier: BSD-3-Clause */
/* See extent.h. Test: tests/unit/run/test_store.c. */
#include "hpcrun-lite/store/extent.h"

void extent_write(struct msr_extent *e, const struct store_request *r, uint64_t length)
{
	/*
	 * An extent is valid only with its magic number. It has none while the rest changes, so a
	 * kill in between leaves a gap.
	 */
	*(volatile uint32_t *)&e->magic = 0;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&e->used, 0, memory_order_relaxed);
	atomic_store_explicit(&e->length, length, memory_order_relaxed);
	e->kind = (uint16_t)r->kind;
	e->record_bytes = r->record_bytes;
	e->thread = r->thread;
	e->sequence = r->sequence;
	e->first = r->first;
	struct msr_extent complete = *e;
	complete.magic = MSR_EXTENT_MAGIC;
	e->check = msr_extent_check(&complete);
	atomic_thread_fence(memory_order_release);
	*(volatile uint32_t *)&e->magic = MSR_EXTENT_MAGIC;
}

void extent_write_free(uint8_t *at, uint64_t length)
{
	static const struct store_request request = {.kind = MSR_FREE, .thread = UINT32_MAX};
	extent_write((struct msr_extent *)at, &request, length);
}
