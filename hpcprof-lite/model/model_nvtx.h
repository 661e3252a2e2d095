/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of the model: ranges and marks of NVTX, if the user asked for them (-e NVTX). Include
 * model.h.
 */
#ifndef HPCPROF_MODEL_MODEL_NVTX_H
#define HPCPROF_MODEL_MODEL_NVTX_H

#include "common/format/measurement_nvtx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * All ranges or marks of one kind with the same name, domain and category, in all processes and
 * threads. Times of ranges inside of others with the same name count twice; cpu_ns and gpu_ns do
 * not.
 */
struct model_nvtx_range {
	const char *label;    /* "DOMAIN: NAME [CATEGORY] at FILE:LINE", for people */
	const char *name;     /* as the program gave it; of XLA, the operation */
	const char *domain;   /* "": the default domain */
	const char *category; /* "": none */
	const char *source;   /* "FILE:LINE" that the program gave with it; "": none */
	uint8_t kind;         /* enum msr_nvtx_range_kind */
	uint64_t n;           /* ranges that ended, or marks */
	uint64_t n_open;      /* ranges that never ended */
	uint64_t ns, least_ns, most_ns;
	/* CPUTIME sampled in the range, and GPU work launched in it; pushed ranges only */
	uint64_t cpu_ns, gpu_ns;
	/* GPU work that other threads launched during the range while they were in no range */
	uint64_t gpu_others_ns;
	bool has_gpu_others;  /* gpu_others_ns is known */
	uint64_t n_values;    /* ranges or marks with a number as payload */
	double value_sum, value_least, value_most;
};

/* True for ranges whose thread is inside them from push to pop, so its work inside is known. */
static inline bool model_nvtx_is_pushed(const struct model_nvtx_range *r)
{
	return r->kind == MSR_NVTX_PUSHED;
}

/* One range or mark. */
struct model_nvtx_event {
	uint64_t enter_ns, leave_ns; /* CLOCK_REALTIME since the epoch; marks: equal */
	uint32_t range;              /* index of model_nvtx.ranges */
};

/* Ranges of one thread, in which any two are nested or apart. */
struct model_nvtx_track {
	uint32_t profile;     /* the thread; of STARTED ranges, the one that ended them */
	uint32_t lane;        /* 0; the others hold ranges that overlap without nesting */
	const struct model_nvtx_event *events; /* by enter_ns; an outer range before its inner */
	size_t n;
};

struct model_nvtx {
	const struct model_nvtx_range *ranges; /* by falling ns, then name */
	uint32_t n_ranges;
	/*
	 * False: the model is a part of the run. Then only the names and kinds of ranges are known,
	 * not their sums.
	 */
	bool has_sums;
	bool has_cpu, has_gpu;
	uint64_t n_lost;      /* ranges and marks that could not be recorded */
	const struct model_nvtx_track *tracks; /* by profile, then lane; none is empty */
	uint32_t n_tracks;
};

#endif
