/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One sweep over the time of devices that share processes: the operations of their queues, and the
 * samples and waits of the threads, merged by time. Each kind of stream has its own file. Only
 * hpcprof-lite/attribute/gpu/idle includes this file.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_IDLE_GPU_IDLE_SWEEP_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_IDLE_GPU_IDLE_SWEEP_H

#include "common/base/map.h"
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle.h"

#define IDLE_NEVER UINT64_MAX

/* Nanoseconds with a fraction of 20 bits; unsigned __int128 is a GNU extension. */
typedef unsigned __int128 idle_fixed;
enum { IDLE_FRACTION = 20 };

/* A gap is launch-bound if the threads did at most this much other work before the launch. */
#define IDLE_LAUNCH_NS UINT64_C(100000)
/* The accuracy of device clocks: an operation may seem to end this long after the wait for it. */
#define IDLE_CLOCK_NS UINT64_C(20000)

/* ---- accounts (gpu_idle_account.c) ---- */

struct idle_entry {
	uint32_t profile, context, metric;
	uint64_t n;
	idle_fixed sum;
};

struct idle_account {
	struct map index;
	VEC(struct idle_entry) entries;
	bool failed;               /* memory is short */
};

void idle_account_add(struct idle_account *a, enum gpu_idle_metric metric, uint32_t profile,
		      uint32_t context, idle_fixed amount);
/*
 * Rounds the entries so that the entries of a metric add up to total_ns[metric], and appends them
 * to `out`. False if memory is short.
 */
bool idle_account_close(struct idle_account *a, const uint64_t total_ns[GPU_IDLE_METRICS],
			struct gpu_idle *out);

/* ---- devices (gpu_idle_device.c) ---- */

/* What a thread does, from a device's point of view. */
enum idle_state {
	IDLE_UNKNOWN,              /* no sample covers the moment */
	IDLE_OFF,                  /* measurement is off */
	IDLE_WAITS_HERE,           /* for this device */
	IDLE_BLOCKED,              /* it waits for something else or for a processor */
	IDLE_BLOCKED_LAUNCHER,     /* the same, in a thread that has launched on this device */
	IDLE_WORKS,
	IDLE_STATES
};

/* The parts of a stretch of time without an operation. */
enum idle_part { IDLE_FREE, IDLE_SYNCHRONISED, IDLE_LAUNCHED, IDLE_PARTS };

/* A histogram of times with 32 buckets for each power of two, so a bucket is 3 % wide. */
enum { IDLE_BUCKETS = 60 * 32 };

struct idle_device {
	uint32_t device; /* of the model */
	uint64_t at_ns;            /* everything before is accounted for */
	uint64_t n_kernels, n_copies; /* running now; sets count as copies */
	uint64_t n_in_flight;      /* launched, not ended */
	uint64_t n_waits;          /* threads that wait only for this device */
	uint64_t n_threads[IDLE_STATES];
	/* Integrals over time of the blame of one thread in each state. */
	idle_fixed share_of[IDLE_STATES];
	idle_fixed share_of_op;    /* the same for a running operation */
	bool is_before_first;
	bool has_computed;         /* a kernel has begun */
	uint64_t gap_ns[IDLE_PARTS]; /* since the last operation ended */
	uint64_t wait_end_ns;      /* end of the last wait */
	bool was_waited_for;       /* a wait ended when the gap began */
	idle_fixed queue_ns;
	uint32_t *latencies;       /* IDLE_BUCKETS */
	struct model_gpu_idle sum;
	struct model_gpu_waits waits; /* without all_ns */
};

struct idle_sweep;

/* Accounts for the time up to `ns`. */
void idle_device_advance(const struct idle_sweep *s, struct idle_device *d, uint64_t ns);
/* The state of the device changes at `ns`. Advances first. */
void idle_device_launch(const struct idle_sweep *s, struct idle_device *d, uint64_t ns,
			uint64_t latency_ns);
void idle_device_begin(const struct idle_sweep *s, struct idle_device *d, uint64_t ns,
		       bool is_kernel);
void idle_device_end(const struct idle_sweep *s, struct idle_device *d, uint64_t ns,
		     bool is_kernel);
