/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of tracing that the other rooms of the back end may read; only tracing writes it
 * (trace/nv_trace.h). Also the guard around CUPTI calls that may wait. Tests:
 * tests/unit/cupti/test_cupti_switch.c, tests/unit/cupti/test_cupti_pc_gate.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_SHARED_H
#define HPCRUN_LITE_GPU_CUPTI_NV_SHARED_H

#include "hpcrun-lite/gpu/cupti/nv.h"

/* How far the back end has got with a stop of the measurement. */
enum nv_off {
	NV_ON,
	/* Off, but CUPTI still works. We drop launches, their records and samples. */
	NV_DROPPING,
	/*
	 * Off: CUPTI does not call us, record or sample. Records of earlier launches still arrive.
	 */
	NV_OFF
};

struct nv_shared {
	/* nv_guard.c */
	pthread_mutex_t flush_lock; /* held during flushes, which wait for CUPTI's thread */
	sem_t wake;
	_Atomic uint32_t n_outstanding;      /* buffers that CUPTI holds */
	/* trace/nv_flush.c */
	_Atomic bool is_over;                /* exit() was called: do not touch CUPTI any more */
	/* trace/nv_switch.c */
	/* Callbacks of calls are off. We may see the begin of a call but not its end. */
	_Atomic bool has_no_calls;
	enum nv_off off;                     /* under the guard */
	/* trace/nv_callback.c */
	_Atomic uint32_t n_capturing;        /* at least this many streams are being captured */
	/* trace/nv_record.c: total duration of recorded kernels; only kept with PC sampling. */
	_Alignas(64) _Atomic uint64_t kernel_ns[NV_MAX_DEVICES];
	/* Records without times; their operations may still run. */
	_Atomic uint64_t n_unfinished;
};
/* Only for tracing; the other rooms use the functions below. */
extern struct nv_shared nv_shared;

/* Sets nv_shared up; nv_state_prepare calls it. */
void nv_shared_prepare(void);

/* exit() was called, and CUPTI must not be called any more. Any thread. */
static inline bool nv_trace_is_over(void)
{
	return atomic_load_explicit(&nv_shared.is_over, memory_order_acquire);
}

/* How far a stop has got. Exact under the guard. */
static inline enum nv_off nv_trace_off(void)
{
	return nv_shared.off;
}

/* Callbacks of calls are off. Sequentially consistent with the gate of PC sampling. */
static inline bool nv_trace_has_no_calls(void)
{
	return atomic_load_explicit(&nv_shared.has_no_calls, memory_order_seq_cst);
}

/* Some records came without times, so records do not show when the device is idle. */
static inline bool nv_trace_has_unfinished(void)
{
	return atomic_load_explicit(&nv_shared.n_unfinished, memory_order_relaxed) != 0;
}

/* Total duration of the kernels of the device that have a record. */
static inline uint64_t nv_trace_kernel_ns(uint32_t device)
{
	return atomic_load_explicit(&nv_shared.kernel_ns[device % NV_MAX_DEVICES],
				    memory_order_relaxed);
}

/* At least one stream is being captured. */
static inline bool nv_trace_is_capturing(void)
{
	return atomic_load_explicit(&nv_shared.n_capturing, memory_order_relaxed) != 0;
}

/* ---- nv_guard.c ---- */

/*
 * Takes the guard around CUPTI calls that may wait (flushes, PC sampling). Returns false if that
 * takes longer than until_ns; 0: no limit.
 */
bool nv_guard_take(uint64_t until_ns);
void nv_guard_give(void);
/* Wakes the thread that asks for records. Never waits. */
void nv_guard_wake(void);
/* The number of buffers that CUPTI holds. 0: all records of completed operations were delivered. */
uint32_t nv_guard_n_buffers(void);
/*
 * Under the guard: asks for records until CUPTI holds no buffer, so that no traced kernel runs on
 * any device. Returns false if that takes longer than until_ns.
 */
bool nv_guard_until_idle(uint64_t until_ns);

#endif
