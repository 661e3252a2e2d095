/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC sampling: declarations shared by its parts, nv_pc*.c. The caller holds the guard
 * (nv_guard_take) unless a comment says otherwise. See nv_pc.h.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_PC_NV_PC_INTERNAL_H
#define HPCRUN_LITE_GPU_CUPTI_PC_NV_PC_INTERNAL_H

#include "hpcrun-lite/gpu/cupti/nv_shared.h"
#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"

#define NV_PC_MAX_SESSIONS 16u     /* contexts sampled at the same time, each on its own GPU */
#define NV_PC_MAX_REASONS 128u     /* CUPTI's stall reasons; 40 on sm_90 */
#define NV_PC_PER_CALL 1000u       /* number of instructions that one call delivers */
/*
 * Number of instructions for which CUPTI has room when sampling is disabled. Samples of further
 * instructions are counted and lost.
 */
#define NV_PC_ROOM 16384u
/*
 * The same for samples with launches. If the room is too small, CUPTI gives samples wrong launches.
 */
#define NV_PC_ROOM_SERIALIZED 65536u
/* Pinned memory. CUPTI's default is 512 MiB, all of it pinned, and takes 0.2 s. */
#define NV_PC_HARDWARE_BYTES ((size_t)16 << 20)

/*
 * Longest time that we hold launches until the device has finished its earlier work. The device
 * loses no time, because it works meanwhile. The driver can queue 1024 launches; most programs need
 * less than this time to run them.
 */
#define NV_PC_HOLD_NS UINT64_C(400000000)

/* What the parts share besides their sessions. */
struct nv_pc_state {
	bool has_begun; /* measurement was on while there was a context; under the guard */
	_Atomic bool has_left; /* a profiler of the program came */
	/*
	 * Number of modules that were loaded while CUPTI did not sample. It cannot attribute
	 * samples in them.
	 */
	_Atomic uint32_t n_unseen;
};
extern struct nv_pc_state nv_pc;

/* ---- nv_pc_reason.c: stall reasons ---- */

enum nv_pc_count {
	NV_PC_COUNT_NOTHING,      /* not a reason: CUPTI's own sums */
	NV_PC_COUNT_SAMPLE,       /* each sample has exactly one of these */
	NV_PC_COUNT_NOT_ISSUED    /* counts samples again in which no instruction was issued */
};
struct nv_pc_reason {
	uint8_t count;            /* enum nv_pc_count */
	uint8_t number;           /* the host's index of the reason */
};

/* Classifies a reason of CUPTI and defines it for the host if its name is new in the process. */
struct nv_pc_reason nv_pc_reason_named(const char *name);

/* ---- nv_pc_take.c: samples to the host ---- */

/* Samples taken out since the last range was written. */
struct nv_pc_sums {
	uint64_t total, recorded, dropped, outside;
};

/* The windows of a session; see nv_pc_burst.c. */
struct nv_pc_burst {
	uint64_t begin_ns, begin_launches, n_wanted; /* of the open window, or of the last one */
	bool is_over;                      /* of the open window */
	uint64_t n_in_windows;             /* launches in windows that have ended */
	uint64_t next_ns;                  /* no window before this time */
	uint64_t pause_ns;                 /* pause after an attempt that found the device busy */
	uint64_t last_launches;
	bool is_said;                      /* the user was told that a window had no launch */
};

struct nv_pc_session {
	enum { NV_PC_FREE, NV_PC_ON, NV_PC_OVERFLOWED, NV_PC_PAUSED, NV_PC_DEAD } state;
	bool is_serialized;       /* sampling is enabled with serialized kernels */
	bool has_said_outside, has_said_running;
	bool is_full;             /* there was an overflow that no range has reported yet */
	CUcontext context;
	uint32_t device, context_id; /* CUDA's number; the host's id */
	uint32_t n_units, clock_mhz, exponent;
	int lock;                 /* descriptor; -1: none */
	size_t n_reasons;
	uint32_t index[NV_PC_MAX_REASONS];
	struct nv_pc_reason reasons[NV_PC_MAX_REASONS]; /* by CUPTI's index */
	/* Since the session was opened, to check the rate. */
	uint64_t begin_ns, begin_kernel_ns, n_samples, n_outside;
	uint32_t least_exponent;
	uint64_t last_overflow_ns; /* 0: none yet */
	/* Begin of the next range. Whoever writes that range takes it, once: see nv_pc_give_up. */
	_Atomic uint64_t range_begin_ns;
	uint64_t retry_ns, retry_pause_ns;
	uint64_t paused_kernel_ns; /* nv_trace_kernel_ns when sampling was paused */
	struct nv_pc_sums sums;
	struct nv_pc_burst burst;
	/* got: for GetData; left: for samples that Disable delivers */
	CUpti_PCSamplingData got, left;
	void *memory;
	size_t memory_bytes;
};

