/* SPDX-License-Identifier: BSD-3-Clause */
/* PC sampling, shared by its parts nv_pc*.c; all under the guard (nv_guard_take) unless said otherwise. See nv_pc.h. */
#ifndef HPCRUN_LITE_GPU_CUPTI_PC_NV_PC_INTERNAL_H
#define HPCRUN_LITE_GPU_CUPTI_PC_NV_PC_INTERNAL_H

#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"

#define NV_PC_MAX_SESSIONS 16u     /* contexts that are sampled at the same time, each on a GPU of its own */
#define NV_PC_MAX_REASONS 128u     /* that CUPTI tells of; 40 on sm_90 */
#define NV_PC_PATH_BYTES 128u
#define NV_PC_PER_CALL 1000u       /* instructions that a call hands out */
#define NV_PC_ROOM 16384u          /* instructions for which CUPTI has room when sampling is disabled: more are counted and lost */
#define NV_PC_ROOM_SERIALIZED 65536u /* instructions of launches: where there is less room than samples come with, they get wrong launches */
#define NV_PC_HARDWARE_BYTES ((size_t)16 << 20) /* pinned; the default of 512 MiB costs as much memory and 0.2 s */

/*
 * Launches are held so long at most until the device has done what it was asked for before. It costs the device nothing, which works on meanwhile; longer than the 1024 launches that the driver
 * queues take in most programs.
 */
#define NV_PC_HOLD_NS UINT64_C(400000000)

/* ---- nv_pc_reason.c: stall reasons ---------------------------------------------------------------------------- */

enum nv_pc_count {
	NV_PC_COUNT_NOTHING,      /* no reason: CUPTI's own sums */
	NV_PC_COUNT_SAMPLE,       /* each sample has one of these */
	NV_PC_COUNT_NOT_ISSUED    /* counts some of those samples again */
};
struct nv_pc_reason {
	uint8_t count;            /* enum nv_pc_count */
	uint8_t number;           /* the host's index of the reason */
};

/* What a reason of CUPTI's is, told to the host when its name is new in the process. */
struct nv_pc_reason nv_pc_reason_named(const char *name);

/* ---- nv_pc_take.c: samples to the host -------------------------------------------------------------------------- */

/* What was taken out since the last range was written. */
struct nv_pc_sums {
	uint64_t total, recorded, dropped, outside;
};

/* Windows of a session; nv_pc_burst.c. */
struct nv_pc_burst {
	uint64_t begin_ns, begin_launches, n_wanted; /* of the window that is open, or was the last */
	bool is_over;                      /* the window that is open */
	uint64_t n_in_windows;             /* launches in those that have ended */
	uint64_t next_ns;                  /* not before */
	uint64_t pause_ns;                 /* after a try that found the device busy */
	uint64_t last_launches;
	bool is_said;                      /* that no launch fell into one */
};

struct nv_pc_session {
	enum { NV_PC_FREE, NV_PC_ON, NV_PC_OVERFLOWED, NV_PC_PAUSED, NV_PC_DEAD } state;
	bool is_serialized;       /* as it is enabled now */
	bool has_said_outside, has_said_running;
	bool is_full;             /* an overflow that no range tells of yet */
	CUcontext context;
	uint32_t device, context_id; /* CUDA's number; the host's id */
	uint32_t n_units, clock_mhz, exponent;
	int lock;                 /* descriptor; -1: none */
	size_t n_reasons;
	uint32_t index[NV_PC_MAX_REASONS];
	struct nv_pc_reason reasons[NV_PC_MAX_REASONS]; /* by CUPTI's index */
	uint64_t begin_ns, begin_kernel_ns, n_samples, n_outside; /* since it was opened: is the rate what was promised? */
	uint32_t least_exponent;
	uint64_t last_overflow_ns; /* 0: none yet */
	_Atomic uint64_t range_begin_ns; /* whoever writes a range takes the time since then, once: see nv_pc_give_up */
	uint64_t retry_ns, retry_pause_ns;
	uint64_t paused_kernel_ns; /* nv_pc_kernel_ns when it was paused */
	struct nv_pc_sums sums;
	struct nv_pc_burst burst;
	CUpti_PCSamplingData got, left; /* for GetData; for what Disable leaves */
	void *memory;
	size_t memory_bytes;
};

/* How long the device's kernels were, of those with a record. */
static inline uint64_t nv_pc_kernel_ns(uint32_t device)
{
	return atomic_load_explicit(&nv.kernel_ns[device % NV_MAX_DEVICES], memory_order_relaxed);
}

