/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake OpenCL implementation and a fake host of back ends, both in the hands of the test:
 * commands end when the test says so, calls fail on demand, handles are given out again, and
 * everything that the back end says is counted. Thread-safe where the back end calls it from
 * several threads.
 */
#ifndef TESTS_UNIT_FAKE_OPENCL_H
#define TESTS_UNIT_FAKE_OPENCL_H

#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

#define FAKE_MAX_OPS 4096u

/* ---- the implementation ---- */

struct fake {
	cl_int fail;              /* enqueues return it, 0: they go well */
	cl_int end_with; /* commands end so at once: CL_COMPLETE or an error; CL_QUEUED: they do not
			    end */
	bool refuses_profiling;
	bool no_events;           /* enqueues leave the event NULL */
	bool stale_times; /* commands are never queued, and their times are of something else */
	bool answers_early;       /* times are told before a command has ended */
	bool has_timer;
	int64_t timer_offset;     /* of the timer to the profiling clock */
	int64_t clock_offset;     /* of the profiling clock to CLOCK_MONOTONIC */
	cl_uint version;          /* 12, 21, 30 */
	const char *platform;     /* name */
	const char *source;
	const unsigned char *binary;
	size_t binary_bytes;
	cl_uint n_binary_asked, n_source_asked;
	bool reuse;               /* handles that were released are given out again */
	_Atomic long n_events;    /* that live */
	_Atomic long n_calls;     /* of enqueues */
	_Atomic long n_barriers_with_list, n_old_barriers;
};
extern struct fake fake;
extern const cl_icd_dispatch fake_dispatch;

/* Everything anew: implementation, host, and the back end, which is entered as a layer. */
void fake_start(void);
cl_context fake_context(void);
cl_device_id fake_device(void);
/* All commands that have not ended do, with this status. */
void fake_end_all(cl_int status);

/* ---- the host ---- */

struct fake_op {
	uint64_t ticket;
	enum msr_gpu_kind kind;
	unsigned detail;
	uint64_t start_ns, end_ns, amount;
	uint32_t queue, shape;
	enum msr_gpu_loss loss;
};
struct fake_host {
	bool absent;              /* the process is not measured */
	uint32_t generation;
	bool is_off;
	_Atomic uint64_t n_launched[MSR_N_GPU_KINDS], n_ops[MSR_N_GPU_KINDS],
		n_lost[MSR_N_GPU_LOSSES];
	struct fake_op ops[FAKE_MAX_OPS];
	_Atomic unsigned n_records;
	unsigned n_entered, n_notes, n_devices, n_contexts, n_queues, n_codes, n_functions,
		n_shapes, n_pairs;
	uint32_t queue_flags;
	char how[64], function[64], options[64];
	struct gpu_shape shape;
	enum msr_gpu_code_kind code_kind;
	size_t code_bytes;
	int64_t pair_offset;
	uint64_t pair_error;
	void (*at_end)(uint64_t may_wait_ns);
};
extern struct fake_host fake_host;
uint64_t fake_n_launched(void);
/* Ops and losses together. */
uint64_t fake_n_answered(void);
/* The last record of a kind; fails when there is none. */
const struct fake_op *fake_last(enum msr_gpu_kind kind);

#endif
