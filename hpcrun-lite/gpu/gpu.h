/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a GPU back end calls in the vendor-neutral core. A back end is a loadable
 * module (OpenCL layer, CUPTI injection, ...). No type or name of a vendor appears here.
 *
 * A back end gets its table from the symbol GPU_HOST_SYMBOL, which the preloaded library exports,
 * and keeps it for the life of the process. NULL: the process is not measured or did not ask for
 * this back end. Pass the table as the first argument of each function: operations and losses are
 * recorded under its name.
 *
 *     gpu_host_fn *find = dlsym(RTLD_DEFAULT, GPU_HOST_SYMBOL);
 *     const struct gpu_host *host = find("opencl", GPU_HOST_VERSION);
 *
 * Define devices, contexts, queues and clocks as they appear. Call launch() in the launching
 * thread. Call op() or lost() from any thread when the result is known. See
 * doc/adding-a-gpu-vendor.md.
 *
 * Rules for every function:
 * - Any thread may call it, but not a signal handler. It keeps errno.
 * - It never waits for the device and never calls back into a back end.
 * - It is harmless after the end of measurement and in a forked child (see generation).
 * - Ids are > 0. Id 0 means failure, which is counted; it may be passed on.
 *
 * Tests: tests/unit/gpu/test_gpu_core.c, which has a back end of its own, and
 * tests/cli/opencl/ocl_*.sh.
 */
#ifndef HPCRUN_LITE_GPU_GPU_H
#define HPCRUN_LITE_GPU_GPU_H

#include "common/format/measurement_gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_HOST_VERSION 8u
#define GPU_HOST_SYMBOL "hpcrun_lite_gpu_host"

/*
 * Definitions. Strings and arrays are copied. NULL counts as "", 0 as unknown. The fields are those
 * of measurement_gpu.h.
 */
struct gpu_device {
	const char *name, *driver;
	uint32_t ordinal, n_units, threads_per_unit, group_max, lanes, clock_mhz,
		registers_per_unit, shared_bytes_per_unit, groups_per_unit;
	uint64_t memory_bytes;
	uint8_t uuid[16];
	enum msr_gpu_device_type type;
	/* Further limits on resident groups (struct msr_gpu_def_device_limits); all 0: unknown. */
	uint32_t compute_major, compute_minor, registers_per_group, reserved_shared_bytes,
		shared_bytes_per_group, shared_bytes_per_group_optin;
	/* How fast its memory is (struct msr_gpu_def_device_rates); all 0: unknown. */
	uint32_t memory_khz, memory_bits;
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
	/* NULL: only the hash is known (in hash[]), or nothing (hash 0, 0). */
	const void *bytes;
	size_t n_bytes;
	const char *options; /* build options */
	uint32_t device;
	bool must_keep; /* keep the bytes even if their structure is known: a recording */
	bool is_lost; /* bytes is NULL because they are gone; counts as content that was not kept */
};
struct gpu_function {
	uint32_t code;
	const char *name, *source_name;
	/*
	 * Called when the function is new, with `code` and the function's name. Returns the code
	 * object to record for the function; it may contain only this function. NULL: record
	 * `code`.
	 */
	uint32_t (*part)(uint32_t code, const char *name);
};
struct gpu_shape {
	uint32_t function, grid[3], block[3], cluster[3], registers, static_shared_bytes,
		dynamic_shared_bytes, local_bytes;
	uint64_t global[3];
};

/* Connects a launch with its ops. A plain value: the back end keeps it as long as it likes. */
struct gpu_ticket {
	uint64_t id;         /* 0: the launch was lost and counted; its ops are ignored */
	uint32_t thread, node;
	uint8_t kind;        /* enum msr_gpu_kind */
	bool aggregated;     /* launched after the limit on records was reached */
	/*
	 * id is 0 because the program had stopped measurement. Nothing is lost; the op is not
	 * recorded.
	 */
	bool is_off;
};

struct gpu_launch {
	enum msr_gpu_kind kind;
	uint64_t enter_ns;   /* CLOCK_MONOTONIC when the program entered the call; 0: now */
	/*
	 * The vendor's correlation id, made 64 bits wide by widen(); 0: the core chooses. A back
	 * end must do the same for all launches of a process. If one call of the vendor is two
	 * operations (a blocking copy is COPY and SYNC), use the ids 2 x id and 2 x id + 1.
	 */
	uint64_t id;
};

struct gpu_op {
	enum msr_gpu_kind kind;
	unsigned detail;           /* direction, memory or sync: see measurement_gpu.h */
	uint64_t start_ns, end_ns; /* by the queue's clock; SYNC, ALLOC, FREE: CLOCK_MONOTONIC */
	uint64_t amount;
	/*
	 * shape: of a KERNEL; the context of an ALLOC whose FREE will name it; of a FREE, the low
	 * 32 bits of gpu_ticket.id of its ALLOC. 0: none.
	 */
	uint32_t queue, shape;
	bool has_waits;                   /* queued_ns and submitted_ns are known */
	uint64_t queued_ns, submitted_ns; /* by the queue's clock */
};

