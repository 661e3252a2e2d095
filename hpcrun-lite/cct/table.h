/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growing array of records in extents of the measurement file: records are numbered from 0 and never move. One writer, signal-safe.
 * The sizes of extents double from first to last; a short thread takes little, a long one few. Tests: tests/unit/test_cct.c.
 */
#ifndef HPCRUN_LITE_CCT_TABLE_H
#define HPCRUN_LITE_CCT_TABLE_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stdint.h>

#define TABLE_MAX_EXTENTS 2048u
#define TABLE_FEW_EXTENTS 6u      /* short threads touch no more memory than this */
#define TABLE_FIRST_BYTES 1024u
#define TABLE_LAST_BYTES (256u << 10)

struct table {
	uint32_t n;           /* records */
	uint32_t end;         /* records there is room for */
	uint32_t n_extents;
	uint32_t thread;
	uint16_t kind;        /* enum msr_kind */
	uint16_t record_bytes;
	uint32_t next_bytes;  /* size of the next extent */
	struct table_extent {
		struct msr_extent *extent;
		uint32_t first;       /* number of its first record */
	} *at;                        /* `few`, later `many` */
	struct table_extent *many;    /* room for TABLE_MAX_EXTENTS, the owner's; not touched before `few` is full */
	struct table_extent few[TABLE_FEW_EXTENTS];
};

#define TABLE_MANY_BYTES (TABLE_MAX_EXTENTS * sizeof(struct table_extent))

void table_init(struct table *t, enum msr_kind kind, uint16_t record_bytes, uint32_t thread, struct table_extent *many);

/* Record `id`, which exists or is the one table_reserve made room for. */
static inline void *table_at(const struct table *t, uint32_t id)
{
	uint32_t low = 0, high = t->n_extents;
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;
		if (t->at[middle].first <= id)
			low = middle;
		else
			high = middle;
	}
	return (uint8_t *)(t->at[low].extent + 1) + (uint64_t)(id - t->at[low].first) * t->record_bytes;
}

/* Room for one more record, number t->n: zeroed memory to fill in. NULL with the loss. */
void *table_reserve(struct table *t, enum msr_loss *cause);

/* Gives the unused end of the last extent back; the next record starts a new one. */
void table_trim(struct table *t);

/* Publishes the record that was filled in; returns its number. */
uint32_t table_commit(struct table *t);

#endif