void idle_device_watch(const struct idle_sweep *s, struct idle_device *d, uint64_t ns, bool watch);
/* Sets the results that need the whole sweep. */
void idle_device_close(struct idle_device *d);

/* ---- queues (gpu_idle_queue.c) ---- */

struct idle_running {
	uint64_t end_ns;
	uint32_t cell;
	idle_fixed share;          /* share_of_op at its start */
};

struct idle_queue {
	const struct model_gpu_line *line;
	uint32_t device;           /* index in the sweep */
	uint32_t process;
	uint64_t n_entered, n_started; /* counts of the line's items */
	VEC(struct idle_running) running; /* a heap; the first item ends first */
};

/* The time of the next event; IDLE_NEVER: the queue is at its end. */
uint64_t idle_queue_next(const struct idle_queue *q);
/* Takes the events at `ns`, the time that idle_queue_next() returned. */
void idle_queue_take(struct idle_sweep *s, struct idle_queue *q, uint64_t ns);

/* ---- threads (gpu_idle_thread.c) ---- */

enum { IDLE_CHUNK = 32 };

struct idle_wait {
	uint64_t end_ns;
	uint32_t context;
	uint32_t device;           /* index in the sweep; MODEL_NONE: it is not known which */
};

/* The state of a thread for a device since it changed. */
struct idle_mark {
	uint8_t state;             /* enum idle_state */
	uint32_t context;
	idle_fixed share;          /* share_of[state] of the device at that time */
};

struct idle_thread {
	uint32_t profile;
	uint64_t end_ns;
	struct model_trace_cursor cursor;
	size_t n, next;            /* of `samples` */
	struct model_sample samples[IDLE_CHUNK];
	uint64_t covered_until_ns; /* its state and context; 0: nothing is known */
	uint32_t context;
	uint8_t state;             /* OFF, BLOCKED or WORKS */
	const struct model_gpu_wait *waits; /* waits that have not begun */
	uint64_t n_waits;
	VEC(struct idle_wait) waiting;
	/*
	 * Sets of devices: those that its process uses, and those that the thread launched on. See
	 * idle_bit().
	 */
	uint64_t uses, launched_on;
	struct idle_mark *marks;   /* by device of the sweep */
};

void idle_thread_open(const struct idle_sweep *s, struct idle_thread *t);
uint64_t idle_thread_next(const struct idle_thread *t);
void idle_thread_take(struct idle_sweep *s, struct idle_thread *t, uint64_t ns);
/* Credits what the thread did up to `ns`. */
void idle_thread_close(struct idle_sweep *s, struct idle_thread *t, uint64_t ns);

/* ---- the sweep (gpu_idle_sweep.c) ---- */

/* A stretch of time in which processes were measured. */
struct idle_stretch {
	uint64_t start_ns, end_ns;
};

enum idle_place {
	IDLE_ELSEWHERE,
	IDLE_IN_LIBC,
	IDLE_IN_LOCK /* a lock function of libc, in which threads wait for threads */
};

struct idle_sweep {
	const struct model *m;
	uint64_t from_ns, until_ns;/* only the time between these counts */
	/*
	 * A sample covers the time to the next one if that is at most coverage_ns away, else one
	 * period.
	 */
	uint64_t coverage_ns, period_ns;
	const uint8_t *places;     /* by function of the model: enum idle_place */
	VEC(struct idle_device) devices;
	VEC(struct idle_queue) queues;
	VEC(struct idle_thread) threads; /* by profile */
	VEC(uint32_t) processes;
	VEC(struct idle_stretch) stretches; /* of the processes, disjoint, by time */
	bool is_watched;
	struct idle_account account;
};

/* The bit of a device in a set. All devices from 63 on share one. */
static inline uint64_t idle_bit(uint32_t device)
{
	return UINT64_C(1) << (device < 63 ? device : 63);
}

/* The thread with this profile, or NULL. */
struct idle_thread *idle_sweep_thread(struct idle_sweep *s, uint32_t profile);
/* False if memory is short. */
bool idle_sweep_run(struct idle_sweep *s);
void idle_sweep_free(struct idle_sweep *s);

#endif