/* Why the driver refused a launch. */
struct gpu_refusal {
	enum msr_gpu_kind kind;
	uint32_t error;   /* the vendor's number; 0: unknown */
	uint32_t context; /* ALLOC: id; 0: unknown */
	uint64_t bytes;   /* ALLOC: that were asked for */
};

struct gpu_pc_sample {
	uint32_t function;
	uint64_t offset, id, count;
	unsigned stall;      /* the vendor's index, as given to stall() */
	uint32_t queue;
};

/* About the measurement, for code that writes a file beside it. */
struct gpu_about {
	const char *file;    /* absolute path of the measurement file; "": none */
	/* Limit on records of operations, after which operations are summed up. */
	uint64_t max_record_bytes;
	uint32_t number;     /* of the back end: the two highest bits of its ids */
};

/*
 * Where the last launch() or graph_node() of a thread was recorded. The order is part of
 * recordings: append only.
 */
enum gpu_placed {
	GPU_PLACED_NOWHERE,  /* no launch since the last query */
	/* In a thread of the file (~0: not measured) and a node (0: no path). */
	GPU_PLACED,
	GPU_PLACED_STOPPED,  /* refused: the end of measurement had begun */
	GPU_PLACED_OFF       /* refused: the program had stopped the measurement */
};

struct gpu_host {
	uint32_t version;

	/* ---- life ---- */

	/*
	 * A number that changes in a forked child; 0: measurement has ended or never began. If it
	 * has changed, the back end must forget all tickets, ids and pending ops, without touching
	 * objects of the vendor. It may then define everything again.
	 */
	uint32_t (*generation)(const struct gpu_host *h);
	/*
	 * The options after "gpu=<back end>,": "pc@10" for "gpu=nvidia,pc@10". "" if there are
	 * none. Valid until the process ends.
	 */
	const char *(*options)(const struct gpu_host *h);
	/*
	 * `fn` is called once at the end of the process, in the thread that ends it, before the
	 * file is finished. It is the last chance to deliver records. It must not wait longer than
	 * `may_wait_ns` in all. NULL removes `fn`.
	 *
	 * It is not called in a signal handler (_exit in a handler), nor in a forked child. It is
	 * also called before an exec, and again later if that exec fails. exit() runs `fn` before
	 * any atexit function that was registered earlier than at_end(). So call at_end() after the
	 * vendor's library is set up.
	 */
	void (*at_end)(const struct gpu_host *h, void (*fn)(uint64_t may_wait_ns));
	/*
	 * `fn` is called in each measured thread when it ends or is cancelled, after the program's
	 * destructors of thread-specific data. Call this once; NULL removes `fn`. Use it to free
	 * data of a thread. A pthread key would cost malloc memory inside a call of the program if
	 * the program has many keys.
	 */
	void (*at_thread_end)(const struct gpu_host *h, void (*fn)(void));
	/*
	 * How the back end entered the process, as shown to users: see struct msr_gpu_tally. NULL:
	 * unchanged.
	 *
	 * `text` is an address in a module, or NULL. If the innermost frames of a call path are in
	 * this module, they are left out, except the outermost one, which is the program's call. Up
	 * to four modules (the back end, the vendor's tool library ...).
	 */
	void (*entered)(const struct gpu_host *h, const char *how, const void *text);
	/* A message for the user, in the file and, if the run is verbose, on standard error. */
	void (*note)(const struct gpu_host *h, const char *text);
	/*
	 * Between suspend and resume, threads that this thread creates are not measured: they
	 * belong to the vendor or the back end. CPU samples are held back and recorded at the
	 * outermost resume, with the path of the call to resume, as time that profiling costs the
	 * program. Nests. For short work only.
	 */
	void (*suspend)(const struct gpu_host *h);
	void (*resume)(const struct gpu_host *h);
	/*
	 * Makes CPUTIME use a timer in threads that launch often. For back ends with which the
	 * kernel's event was measured to be expensive in those threads (doc/sampling.md).
	 */
	void (*sample_by_timer)(const struct gpu_host *h);

	/*
	 * ---- definitions ----
	 * Each call makes a new definition, except that equal code, functions and shapes get equal
	 * ids.
	 */
	uint32_t (*device)(const struct gpu_host *h, const struct gpu_device *d);
	uint32_t (*context)(const struct gpu_host *h, const struct gpu_context *c);
	uint32_t (*queue)(const struct gpu_host *h, const struct gpu_queue *q);
	uint32_t (*clock)(const struct gpu_host *h);
	void (*clock_pair)(const struct gpu_host *h, uint32_t clock, uint64_t device_ns,
			   uint64_t mono_ns, uint64_t error_ns);
	/*
	 * Writes the content to <run>/gpubins, once per content for all processes of the run, or
	 * its structure to <run>/structs if the user's cache has the structure. Sets hash[2] from
	 * the bytes, even if it returns 0.
	 */
	uint32_t (*code)(const struct gpu_host *h, const struct gpu_code *c, uint64_t hash[2]);
	uint32_t (*function)(const struct gpu_host *h, const struct gpu_function *f);
	uint32_t (*shape)(const struct gpu_host *h, const struct gpu_shape *s);
	void (*stall)(const struct gpu_host *h, unsigned index, const char *name,
		      const char *description, uint32_t device, uint32_t flags);
	uint32_t (*counter)(const struct gpu_host *h, const char *name, const char *description,
			    enum msr_unit unit);

