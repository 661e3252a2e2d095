/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of sampled allocations. They stay in the mapped file. Tests:
 * tests/unit/memory/test_memory_model.c, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_MEMORY_H
#define HPCPROF_LITE_LOAD_LOAD_MEMORY_H

#include "common/format/measurement_memory.h"

#include <stdbool.h>

struct load_file;
struct load_thread;

/* Call it when the nodes of all threads are checked: counts damaged records. */
void load_memory_finish(struct load_file *f);
/*
 * Copies a record of the thread; the process may be writing its free_ns. False: it is damaged. If a
 * new owner has taken over node_to of the thread, it must check the node.
 */
bool load_memory_is_sound(const struct load_file *f, const struct load_thread *t,
			  const struct msr_memory *record, struct msr_memory *copy);

#endif