/* Hands out what CUPTI has put into `data`. */
void nv_pc_take(struct nv_pc_session *s, const CUpti_PCSamplingData *data);
/* Writes the range from the last one until now; one without samples only when `always`. Flags: MSR_GPU_RANGE_*, but for SERIALIZED. */
void nv_pc_close_range(struct nv_pc_session *s, uint32_t flags, bool always);

/* ---- nv_pc_session.c: CUPTI's calls ------------------------------------------------------------------------------ */

/* A session for the context, enabled and configured; false: it is not sampled, which was said. Nothing else may launch meanwhile. */
bool nv_pc_open(struct nv_pc_session *s, CUcontext context, uint32_t device);
/* Enables it again. False: it is dead, which was said. */
bool nv_pc_enable(struct nv_pc_session *s, bool serialized);
/* Takes out what CUPTI has. False: sampling has stopped by an overflow, or is dead. */
bool nv_pc_drain(struct nv_pc_session *s);
/* Takes out all and disables; waits for running kernels. */
void nv_pc_disable(struct nv_pc_session *s);
/* Between disabling and enabling others may sample the GPU. False: one does, which was said, and the session is dead. */
void nv_pc_give_way(struct nv_pc_session *s);
bool nv_pc_come_back(struct nv_pc_session *s);
/* Gives lock and memory back. */
void nv_pc_close(struct nv_pc_session *s);

/* ---- nv_pc.c ----------------------------------------------------------------------------------------------------- */

/* A module was loaded while CUPTI does not sample: it will not tell of which instruction samples in it are. Any thread. */
void nv_pc_count_unseen(void);

/* ---- nv_pc_say.c ---------------------------------------------------------------------------------------------- */

/* "PC sampling of GPU n", what, more. */
void nv_pc_say(const struct nv_pc_session *s, const char *what, const char *more);
void nv_pc_say_refused(const struct nv_pc_session *s, CUptiResult r);
void nv_pc_say_begun(const struct nv_pc_session *s, uint64_t took_ns);
/* Samples that the whole GPU gives in a second at most. */
uint64_t nv_pc_most_per_s(const struct nv_pc_session *s, uint32_t exponent);
/* Before sampling ends: whether there were as many as can be, and whether CUPTI knew of which instruction they are. */
void nv_pc_check_rate(const struct nv_pc_session *s);
void nv_pc_check_outside(struct nv_pc_session *s);

/* ---- nv_pc_lock.c --------------------------------------------------------------------------------------------- */

/* The lock of a GPU for this process: a descriptor; -1: another process has it; -2: it cannot be had, errno says why. */
int nv_pc_lock(const CUuuid *uuid, char *path, size_t path_bytes);
void nv_pc_unlock(int lock, const CUuuid *uuid);

/* ---- nv_pc_gate.c --------------------------------------------------------------------------------------------- */

/* For tests: the clock by which it waits, CLOCK_MONOTONIC ns. */
struct nv_pc_gate_clock {
	uint64_t (*now_ns)(void);
	void (*sleep_for)(uint64_t ns);
};
void nv_pc_gate_use(const struct nv_pc_gate_clock *c);
/* Launches that were made since the process began, in bursts. Any thread. */
uint64_t nv_pc_n_launches(void);
/* The next launches wake our thread when there have been so many. Any thread. */
void nv_pc_wake_at(uint64_t n_launches);
/* The gate closes by itself before the launch behind the first `n_launches` of the process, and wakes our thread; 0: not. To be set while it is closed. Any thread. */
void nv_pc_gate_limit(uint64_t n_launches);
/* Closes the gate when nothing runs on the device. False: not until then, and it is open. */
bool nv_pc_hold(struct nv_pc_session *s, uint64_t until_ns);

/* ---- nv_pc_synchronize.c ---------------------------------------------------------------------------------------- */

/* Waits until the context has done all it was asked for. False: not until then. */
bool nv_pc_synchronize(CUcontext context, uint64_t until_ns);

/* ---- nv_pc_burst.c -------------------------------------------------------------------------------------------- */

/* Measurement is stopped: a window that is open ends here. */
void nv_pc_burst_rest(struct nv_pc_session *s);
/* A session was opened: our thread is woken when there are launches enough for a window. */
void nv_pc_burst_begin(void);
/* Begins or ends a window where it is time to. */
void nv_pc_burst(struct nv_pc_session *s);
/* Whether the window is over; to be asked once before each nv_pc_burst, which goes by it. */
bool nv_pc_burst_is_over(struct nv_pc_session *s);
/* The session ends: says when no launch fell into a window. */
void nv_pc_burst_end(struct nv_pc_session *s);

#endif
