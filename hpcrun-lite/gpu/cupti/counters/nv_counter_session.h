/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes CUPTI's calls for a context whose kernels are counted. If one pass suffices for all
 * counters, we put a range around each launch; its name is the launch's index in `launches`. The
 * device then runs one kernel at a time, but the CPU does not wait. CUPTI replays kernels if the
 * counters need several passes, or if some count instructions. It then replays each kernel inside
 * its launch, in a range of its own, and we take the values out right after the launch.
 *
 * One thread at a time may use a session. Test: tests/cli/gpu/counters.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTER_SESSION_H
#define HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTER_SESSION_H

#include "hpcrun-lite/gpu/cupti/counters/nv_profiler_host.h"
#include "hpcrun-lite/gpu/cupti/nv_counter_list.h"

#include <stdint.h>

/*
 * Number of ranges before the values are taken out, which takes 6 ms. CUPTI uses 1.4 MB of memory
 * for each range.
 */
#define NV_COUNTER_RANGES 128u

struct nv_counter_session {
	CUcontext context;             /* NULL: not used */
	const struct nv_profiler *api;
	CUpti_RangeProfiler_Object *object; /* NULL: this context is not counted */
	void *host;
	bool is_on;                    /* kernels can be counted now */
	bool is_open;                  /* a range is open */
	const char *names[NV_MAX_COUNTERS + 1]; /* counters that this GPU has */
	uint32_t ids[NV_MAX_COUNTERS]; /* the run time's ids of these counters */
	unsigned n_counters;
	unsigned n_names; /* n_counters, plus 1 if the duration is counted for replays */
	size_t n_passes;
	const char *of_instructions;   /* a counter that needs replays; NULL: none */
	uint8_t *config, *image;
	size_t config_bytes, image_bytes;
	uint64_t launches[NV_COUNTER_RANGES]; /* operation ids; 0: nothing was launched */
	unsigned n_launches;
	uint64_t n_lost;               /* launches without values */
};

/* Why a session cannot count: `what` failed, and CUPTI's result was `r`. */
struct nv_counter_refusal {
	const char *what;
	CUptiResult r;
};

/* What was counted for a launch. */
struct nv_counted {
	uint64_t id;
	const double *values; /* one for each counter of the session */
	bool is_first;        /* first launch since values were last taken out */
	uint64_t ns;          /* duration of a replayed kernel; else 0 */
};

/*
 * Prepares the counters of `l` for s->context and counts its kernels from now on. On failure
 * returns false, and the session need not be ended. *absent is the first counter that the GPU does
 * not have, or NULL; the others are counted. If kernels must be replayed and `replays` is false, it
 * fails with why->what NULL.
 */
bool nv_counter_session_begin(struct nv_counter_session *s, const struct nv_counter_list *l,
			      uint32_t device, bool replays, const char **absent,
			      struct nv_counter_refusal *why);
static inline bool nv_counter_session_replays(const struct nv_counter_session *s)
{
	return s->n_passes > 1 || s->of_instructions;
}
/* Around the launch of a kernel. There must be room. id 0: nothing was launched. */
void nv_counter_session_enter(struct nv_counter_session *s);
void nv_counter_session_leave(struct nv_counter_session *s, uint64_t id);
/*
 * Waits for the kernels, stops counting and passes the values to `each`. Call start to go on.
 * Returns false if CUPTI fails; the session has then ended.
 */
bool nv_counter_session_take(struct nv_counter_session *s,
			     void (*each)(const struct nv_counter_session *s,
					  const struct nv_counted *c),
			     struct nv_counter_refusal *why);
bool nv_counter_session_start(struct nv_counter_session *s, struct nv_counter_refusal *why);
/* Ends the session. The context must still exist. */
void nv_counter_session_end(struct nv_counter_session *s);

#endif
