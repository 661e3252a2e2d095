/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a GPU back end (a loadable module: OpenCL layer, CUPTI injection, ...) calls of the neutral core. No vendor's type or name appears here. A back end
 * finds the table through the one symbol GPU_HOST_SYMBOL that the preloaded library exports, and keeps it for the life of the process:
 *
 *     const struct gpu_host *host = find("opencl", GPU_HOST_VERSION);   // find: dlsym(RTLD_DEFAULT, GPU_HOST_SYMBOL); NULL: this process is not measured, or did not ask
 *
 * Each back end has a table of its own and passes it as the first argument, so that its operations and losses stand under its name.
 *
 * The order of life: define devices, contexts, queues, clocks as they appear; in the launching thread call launch(); when results are known, from any thread,
 * op() or lost(). doc/adding-a-gpu-vendor.md tells how.
 *
 * Every function: any thread, never from a signal handler; keeps errno; never waits for the device, never calls back into a back end; does nothing harmful after the
 * end of measurement or in a forked child (see generation). Ids given out are > 0; 0 means it could not be had (the loss is counted) and may be passed on.
 * Tests: tests/unit/test_gpu_core.c with a back end of its own, tests/cli/ocl_*.sh.
 */
#ifndef HPCRUN_LITE_GPU_GPU_H
#define HPCRUN_LITE_GPU_GPU_H

#include "common/format/measurement_gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_HOST_VERSION 3u
#define GPU_HOST_SYMBOL "hpcrun_lite_gpu_host"

/* Definitions. Strings and arrays are copied; NULL counts as "". Zero: unknown. The fields are those of measurement_gpu.h. */
struct gpu_device {
	const char *name, *driver;
	uint32_t ordinal, n_units, threads_per_unit, group_max, lanes, clock_mhz, registers_per_unit, shared_bytes_per_unit, groups_per_unit;
	uint64_t memory_bytes;
	uint8_t uuid[16];
	enum msr_gpu_device_type type;
	/* What else limits how many groups are resident at once (struct msr_gpu_def_device_limits); all 0: not told. */
	uint32_t compute_major, compute_minor, registers_per_group, reserved_shared_bytes, shared_bytes_per_group, shared_bytes_per_group_optin;
};
struct gpu_context {
	const char *name;
	uint32_t device, ordinal;
};
struct gpu_queue {
	const char *name;
	uint32_t context, device, ordinal, clock, flags;
};
struct gpu_code {
	enum msr_gpu_code_kind kind;
	const void *bytes;   /* NULL: only the hash is known (given in hash[]), or nothing (hash 0, 0) */
	size_t n_bytes;
	const char *options; /* build options */
	uint32_t device;
};
struct gpu_function {
	uint32_t code;
	const char *name, *source_name;
};
struct gpu_shape {
	uint32_t function, grid[3], block[3], cluster[3], registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
	uint64_t global[3];
};

/* A launched operation: what binds the launch to its ops. A plain value; the back end keeps it as long as it likes. */
struct gpu_ticket {
	uint64_t id;         /* 0: the launch was lost (and counted); ops with it are dropped in silence */
	uint32_t thread, node;
	uint8_t kind;        /* enum msr_gpu_kind */
	bool aggregated;     /* beyond the bound on records */
	bool is_off;         /* id is 0 because the program had stopped the measurement: nothing is lost, and the operation is nobody's */
};

struct gpu_launch {
	enum msr_gpu_kind kind;
	uint64_t enter_ns;   /* CLOCK_MONOTONIC when the program entered the call; 0: now */
	uint64_t id;         /* the vendor's own correlation, made 64 bits wide by widen(); 0: the core chooses one. Ids of one process come from one of the two ways only for each back end; where
	                      * one call of the vendor is two operations (a blocking copy: COPY and SYNC), make two ids of its one: 2 x id, 2 x id + 1 */
};

