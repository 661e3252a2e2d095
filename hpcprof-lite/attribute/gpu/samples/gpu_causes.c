/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_causes.h. Test: tests/unit/prof_gpu/test_gpu_blame.c. */
#include "hpcprof-lite/attribute/gpu/samples/gpu_causes.h"

#include "hpcprof-lite/attribute/gpu/samples/gpu_calls.h"

#define SCALE ((uint64_t)1 << 20) /* so that a far cause keeps a weight above 0 */
/* These bound the sum of the weights. A wait has up to 8 causes, or more if its file is damaged. */
#define MOST_EXECUTIONS ((uint64_t)1 << 32)
#define MOST_CAUSES 64

/* True if the operation's data may come from memory outside of the SM. */
static bool is_of_memory(enum structure_operation operation)
{
	switch (operation) {
	case STRUCTURE_GLOBAL_LOAD:
	case STRUCTURE_STRONG_LOAD:
	case STRUCTURE_GLOBAL_STORE:
	case STRUCTURE_GLOBAL_ATOMIC:
	case STRUCTURE_LOCAL_LOAD:
	case STRUCTURE_LOCAL_STORE:
	case STRUCTURE_GENERIC_LOAD:
	case STRUCTURE_GENERIC_STORE:
	case STRUCTURE_GENERIC_ATOMIC:
	case STRUCTURE_TEXTURE:
	case STRUCTURE_SURFACE:
	case STRUCTURE_ASYNC_COPY:
	case STRUCTURE_TENSOR_MEMORY:
	case STRUCTURE_CALL: return true;
	default: return false;
	}
}

/* True if the cause explains a wait of this kind. A call may hide any operation. */
static bool explains(const struct structure_cause *c, enum gpu_dependency d)
{
	bool is_late = c->kind == STRUCTURE_WAIT_RESULT || c->kind == STRUCTURE_WAIT_OPERANDS;
	switch (d) {
	case GPU_DEPENDS_ON_MEMORY: return is_late && is_of_memory(c->operation);
	case GPU_DEPENDS_ON_CHIP:
		return is_late && (c->operation == STRUCTURE_CALL || !is_of_memory(c->operation));
	case GPU_DEPENDS_ON_ISSUE: return c->kind == STRUCTURE_WAIT_FIXED;
	case GPU_DEPENDS_ON_WARPS: return c->kind == STRUCTURE_WAIT_WARPS;
	case GPU_DEPENDS_ON_FENCE: return c->operation == STRUCTURE_FENCE;
	default: return false;
	}
}

static uint64_t weigh(const struct structure_cause *c, uint64_t n_cause)
{
	n_cause = n_cause < MOST_EXECUTIONS ? n_cause : MOST_EXECUTIONS;
	return (1 + n_cause) * SCALE / (1 + c->cycles);
}

/*
 * The time of a path into a barrier. A path that few warps take is not faster for that reason. A
 * path without samples counts as not taken if the barrier has at least MANY.
 */
static uint64_t path_cycles(const struct structure_cause *c, uint64_t n_cause, uint64_t n_barrier)
{
	enum { MANY = 256 };
	if (n_cause == 0 && n_barrier >= MANY)
		return 0;
	n_cause = n_cause < MOST_EXECUTIONS ? n_cause : MOST_EXECUTIONS;
	return n_cause > n_barrier ? c->cycles * (1 + n_cause) / (1 + n_barrier) : c->cycles;
}

/* Subtracts the time of the fastest path that was taken, because no warp waits for it. */
static void subtract_fastest(gpu_causes *causes)
{
	uint64_t fastest = UINT64_MAX;
	for (size_t i = 0; i < causes->n; i++)
		if (causes->at[i].weight && causes->at[i].weight < fastest)
			fastest = causes->at[i].weight;
	bool has_slower = false;
	for (size_t i = 0; i < causes->n; i++)
		has_slower |= causes->at[i].weight > fastest;
	for (size_t i = 0; has_slower && i < causes->n; i++)
		causes->at[i].weight -= causes->at[i].weight ? fastest : 0;
}

/* Adds the preceding instruction as a cause. Structures do not list its fixed latency. */
static bool add_before(gpu_causes *causes, const struct structure *s, uint64_t link_addr)
{
	uint64_t before = link_addr - GPU_CALLS_INSTRUCTION;
	uint32_t function = gpu_calls_function_at(s, link_addr);
	if (link_addr < GPU_CALLS_INSTRUCTION || function == STRUCTURE_NONE ||
	    gpu_calls_function_at(s, before) != function)
		return true;
	struct gpu_cause *new = vec_push(causes);
	if (new)
		*new = (struct gpu_cause){.link_addr = before,
					  .weight = 1,
					  .kind = STRUCTURE_WAIT_FIXED,
					  .is_before = true};
	return new != NULL;
}

bool gpu_causes_find(gpu_causes *causes, const struct structure *s, uint64_t link_addr,
		     enum gpu_dependency d,
		     uint64_t (*executions)(const void *arg, uint64_t link_addr), const void *arg)
{
	struct structure_wait wait = {.n = 0};
	bool any_used = false;
	vec_clear(causes);
	if (!structure_find_wait(s, link_addr, &wait))
		wait.n = 0;
	wait.n = wait.n < MOST_CAUSES ? wait.n : MOST_CAUSES;
	for (size_t i = 0; i < wait.n; i++) {
		struct structure_cause c = structure_get_cause(s, wait.first + i);
		any_used |= c.is_used && explains(&c, d);
	}
	for (size_t i = 0; i < wait.n; i++) {
		struct structure_cause c = structure_get_cause(s, wait.first + i);
		if (!explains(&c, d) || c.is_used != any_used)
			continue;
		uint64_t n = executions(arg, c.link_addr),
			 weight = d == GPU_DEPENDS_ON_WARPS
					  ? path_cycles(&c, n, executions(arg, link_addr))
					  : weigh(&c, n);
		struct gpu_cause *new = vec_push(causes);
		if (!new)
			return false;
		*new = (struct gpu_cause){.link_addr = c.link_addr,
					  .weight = weight,
					  .kind = c.kind,
					  .operation = c.operation,
					  .is_carried = c.is_carried,
					  .is_chained = c.is_chained};
	}
	if (d == GPU_DEPENDS_ON_WARPS)
		subtract_fastest(causes);
	return causes->n || d != GPU_DEPENDS_ON_ISSUE || add_before(causes, s, link_addr);
}
