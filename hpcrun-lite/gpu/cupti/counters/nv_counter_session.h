/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's calls for a context whose kernels are counted. If all counters fit one pass, we put a
 * range around each launch, whose name is its place in `launches`. The device then runs one kernel
 * at a time, but the CPU does not wait. If they need several passes, or counters of instructions,
 * which CUPTI counts only in kernels that it replays, CUPTI replays each kernel inside its launch,
 * one range for each, and the values are taken out right after it.
 *
 * One thread at a time may use a session. Test: tests/cli/gpu/counters.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTER_SESSION_H
#define HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_COUNTER_SESSION_H

#include "hpcrun-lite/gpu/cupti/counters/nv_profiler_host.h"
#include "hpcrun-lite/gpu/cupti/nv_counter_list.h"

#include <stdint.h>

/* Between two times of taking out, which take 6 ms. CUPTI uses 1.4 MB of memory for each. */
#define NV_COUNTER_RANGES 128u

struct nv_counter_session {
	CUcontext context;             /* NULL: not used */
	const struct nv_profiler *api;
	CUpti_RangeProfiler_Object *object; /* NULL: this context is not counted */
	void *host;
	bool is_on;                    /* kernels can be counted now */
	bool is_open;                  /* a range is */
	const char *names[NV_MAX_COUNTERS + 1]; /* of the counters that this GPU has */
	uint32_t ids[NV_MAX_COUNTERS]; /* the run time's ids of them */
	unsigned n_counters;
	unsigned n_names; /* with the duration, the last one, which only replays need */
	size_t n_passes;
	const char *of_instructions;   /* a counter that needs replays; NULL: none */
	uint8_t *config, *image;
	size_t config_bytes, image_bytes;
	uint64_t launches[NV_COUNTER_RANGES]; /* operation ids; 0: nothing was launched */
	unsigned n_launches;
	uint64_t n_lost;               /* launches without values */
};

/* Why a session cannot count: `what` failed with the result `r` of CUPTI. */
struct nv_counter_refusal {
	const char *what;
	CUptiResult r;
};

/* What was counted of a launch. */
struct nv_counted {
	uint64_t id;
	const double *values; /* by counter of the session */
	bool is_first;        /* since the last time of taking out */
	uint64_t ns;          /* of a replayed kernel; else 0 */
};

/*
 * Prepares the counters of `l` for a context and makes its kernels be counted from now on. On
 * failure returns false, and nothing remains to be ended. *absent is the first counter that the GPU
 * does not have, or NULL; the others are counted. If kernels would have to be replayed, it fails
 * unless `replays`, with why->what NULL.
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
 * Takes out what was counted, and stops. Waits for the kernels. start continues after that. False
 * if CUPTI fails; the session is ended then.
 */
bool nv_counter_session_take(struct nv_counter_session *s,
			     void (*each)(const struct nv_counter_session *s,
					  const struct nv_counted *c),
			     struct nv_counter_refusal *why);
bool nv_counter_session_start(struct nv_counter_session *s, struct nv_counter_refusal *why);
/* The context still exists. */
void nv_counter_session_end(struct nv_counter_session *s);

#endif
