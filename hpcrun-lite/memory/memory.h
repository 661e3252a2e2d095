/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How libhpcrun-lite-memory.so, which replaces malloc and its kin, tells the run time about sampled
 * allocations. The module knows allocators and chooses the samples; the run time knows call paths,
 * threads and the file, and remembers which addresses were sampled. See doc/memory.md.
 *
 *     memory_host_fn *find = dlsym(RTLD_DEFAULT, MEMORY_HOST_SYMBOL);
 *     const struct memory_host *host = find(MEMORY_HOST_VERSION);
 *
 * Every function may be called from any thread, but not from our signal handlers. It keeps errno,
 * waits for nothing and allocates nothing. Test: tests/cli/memory/memory_truth.sh.
 */
#ifndef HPCRUN_LITE_MEMORY_MEMORY_H
#define HPCRUN_LITE_MEMORY_MEMORY_H

#include "common/format/measurement_memory.h"

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_HOST_VERSION 1u
#define MEMORY_HOST_SYMBOL "hpcrun_lite_memory_host"

/* What the run time remembers of a sampled allocation that has not been freed. */
struct memory_kept {
	struct msr_memory *record; /* in the measurement file */
	uint64_t stamp;
};

/* A sampled allocation. */
struct memory_event {
	uintptr_t at;
	uint64_t bytes; /* asked for */
	/*
	 * Of the calling thread at this moment: differs between threads, and changes with each
	 * allocation. A block that is freed with the stamp of its allocation was the thread's last.
	 */
	uint64_t stamp;
	uint32_t flags; /* MSR_MEMORY_* */
};

struct memory_host {
	uint32_t version;
	uint64_t period; /* mean bytes between two samples; 1: every allocation */
	/*
	 * Records the allocation with the call path of the caller, without the frames of the module
	 * that holds `text`. Returns true if the address is remembered, until take() finds it.
	 */
	bool (*allocated)(const struct memory_event *e, const void *text);
	/*
	 * Before a block is freed: forgets the address, because another thread may get it as soon
	 * as it is free. False: it is not remembered.
	 */
	bool (*take)(uintptr_t at, struct memory_kept *kept);
	/* After take(): the block was freed, or it was not; `stamp` was taken before. */
	void (*freed)(const struct memory_kept *kept, uint64_t stamp);
	bool (*put_back)(uintptr_t at, const struct memory_kept *kept);
};

/* The exported symbol. NULL: the process is not measured, or not with -e MEMORY. */
typedef const struct memory_host *memory_host_fn(uint32_t version);

#endif
