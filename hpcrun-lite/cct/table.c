/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Growing arrays in extents; see table.h. Must not move a record. Tests: tests/unit/run/test_cct.c.
 */
#include "hpcrun-lite/cct/table.h"

#include "common/safe/patience.h"
#include "hpcrun-lite/store/store.h"

#include <string.h>

void table_init(struct table *t, enum msr_kind kind, uint16_t record_bytes, uint32_t thread,
		struct table_extent *many)
{
	t->at = t->few;
	t->many = many;
	t->n = t->end = t->n_extents = 0;
	t->thread = thread;
	t->kind = (uint16_t)kind;
	t->record_bytes = record_bytes;
	t->next_bytes = TABLE_FIRST_BYTES;
}

void *table_reserve(struct table *t, enum msr_loss *cause)
{
	if (t->n == t->end) {
		if (t->n_extents == TABLE_MAX_EXTENTS) {
			*cause = MSR_LOSS_NODE_LIMIT;
			return NULL;
		}
		/* A smaller piece that is left over will do if a record fits into it. */
		const uint32_t least = t->next_bytes / 4,
			       one = (uint32_t)sizeof(struct msr_extent) + t->record_bytes;
		const struct store_request request = {
			.kind = t->kind,
			.record_bytes = t->record_bytes,
			.thread = t->thread,
			.sequence = t->n_extents,
			.first = t->n,
			.n_bytes = t->next_bytes,
			.least_bytes = least > one ? least : one,
		};
		struct msr_extent *e = store_extent(&request, cause);
		if (!e)
			return NULL;
		uint64_t room = atomic_load_explicit(&e->length, memory_order_relaxed) - sizeof *e;
		if (t->n_extents == TABLE_FEW_EXTENTS) {
			memcpy(t->many, t->few, sizeof t->few);
			t->at = t->many;
		}
		t->at[t->n_extents++] = (struct table_extent){e, t->n};
		t->end = t->n + (uint32_t)(room / t->record_bytes);
		if (t->next_bytes < TABLE_LAST_BYTES)
			t->next_bytes *= 2;
	}
	return table_at(t, t->n);
}

void *table_reserve_patiently(struct table *t, enum msr_loss *cause)
{
	struct patience patience = {0};
	void *record;
	while (!(record = table_reserve(t, cause)) && *cause == MSR_LOSS_BUSY &&
	       patience_wait(&patience))
		continue;
	return record;
}

uint32_t table_commit(struct table *t)
{
	const struct table_extent *last = &t->at[t->n_extents - 1];
	uint64_t used = (uint64_t)(t->n + 1 - last->first) * t->record_bytes;
	/* Release: a reader that sees the length, also after a kill, sees the record. */
	atomic_store_explicit(&last->extent->used, used, memory_order_release);
	return t->n++;
}

void table_trim(struct table *t)
{
	if (t->n_extents)
		store_give_tail(t->at[t->n_extents - 1].extent);
	t->end = t->n;
}