struct gpu_op {
	enum msr_gpu_kind kind;
	unsigned detail;     /* direction, memory, sync: see measurement_gpu.h */
	uint64_t start_ns, end_ns; /* by the queue's clock; SYNC, ALLOC, FREE: CLOCK_MONOTONIC */
	uint64_t amount;
	uint32_t queue, shape;
	bool has_waits;      /* the next two are known */
	uint64_t queued_ns, submitted_ns; /* by the queue's clock */
};

struct gpu_pc_sample {
	uint32_t function;
	uint64_t offset, id, count;
	unsigned stall;      /* the vendor's index, as given to stall() */
	uint32_t queue;
};

/* What a measurement is, for those who write something beside it. */
struct gpu_about {
	const char *file;    /* the measurement file, an absolute path; "" when there is none */
	uint64_t max_record_bytes; /* bound on records of operations; beyond it they are summed up */
	uint32_t number;     /* of the back end: the highest two bits of its ids */
};

/* Where the last launch() or graph_node() of a thread was put. Order is part of recordings: append only. */
enum gpu_placed {
	GPU_PLACED_NOWHERE,  /* there was none since the last question */
	GPU_PLACED,          /* at a thread of the file (~0: it is not measured) and a node (0: no path) */
	GPU_PLACED_STOPPED,  /* refused: the end of measurement had begun */
	GPU_PLACED_OFF       /* refused: the program had stopped the measurement */
};

struct gpu_host {
	uint32_t version;

	/* ---- life ---- */

	/*
	 * Changes in the child of a fork: a back end that sees another number than it kept must forget all tickets, ids and pending ops without touching the
	 * vendor's objects, and may define everything anew. 0: no measurement (any more).
	 */
	uint32_t (*generation)(const struct gpu_host *h);
	/* What stood behind "gpu=<back end>": ",pc@10" is "pc@10". "" when nothing did. Valid for ever. */
	const char *(*options)(const struct gpu_host *h);
	/*
	 * Called once at the end of the process, before the file is finished, in the thread that ends it: the last chance to deliver. Must not wait
	 * longer than `may_wait_ns` in all. Not called in a signal handler (_exit in one), nor after fork in the child (generation). Called before an exec too, and again later when that
	 * exec fails. exit() calls it before functions that were registered with atexit earlier than at_end was called, so call at_end when the vendor's library is set up. NULL takes it back.
	 */
	void (*at_end)(const struct gpu_host *h, void (*fn)(uint64_t may_wait_ns));
	/*
	 * Called in each measured thread when it ends, also when it is cancelled, after the program's own destructors of thread-specific data. For back ends that keep something of a thread: a key of their
	 * own would cost memory of malloc in the middle of a call of the program's, where the program has many keys. To be called once; NULL takes it back.
	 */
	void (*at_thread_end)(const struct gpu_host *h, void (*fn)(void));
	/*
	 * How the back end came in, for people: see struct msr_gpu_tally; NULL: as it was said. Also tells which module's frames are left out of call paths where they are the innermost, but for the
	 * outermost of them, which is the call that the program made: `text` is an address in it, or NULL. Up to four modules (the back end's own, the vendor's tool library ...).
	 */
	void (*entered)(const struct gpu_host *h, const char *how, const void *text);
	/* A message for the user in the file, and on stderr when the run is verbose. */
	void (*note)(const struct gpu_host *h, const char *text);
	/*
	 * Between the two, threads that this thread creates are not measured (threads of vendors and back ends), and its CPU samples are held back and recorded at the
	 * outermost resume, with the path that it is called from: time of the profiler's that the program pays for. Nests; for short work, not for a thread's life.
	 */
	void (*suspend)(const struct gpu_host *h);
	void (*resume)(const struct gpu_host *h);