/* Passes the samples that CUPTI put into `data` to the host. */
void nv_pc_take(struct nv_pc_session *s, const CUpti_PCSamplingData *data);
/*
 * Writes the range from the end of the last one until now. A range without samples is written only
 * if `always`. `flags` are MSR_GPU_RANGE_*, except SERIALIZED.
 */
void nv_pc_close_range(struct nv_pc_session *s, uint32_t flags, bool always);

/* ---- nv_pc_session.c: CUPTI's calls ---- */

/*
 * Makes, configures and enables a session for the context. Returns false if the context cannot be
 * sampled; a note says why. No other thread may launch meanwhile.
 */
bool nv_pc_open(struct nv_pc_session *s, CUcontext context, uint32_t device);
/* Enables the session again. Returns false if it is dead; a note says why. */
bool nv_pc_enable(struct nv_pc_session *s, bool serialized);
/*
 * Takes out CUPTI's samples. Returns false if sampling stopped because of an overflow, or the
 * session is dead.
 */
bool nv_pc_drain(struct nv_pc_session *s);
/* Takes out all samples and disables sampling. Waits for running kernels. */
void nv_pc_disable(struct nv_pc_session *s);
/*
 * give_way lets another process sample the GPU between disable and enable. come_back returns false
 * if one still does; a note says so, and the session is dead.
 */
void nv_pc_give_way(struct nv_pc_session *s);
bool nv_pc_come_back(struct nv_pc_session *s);
/* Frees the lock and the memory. */
void nv_pc_close(struct nv_pc_session *s);

/* ---- nv_pc_say.c ---- */

/* A note "PC sampling of GPU n" + what + more. */
void nv_pc_say(const struct nv_pc_session *s, const char *what, const char *more);
void nv_pc_say_refused(const struct nv_pc_session *s, CUptiResult r);
void nv_pc_say_begun(const struct nv_pc_session *s, uint64_t took_ns);
/* Maximum number of samples of the whole GPU in a second. */
uint64_t nv_pc_most_per_s(const struct nv_pc_session *s, uint32_t exponent);
/*
 * Before sampling ends: notes if there were fewer samples than expected, or samples that CUPTI
 * could not attribute to an instruction.
 */
void nv_pc_check_rate(const struct nv_pc_session *s);
void nv_pc_check_outside(struct nv_pc_session *s);

/* ---- nv_pc_gate.c ---- */

/* For tests: the clock that the gate uses to wait, in CLOCK_MONOTONIC ns. */
struct nv_pc_gate_clock {
	uint64_t (*now_ns)(void);
	void (*sleep_for)(uint64_t ns);
};
void nv_pc_gate_use(const struct nv_pc_gate_clock *c);
/* Number of launches of the process so far; only counted with mode=bursts. Any thread. */
uint64_t nv_pc_n_launches(void);
/* Wakes our thread when the process has made this many launches. Any thread. */
void nv_pc_wake_at(uint64_t n_launches);
/*
 * Makes the gate close by itself and wake our thread after the first `n_launches` launches of the
 * process; 0: never. Call while the gate is closed. Any thread.
 */
void nv_pc_gate_limit(uint64_t n_launches);
/*
 * Closes the gate at a moment when the device is idle. Returns false, with the gate open, if that
 * takes longer than until_ns.
 */
bool nv_pc_hold(struct nv_pc_session *s, uint64_t until_ns);

/* ---- nv_pc_synchronize.c ---- */

/*
 * Waits until the context has finished all its work. Returns false if that takes longer than
 * until_ns.
 */
bool nv_pc_synchronize(CUcontext context, uint64_t until_ns);

/* ---- nv_pc_burst.c ---- */

/* Measurement stops: ends an open window. */
void nv_pc_burst_rest(struct nv_pc_session *s);
/* A session was opened: our thread will be woken when there are enough launches for a window. */
void nv_pc_burst_begin(void);
/* Begins or ends a window if it is time. */
void nv_pc_burst(struct nv_pc_session *s);
/* Returns true if the window is over. Call once before each nv_pc_burst, which uses the answer. */
bool nv_pc_burst_is_over(struct nv_pc_session *s);
/* The session ends: notes if no launch was in a window. */
void nv_pc_burst_end(struct nv_pc_session *s);

#endif
