/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU core with a run time of the test's own, opened as back end 1 by the name of "second", and
 * questions about the file it writes. For tests/unit/gpu/test_gpu_core.c, test_gpu_launch.c and
 * test_gpu_define.c. One test at a time.
 */
#ifndef TESTS_UNIT_CORE_FIXTURE_H
#define TESTS_UNIT_CORE_FIXTURE_H

#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/gpu/core_internal.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct core_fixture {
	struct gpu_runtime runtime;
	bool alive, ending;         /* what the run time answers */
	_Atomic bool is_off;
	struct gpu_place place;     /* where the next launch is */
	struct gpu_thread thread;
	char last_note[256];
	unsigned n_notes;
	_Atomic unsigned n_begun, n_ended; /* launches entered, left */
	const struct gpu_host *host;
	char directory[40];
};
extern struct core_fixture fixture;

/* For the group of tests: the directory. */
int core_make_directory(void **state);
int core_remove_directory(void **state);

/* For each test: a store and a core that start from nothing, with bounds of records and of the
 * file. */
int core_setup(void **state);
int core_teardown(void **state);
void core_open_store(uint64_t max_bytes);
void core_start(uint64_t max_record_bytes, uint64_t max_bytes);

/* The n-th record of a kind and size (0: any) in the file as it is now; NULL: there are fewer. */
const void *core_record_at(enum msr_kind kind, unsigned record_bytes, uint64_t n,
			   const struct msr_extent **extent);
const struct msr_gpu_tally *core_tally(void);
struct gpu_ticket core_launched(enum msr_gpu_kind kind, uint64_t id);

#endif
