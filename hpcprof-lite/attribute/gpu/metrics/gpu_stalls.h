/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stall reasons that we know by name: HPCToolkit's short name if it means the same, what the reason
 * means, and what to look at. Other reasons keep the vendor's name. Test:
 * tests/unit/prof_gpu/test_gpu_samples.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_METRICS_GPU_STALLS_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_METRICS_GPU_STALLS_H

#include <stdbool.h>

/* What an instruction waits for. The possible causes differ between kinds; see gpu_causes.h. */
enum gpu_dependency {
	GPU_DEPENDS_ON_NOTHING,  /* a busy unit, a full queue, the next instructions */
	GPU_DEPENDS_ON_MEMORY,   /* data from global, local or texture memory */
	GPU_DEPENDS_ON_CHIP,     /* data from a unit on the SM, for example shared memory */
	GPU_DEPENDS_ON_ISSUE,    /* a result that takes a fixed latency */
	GPU_DEPENDS_ON_WARPS,    /* other warps at a barrier */
	GPU_DEPENDS_ON_FENCE,
	GPU_N_DEPENDENCIES
};

struct gpu_stall {
	const char *reason;      /* the vendor's, without its prefix: "long_scoreboard" */
	const char *short_name;  /* HPCToolkit's: "GMEM"; NULL: there is none */
	const char *description; /* one line */
	/* one line of advice: what to look at; "" for reasons that are not stalls */
	const char *hint;
	/*
	 * The reason takes the same time whenever the instruction is reached, so its samples count
	 * how often the instruction is reached.
	 */
	bool counts_issues;
};

/*
 * Looks up a reason by the vendor's name, with or without prefix and "_not_issued". NULL: unknown.
 */
const struct gpu_stall *gpu_stall_of(const char *vendor);
enum gpu_dependency gpu_stall_dependency(const struct gpu_stall *s);
/*
 * "GINS:STL_GMEM"; only_not_issued: "GINS:STL_GMEM_NI". The caller owns it. NULL: memory is short.
 */
char *gpu_stall_metric_name(const char *vendor, bool only_not_issued);
/* Returns "GMEM" from a metric name, as a pointer into it. */
const char *gpu_stall_reason(const char *metric_name);
/* True if `idle` is "GMEM_NI" and `reason` is "GMEM". */
bool gpu_stall_is_idle_part(const char *idle, const char *reason);

#endif
