/* SPDX-License-Identifier: BSD-3-Clause */
/* Stall reasons that are known by name: HPCToolkit's short name where it means the same, what it means, and what to look at. Others go by the vendor's name. Test: tests/unit/test_gpu_samples.c. */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_STALLS_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_STALLS_H

#include <stdbool.h>

struct gpu_stall {
	const char *reason;      /* the vendor's, without its prefix: "long_scoreboard" */
	const char *short_name;  /* HPCToolkit's: "GMEM"; NULL: it has none */
	const char *description; /* one line */
	const char *hint;        /* one line for people: what to look at; "" for what is no stall */
	bool counts_issues;      /* takes the same time whenever an instruction is reached, so that samples with it count how often that was */
};

/* By the vendor's name, with prefix and "_not_issued" or without; NULL: not known. */
const struct gpu_stall *gpu_stall_of(const char *vendor);
/* "GINS:STL_GMEM"; only_not_issued: "GINS:STL_GMEM_NI". Owned by the caller; NULL: no memory. */
char *gpu_stall_metric_name(const char *vendor, bool only_not_issued);
/* "GMEM" of such a name; borrowed from it. */
const char *gpu_stall_reason(const char *metric_name);
/* `idle` is "GMEM_NI" where `reason` is "GMEM". */
bool gpu_stall_is_idle_part(const char *idle, const char *reason);

#endif