	/* ---- definitions: each call makes one, but for code, function and shape, which give the same id for equal contents ---- */
	uint32_t (*device)(const struct gpu_host *h, const struct gpu_device *d);
	uint32_t (*context)(const struct gpu_host *h, const struct gpu_context *c);
	uint32_t (*queue)(const struct gpu_host *h, const struct gpu_queue *q);
	uint32_t (*clock)(const struct gpu_host *h);
	void (*clock_pair)(const struct gpu_host *h, uint32_t clock, uint64_t device_ns, uint64_t mono_ns, uint64_t error_ns);
	/* Writes the content to <run>/gpubins, once per content in all processes of the run. hash[2] is set from bytes, also when 0 is returned. */
	uint32_t (*code)(const struct gpu_host *h, const struct gpu_code *c, uint64_t hash[2]);
	uint32_t (*function)(const struct gpu_host *h, const struct gpu_function *f);
	uint32_t (*shape)(const struct gpu_host *h, const struct gpu_shape *s);
	void (*stall)(const struct gpu_host *h, unsigned index, const char *name, const char *description, uint32_t device, uint32_t flags);
	uint32_t (*counter)(const struct gpu_host *h, const char *name, const char *description, enum msr_unit unit);

	/* ---- operations ---- */

	/* Makes a 32-bit id that wraps 48 bits wide: ids that come within 2^31 of each other, in any order, keep their distance. `state` starts at 0 and is the back end's. */
	uint64_t (*widen)(const struct gpu_host *h, _Atomic uint64_t *state, uint32_t id);
	/*
	 * In the thread that asked for it, from inside the call: takes the call path (frames of the back end and of the core left out) and writes the launch. Cost: about a walk of the stack.
	 * False: lost and counted, or not measured (is_off); *t is then a ticket with id 0.
	 */
	bool (*launch)(const struct gpu_host *h, const struct gpu_launch *l, struct gpu_ticket *t);
	/* An operation is done. Also for SYNC, ALLOC and FREE, directly after their launch. */
	void (*op)(const struct gpu_host *h, const struct gpu_ticket *t, const struct gpu_op *op);
	/* ... or it will never be, and why. */
	void (*lost)(const struct gpu_host *h, const struct gpu_ticket *t, enum msr_gpu_loss cause);
	/* The same where only the id is known, as in records that come from a vendor's buffer. */
	void (*op_by_id)(const struct gpu_host *h, uint64_t id, const struct gpu_op *op);
	void (*lost_by_id)(const struct gpu_host *h, uint64_t id, enum msr_gpu_kind kind, enum msr_gpu_loss cause);
	/* n operations are lost of which nothing more is known. */
	void (*lost_unknown)(const struct gpu_host *h, enum msr_gpu_loss cause, uint64_t n);

	/*
	 * A node of a graph is made. original 0: by the call under way, whose path is taken as in launch(). Else it is a copy of node `original` (instantiated, cloned), made
	 * before or later. The numbers are those that op() gets as the amount of a kernel.
	 */
	void (*graph_node)(const struct gpu_host *h, uint64_t node, uint64_t original);

	/* ---- samples and counters of devices ---- */
	void (*pc_sample)(const struct gpu_host *h, const struct gpu_pc_sample *s, size_t n);
	void (*pc_range)(const struct gpu_host *h, const struct msr_gpu_pc_range *r);
	void (*value)(const struct gpu_host *h, uint64_t id, uint32_t queue, uint32_t counter, uint64_t value);

	/* ---- for recordings ---- */

	void (*about)(const struct gpu_host *h, struct gpu_about *a);
	/* Of the calling thread, since it asked last. */
	enum gpu_placed (*last_place)(const struct gpu_host *h, uint32_t *thread, uint32_t *node);

	/* ---- measurement that the program starts and stops ---- */

	/* It is stopped, or not started yet: launch() says no. For back ends that would do work before that. A load; signal-safe. */
	bool (*is_off)(const struct gpu_host *h);
	/*
	 * fn(false) is called after measurement was stopped, fn(true) before it is started, in the thread of the program that does it, one at a time: to switch off and on what launches cost. What was launched before is still told. Must
	 * not wait for the device. Not called in signal handlers: then is_off changes alone. Called at once where measurement is off now. NULL takes it back.
	 */
	void (*on_switch)(const struct gpu_host *h, void (*fn)(bool on));
};

/* The exported symbol: the table of this version for the back end of that name, NULL when the process is not measured by it. Not signal-safe. */
typedef const struct gpu_host *gpu_host_fn(const char *backend, uint32_t version);

#endif
