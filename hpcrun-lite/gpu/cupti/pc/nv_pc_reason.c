/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stall reasons. CUPTI numbers them differently for each kind of chip. For each reason X it has two
 * counts: X for all samples, and X_not_issued for the samples in which the scheduler issued nothing
 * (doc/notes/cupti-facts.md A6). The file has one number per name. Test:
 * tests/unit/cupti/test_cupti_pc.c.
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"

#include "common/safe/text.h"

#include <string.h>

#define HEAD "smsp__pcsamp_warps_issue_stalled_"
#define TAIL "_not_issued"
#define MAX_NUMBERS 200u

static char known[MAX_NUMBERS][CUPTI_STALL_REASON_STRING_SIZE];
static unsigned n_known;

/* The meanings are from NVIDIA's documentation of these counters. */
static const struct {
	const char *reason, *meaning;
} meanings[] = {
	{"selected", "the warp was selected and issued an instruction"},
	{"not_selected", "the warp could have issued, and the scheduler took another"},
	{"long_scoreboard", "waited for data from global, local, surface or texture memory"},
	{"short_scoreboard", "waited for data from shared memory, or from a unit for special "
			     "functions or dynamic branches"},
	{"wait", "waited for a fixed number of cycles"},
	{"barrier", "waited for other warps at a barrier of the block"},
	{"branch_resolving", "waited for the target of a branch, and for the program counter"},
	{"dispatch_stall",
	 "the dispatcher held back an instruction that the scheduler had selected"},
	{"drain", "had ended and waited for its stores to memory"},
	{"imc_miss",
	 "waited for constant memory that was not in the cache for immediate constants"},
	{"lg_throttle", "waited for room in the queue of instructions to local and global memory"},
	{"math_pipe_throttle", "waited for a pipe of arithmetic that others used"},
	{"membar", "waited at a memory barrier"},
	{"mio_throttle", "waited for room in the queue of memory input and output: shared memory, "
			 "special functions, branches"},
	{"misc", "other reasons"},
	{"no_instructions", "waited for instructions to be fetched, or for the instruction cache"},
	{"no_instruction", "waited for instructions to be fetched, or for the instruction cache"},
	{"sleeping", "slept by its own instruction"},
	{"tex_throttle", "waited for room in the queue of texture instructions"},
	{"gmma", "waited for a matrix multiplication of a group of warps"},
	{"warpgroup_arrive",
	 "waited at a barrier of its group of warps, for a matrix multiplication"},
};

static bool ends_in(const char *name, const char *tail)
{
	size_t n = strlen(name), m = strlen(tail);
	return n > m && !strcmp(name + n - m, tail);
}

static const char *meaning_of(const char *reason, size_t n)
{
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
		if (strlen(meanings[i].reason) == n && !memcmp(meanings[i].reason, reason, n))
			return meanings[i].meaning;
	return "";
}

static void tell(unsigned number, const char *name, bool not_issued)
{
	char line[256];
	struct text t = text_in(line, sizeof line);
	const char *reason = !strncmp(name, HEAD, sizeof HEAD - 1) ? name + sizeof HEAD - 1 : name;
	size_t n = strlen(reason) - (not_issued ? sizeof TAIL - 1 : 0);
	text_put(&t, meaning_of(reason, n));
	if (not_issued)
		text_put(&t,
			 t.n ? "; the scheduler issued nothing" : "the scheduler issued nothing");
	bool is_issued = !not_issued && n == strlen("selected") && !memcmp(reason, "selected", n);
	nv.host->stall(nv.host, number, name, line, 0,
		       not_issued  ? MSR_GPU_STALL_ONLY_NOT_ISSUED
		       : is_issued ? MSR_GPU_STALL_ISSUED
				   : 0);
}

struct nv_pc_reason nv_pc_reason_named(const char *name)
{
	bool not_issued = ends_in(name, TAIL);
	if (!*name || ends_in(name, "pcsamp_sample_count") ||
	    ends_in(name, "pcsamp_samples_data_dropped"))
		return (struct nv_pc_reason){NV_PC_COUNT_NOTHING, 0};
	unsigned number = 0;
	while (number < n_known && strcmp(known[number], name) != 0)
		number++;
	if (number == MAX_NUMBERS)
		return (struct nv_pc_reason){NV_PC_COUNT_NOTHING, 0};
	if (number == n_known) {
		struct text t = text_in(known[n_known++], sizeof known[0]);
		text_put(&t, name);
		tell(number, name, not_issued);
	}
	return (struct nv_pc_reason){not_issued ? NV_PC_COUNT_NOT_ISSUED : NV_PC_COUNT_SAMPLE,
				     (uint8_t)number};
}