	/* ---- operations ---- */

	/*
	 * Extends a 32-bit id that wraps around to 48 bits. Ids that are within 2^31 of each other
	 * may arrive in any order and keep their distance. `state` starts at 0 and belongs to the
	 * back end.
	 */
	uint64_t (*widen)(const struct gpu_host *h, _Atomic uint64_t *state, uint32_t id);
	/*
	 * Records a launch with its call path, without frames of the back end and the core. Call it
	 * in the thread that launches, inside the call. Costs about one stack walk. Returns false,
	 * with id 0 in *t, if the launch is lost (and counted) or not measured (is_off).
	 */
	bool (*launch)(const struct gpu_host *h, const struct gpu_launch *l, struct gpu_ticket *t);
	/* An operation is complete. For SYNC, ALLOC and FREE, call this right after launch(). */
	void (*op)(const struct gpu_host *h, const struct gpu_ticket *t, const struct gpu_op *op);
	/* An operation will never complete, for this cause. */
	void (*lost)(const struct gpu_host *h, const struct gpu_ticket *t, enum msr_gpu_loss cause);
	/* The same if only the id is known, as in records from a vendor's buffer. */
	void (*op_by_id)(const struct gpu_host *h, uint64_t id, const struct gpu_op *op);
	void (*lost_by_id)(const struct gpu_host *h, uint64_t id, enum msr_gpu_kind kind,
			   enum msr_gpu_loss cause);
	/* `n` operations are lost, and nothing else is known about them. */
	void (*lost_unknown)(const struct gpu_host *h, enum msr_gpu_loss cause, uint64_t n);

	/*
	 * A node of a graph was made. `original` 0: by the current call, whose path is recorded as
	 * in launch(). Otherwise it is a copy (instantiated, cloned) of the node `original`, which
	 * may be made earlier or later. op() gets the same numbers as the amount of a kernel.
	 */
	void (*graph_node)(const struct gpu_host *h, uint64_t node, uint64_t original);

	/* ---- samples and counters of devices ---- */
	void (*pc_sample)(const struct gpu_host *h, const struct gpu_pc_sample *s, size_t n);
	void (*pc_range)(const struct gpu_host *h, const struct msr_gpu_pc_range *r);
	void (*value)(const struct gpu_host *h, uint64_t id, uint32_t queue, uint32_t counter,
		      uint64_t value);
	/* A meter of energy has changed. Define its counter with the unit MSR_UNIT_UJ. */
	void (*energy)(const struct gpu_host *h, const struct msr_gpu_energy *e);

	/* ---- for recordings ---- */

	void (*about)(const struct gpu_host *h, struct gpu_about *a);
	/* The place of the calling thread's last launch since its previous query. */
	enum gpu_placed (*last_place)(const struct gpu_host *h, uint32_t *thread, uint32_t *node);

	/* ---- measurement that the program starts and stops ---- */

	/*
	 * Returns true if the program has stopped measurement or not started it yet; launch() then
	 * returns false. Lets a back end skip work before launch(). Only a load; signal-safe.
	 */
	bool (*is_off)(const struct gpu_host *h);
	/*
	 * fn(false) is called after measurement stops, fn(true) before it starts. It switches off
	 * and on whatever makes launches slower. Operations launched earlier must still be
	 * delivered. NULL removes `fn`. If measurement is off now, `fn` is called at once.
	 *
	 * `fn` runs in the thread of the program that stops or starts, one call at a time, and must
	 * not wait for the device. If a signal handler stops or starts measurement, only is_off
	 * changes; `fn` is not called.
	 */
	void (*on_switch)(const struct gpu_host *h, void (*fn)(bool on));

	/*
	 * A call for which launch() was not called launched an operation that will not be reported.
	 * Counts the launch as lost, without a path.
	 */
	void (*launch_lost)(const struct gpu_host *h, enum msr_gpu_kind kind,
			    enum msr_gpu_loss cause);

	/* lost_by_id for a launch that the driver refused. */
	void (*refused)(const struct gpu_host *h, uint64_t id, const struct gpu_refusal *why);
};

/*
 * The exported symbol. Returns the table of this version for the back end `backend`; NULL if that
 * back end does not measure the process. Not signal-safe.
 */
typedef const struct gpu_host *gpu_host_fn(const char *backend, uint32_t version);

#endif
