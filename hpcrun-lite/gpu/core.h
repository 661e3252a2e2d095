/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neutral core of GPU measurement as the run time sees it: it owns the tables that back ends call (gpu.h), what they defined, their launches, operations and
 * ledgers. What it needs of the process (call paths, notes, whether anything is measured) it asks of the run time through struct gpu_runtime.
 * Nothing here is for signal handlers. No malloc. Tests: tests/unit/test_gpu_core.c, tests/unit/test_gpu_define.c, tests/cli/gpu_core.sh.
 */
#ifndef HPCRUN_LITE_GPU_CORE_H
#define HPCRUN_LITE_GPU_CORE_H

#include "common/format/measurement_gpu.h"
#include "hpcrun-lite/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_MAX_BACKENDS 3u

/* What the core keeps of a measured thread: its extents of launch records. All zero at its begin; the thread's own alone. */
struct gpu_thread {
	struct msr_extent *launches[GPU_MAX_BACKENDS];
	uint32_t sequence, next_bytes;
};

/* Who launches, and where. */
struct gpu_place {
	uint32_t thread;           /* number in the file; UINT32_MAX: not measured */
	uint32_t node;             /* context node; 0: no path */
	struct gpu_thread *writer; /* NULL: the extents that all threads which are not measured share */
};

enum gpu_entry {
	GPU_ENTERED, /* *place is set; end_launch must follow */
	GPU_STOPPED  /* the end of measurement has begun; no end_launch */
};

/* What the core asks of the run time. Constant and valid for ever. */
struct gpu_runtime {
	const char *directory;     /* of the run */
	uint64_t max_record_bytes; /* bound on launch and op records of the process */
	/* This process owns the store and measures. Cheap: asked in every call. */
	bool (*is_alive)(void);
	/* The path of the calling thread without the frames of back end `number`. From here to end_launch, samples of this thread are kept back. */
	enum gpu_entry (*begin_launch)(unsigned number, struct gpu_place *place);
	/* Returns what to add to the back end's handler_ns. */
	uint64_t (*end_launch)(const struct gpu_place *place);
	void (*leave_out)(unsigned number, const void *text); /* the module that holds `text` is back end `number`'s */
	void (*at_end)(unsigned number, void (*fn)(uint64_t may_wait_ns));
	void (*at_thread_end)(unsigned number, void (*fn)(void));
	const _Atomic bool *is_off; /* the program has stopped the measurement, or not started it yet */
	void (*on_switch)(unsigned number, void (*fn)(bool on));
	void (*note)(const char *text);
	void (*suspend)(void);
	void (*resume)(void);
};

/* Once a process whose user asked for GPUs. The pointer is kept. */
void gpu_start(const struct gpu_runtime *runtime);

/* The table of back end `number` (its place among those asked for). `name` and `options` are kept. Not before gpu_start. */
const struct gpu_host *gpu_open(unsigned number, const char *name, const char *options);

/* In the child of fork, where only the caller lives and the store is a new one: forgets all, counts a generation. Back ends stay open. */
void gpu_forked(void);

/*
 * The end: unused space goes back to the store; from here on launches are counted as STOPPED and nothing else is written. True when no thread can be
 * writing a shared extent any more. gpu_reopen takes it back (an exec that failed).
 */
bool gpu_finish(void);
void gpu_reopen(void);

/* The thread ends, or the process does: unused space of its extents goes back to the store. */
void gpu_thread_trim(struct gpu_thread *thread);

/*
 * The ledger of back end `number`, part by part: what it counted is their sum. NULL: there is no such part; no part 0: it never came in. For reports; relaxed reads.
 */
#define GPU_N_TALLIES 16u
const struct msr_gpu_tally *gpu_tally(unsigned number, unsigned part);

#endif
