/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The vendor-neutral core of GPU measurement, as the run time sees it. It owns the tables that back
 * ends call (gpu.h), their definitions, launches, operations and ledgers. It gets everything it
 * needs from the process (call paths, notes, whether measurement is on) through struct gpu_runtime.
 *
 * Not for signal handlers. No malloc. Tests: tests/unit/gpu/test_gpu_core.c,
 * tests/unit/gpu/test_gpu_define.c, tests/cli/gpu/gpu_core.sh.
 */
#ifndef HPCRUN_LITE_GPU_CORE_H
#define HPCRUN_LITE_GPU_CORE_H

#include "common/format/measurement_gpu.h"
#include "hpcrun-lite/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_MAX_BACKENDS 3u

/*
 * The part of a measured thread that belongs to the core: its extents of launch records. All zero
 * at the start of the thread; used only by that thread.
 */
struct gpu_thread {
	struct msr_extent *launches[GPU_MAX_BACKENDS];
	uint32_t sequence, next_bytes;
};

/* Where a launch happens. */
struct gpu_place {
	uint32_t thread;           /* number in the file; UINT32_MAX: not measured */
	uint32_t node;             /* context node; 0: no path */
	struct gpu_thread *writer; /* NULL: the extents that all unmeasured threads share */
};

enum gpu_entry {
	GPU_ENTERED, /* *place is set; end_launch must follow */
	GPU_STOPPED  /* measurement has begun to end; do not call end_launch */
};

/* What the core needs from the run time. Constant; valid until the process ends. */
struct gpu_runtime {
	const char *directory;     /* of the run */
	const char *cache;         /* of structures; "": none */
	uint64_t max_record_bytes; /* limit on the launch and op records of the process */
	/*
	 * This process owns the store and is measured. Called in every function, so it must be
	 * cheap.
	 */
	bool (*is_alive)(void);
	/*
	 * Gets the call path of the calling thread without the frames of back end `number`. From
	 * here to end_launch, samples of this thread are held back.
	 */
	enum gpu_entry (*begin_launch)(unsigned number, struct gpu_place *place);
	/* Returns the ns to add to the back end's handler_ns. */
	uint64_t (*end_launch)(const struct gpu_place *place);
	/*
	 * The module that contains `text` belongs to back end `number`: leave its frames out of
	 * call paths.
	 */
	void (*leave_out)(unsigned number, const void *text);
	void (*at_end)(unsigned number, void (*fn)(uint64_t may_wait_ns));
	void (*at_thread_end)(unsigned number, void (*fn)(void));
	/* true: the program has stopped measurement, or not started it yet */
	const _Atomic bool *is_off;
	void (*on_switch)(unsigned number, void (*fn)(bool on));
	void (*note)(const char *text);
	void (*suspend)(void);
	void (*resume)(void);
	void (*sample_by_timer)(unsigned number); /* in threads that launch often */
};

/* Called once in a process whose user asked for GPUs. Keeps the pointer. */
void gpu_start(const struct gpu_runtime *runtime);

/*
 * Returns the table of back end `number`, counted in the order in which the user asked for them.
 * Keeps `name` and `options`. Call after gpu_start.
 */
const struct gpu_host *gpu_open(unsigned number, const char *name, const char *options);

/*
 * In a forked child, where only the caller runs and the store is new: forgets everything and starts
 * a new generation. Back ends stay open.
 */
void gpu_forked(void);

/*
 * Ends the measurement: returns unused space to the store, counts later launches as STOPPED, and
 * writes nothing else. Returns true if no thread can still be writing to a shared extent.
 * gpu_reopen undoes it after an exec that failed.
 */
bool gpu_finish(void);
void gpu_reopen(void);

/* At the end of a thread or of the process: returns unused space of its extents to the store. */
void gpu_thread_trim(struct gpu_thread *thread);

/*
 * Returns a part of the ledger of back end `number`; the ledger is the sum of its parts. NULL:
 * there is no part `part`. Part 0 is missing if the back end never entered the process. For
 * reports; relaxed reads.
 */
#define GPU_N_TALLIES 16u
const struct msr_gpu_tally *gpu_tally(unsigned number, unsigned part);

#endif
