/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growing array of records in extents of the measurement file. Records are numbered from 0 and
 * never move. One writer; signal-safe. Extents double in size up to a limit, so that a short thread
 * takes little space and a long one takes few extents. Test: tests/unit/run/test_cct.c.
 */
#ifndef HPCRUN_LITE_CCT_TABLE_H
#define HPCRUN_LITE_CCT_TABLE_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stdint.h>

#define TABLE_MAX_EXTENTS 2048u
#define TABLE_FEW_EXTENTS 6u      /* short threads touch no more memory than this */
#define TABLE_FIRST_BYTES 512u
#define TABLE_LAST_BYTES (256u << 10)

struct table {
	uint32_t n;           /* records */
	uint32_t end;         /* number of records that fit */
	uint32_t n_extents;
	uint32_t thread;
	uint16_t kind;        /* enum msr_kind */
	uint16_t record_bytes;
	uint32_t next_bytes;  /* size of the next extent */
	struct table_extent {
		struct msr_extent *extent;
		uint32_t first;       /* number of its first record */
	} *at;                        /* `few`, later `many` */
	/* the owner's memory; room for TABLE_MAX_EXTENTS; touched when `few` is full */
	struct table_extent *many;
	struct table_extent few[TABLE_FEW_EXTENTS];
};

#define TABLE_MANY_BYTES (TABLE_MAX_EXTENTS * sizeof(struct table_extent))

void table_init(struct table *t, enum msr_kind kind, uint16_t record_bytes, uint32_t thread,
		struct table_extent *many);

/* Returns record `id`, which must exist, or for which table_reserve must have made room. */
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
	return (uint8_t *)(t->at[low].extent + 1) +
	       (uint64_t)(id - t->at[low].first) * t->record_bytes;
}

/*
 * Returns zeroed memory for one more record, number t->n. Returns NULL and sets *cause on failure.
 */
void *table_reserve(struct table *t, enum msr_loss *cause);

/* The same outside our signal handler. Waits 1 s at most while another thread makes space. */
void *table_reserve_patiently(struct table *t, enum msr_loss *cause);

/* Returns the unused end of the last extent to the store. The next record starts a new extent. */
void table_trim(struct table *t);

/* Publishes the record that was filled in. Returns its number. */
uint32_t table_commit(struct table *t);

#endif
