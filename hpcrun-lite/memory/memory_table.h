/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sampled addresses of the process that have not been freed. There is no lock: a place in the
 * table belongs to who has changed its key. It consists of levels, each eight times as large as the
 * last. Eight keys, a cache line, are a bucket; an address has one bucket in each level, and goes
 * into the first one with room. So a few addresses touch few pages, and nothing ever moves.
 * Signal-safe. Test: tests/unit/memory/test_memory_table.c.
 */
#ifndef HPCRUN_LITE_MEMORY_MEMORY_TABLE_H
#define HPCRUN_LITE_MEMORY_MEMORY_TABLE_H

#include "hpcrun-lite/memory/memory.h"

/*
 * `at` is more than 1 and not in the table. No other thread may ask for it before this returns.
 * False: there is no room, or no memory.
 */
bool memory_table_put(uintptr_t at, const struct memory_kept *kept);
/* Removes the address. False: it is not there. */
bool memory_table_take(uintptr_t at, struct memory_kept *kept);
/* In a forked child: forgets all. No other thread exists. */
void memory_table_forget(void);

#endif
