/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See gpu_stalls.h. The reasons are those of NVIDIA's GPUs since Volta (CUDA's profiling
 * documentation, "Warp Stall Reasons"). The names are from HPCToolkit 2024.01. If it uses one name
 * for several reasons, the nearest reason gets it. Test: tests/unit/prof_gpu/test_gpu_samples.c.
 */
#include "hpcprof-lite/attribute/gpu/metrics/gpu_stalls.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct gpu_stall stalls[] = {
	{"barrier", "SYNC", "waits for other warps at a barrier of the block",
	 "warps of a block do unequal work before __syncthreads(): smaller blocks", false},
	{"branch_resolving", NULL, "waits for the target of a branch",
	 "many short branches: fewer of them, or predication", true},
	{"dispatch_stall", NULL, "the dispatcher held the warp back",
	 "register bank or result bus conflicts; seldom the program's to mend", false},
	{"drain", NULL, "has ended, but its stores to memory are not out",
	 "many stores at the end of short threads: more work for a thread", false},
	{"gmma", NULL, "waits for the tensor cores' asynchronous products",
	 "longer pipelines of products, more independent ones", false},
	{"imc_miss", "CMEM", "waits for a constant that missed in the constant cache",
	 "constants indexed by thread: shared memory, or one index in a warp", false},
	{"lg_throttle", "MTHR", "the queue for local and global memory is full",
	 "too many small accesses: wider ones (float4), fewer spilled registers", false},
	{"long_scoreboard", "GMEM", "waits for data from global, local or texture memory",
	 "loads are not covered: better locality, coalescing, more loads in flight", false},
	{"math_pipe_throttle", "PIPE", "the arithmetic unit that it needs is busy",
	 "close to the limit of one unit: cheaper instructions, tensor cores", false},
	{"membar", NULL, "waits at a memory fence",
	 "__threadfence() with stores outstanding: fewer fences, a smaller scope", false},
	{"mio_throttle", NULL,
	 "the queue of the units for shared memory and special functions is full",
	 "many shared memory or special-function instructions: fewer or wider ones", false},
	{"misc", "OTHR", "other reasons", "no single cause is known", false},
	{"no_instruction", "IFET", "waits for its next instructions to be fetched",
	 "jumps in large code: less unrolling and inlining, more warps", false},
	{"no_instructions", "IFET", "waits for its next instructions to be fetched",
	 "jumps in large code: less unrolling and inlining, more warps", false},
	{"not_selected", "NSEL", "was ready, but another warp was chosen: no loss", "", false},
	{"selected", "NONE", "issued an instruction: no stall", "", true},
	{"short_scoreboard", NULL, "waits for shared memory, a special function or the like",
	 "bank conflicts in shared memory; many of sin, exp, rsqrt", false},
	{"sleeping", "SLP", "sleeps: all its threads asked for it",
	 "__nanosleep(): spinning on a lock or flag", false},
	{"tex_throttle", "TMEM", "the queue for textures is full",
	 "many texture or surface accesses: fewer or wider ones", false},
	{"wait", "IDEP", "waits a fixed time for the instruction before it",
	 "chains of dependent instructions: more independent work, more warps", true},
	{"warpgroup_arrive", NULL, "waits for its group of warps before a product on tensor cores",
	 "the other warps of the group are late: look at their stalls", false},
};

static const char prefix[] = "smsp__pcsamp_warps_issue_stalled_", tail[] = "_not_issued",
		  metric_prefix[] = "GINS:STL_", metric_tail[] = "_NI";

/* The vendor's reason without the prefix and suffix that its names share. *n: the length. */
static const char *reason_of(const char *vendor, size_t *n)
{
	const char *reason = strncmp(vendor, prefix, sizeof prefix - 1) == 0
				     ? vendor + sizeof prefix - 1
				     : vendor;
	*n = strlen(reason);
	if (*n > sizeof tail - 1 && strcmp(reason + *n - (sizeof tail - 1), tail) == 0)
		*n -= sizeof tail - 1;
	return reason;
}

static const struct gpu_stall *find(const char *reason, size_t n)
{
	for (size_t i = 0; i < sizeof stalls / sizeof *stalls; i++)
		if (strlen(stalls[i].reason) == n && memcmp(stalls[i].reason, reason, n) == 0)
			return &stalls[i];
	return NULL;
}

const struct gpu_stall *gpu_stall_of(const char *vendor)
{
	size_t n;
	const char *reason = reason_of(vendor, &n);
	return find(reason, n);
}

enum gpu_dependency gpu_stall_dependency(const struct gpu_stall *s)
{
	static const char *const reasons[GPU_N_DEPENDENCIES] = {
		[GPU_DEPENDS_ON_MEMORY] = "long_scoreboard",
		[GPU_DEPENDS_ON_CHIP] = "short_scoreboard",
		[GPU_DEPENDS_ON_ISSUE] = "wait",
		[GPU_DEPENDS_ON_WARPS] = "barrier",
		[GPU_DEPENDS_ON_FENCE] = "membar"};
	for (unsigned i = 0; i < GPU_N_DEPENDENCIES; i++)
		if (reasons[i] && strcmp(reasons[i], s->reason) == 0)
			return (enum gpu_dependency)i;
	return GPU_DEPENDS_ON_NOTHING;
}

char *gpu_stall_metric_name(const char *vendor, bool only_not_issued)
{
	size_t n;
	const char *reason = reason_of(vendor, &n);
	const struct gpu_stall *known = find(reason, n);
	char *name;
	/* named like a part of another reason, but not marked as one */
	if (!only_not_issued && reason[n]) {
		known = NULL;
		n = strlen(reason);
	}
	if (known && known->short_name) {
		reason = known->short_name;
		n = strlen(reason);
	}
	if (asprintf(&name, "%s%.*s%s", metric_prefix, (int)n, reason,
		     only_not_issued ? metric_tail : "") < 0)
		return NULL;
	for (char *at = name + sizeof metric_prefix - 1; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return name;
}

const char *gpu_stall_reason(const char *metric_name)
{
	return metric_name + sizeof metric_prefix - 1;
}

bool gpu_stall_is_idle_part(const char *idle, const char *reason)
{
	size_t n = strlen(reason);
	return strncmp(idle, reason, n) == 0 && strcmp(idle + n, metric_tail) == 0;
}
