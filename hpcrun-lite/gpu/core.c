/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU core: start, fork, end; see core.h. Never allocates. Tests:
 * tests/unit/gpu/test_gpu_core.c, tests/cli/gpu/gpu_core.sh.
 */
#include "hpcrun-lite/gpu/core.h"

#include "hpcrun-lite/gpu/host.h"
#include "hpcrun-lite/gpu/core_internal.h"
#include "hpcrun-lite/gpu/lock.h"

#include <string.h>

/* ---- streams ---- */

static void set_stream(struct stream *s, enum msr_kind kind, size_t record_bytes,
		       uint32_t n_writers, struct gpu_backend *owner)
{
	s->kind = kind;
	s->record_bytes = (uint16_t)record_bytes;
	s->n_writers = n_writers;
	s->owner = owner;
}

static void set_streams(void)
{
	set_stream(&gpu_core.definitions, MSR_GPU_DEFINITION, 0, 1, NULL);
	set_stream(&gpu_core.shapes, MSR_GPU_SHAPE, sizeof(struct msr_gpu_shape), 1, NULL);
	set_stream(&gpu_core.clocks, MSR_GPU_CLOCK, sizeof(struct msr_gpu_clock), 1, NULL);
	set_stream(&gpu_core.pcs, MSR_GPU_PC, sizeof(struct msr_gpu_pc), 1, NULL);
	set_stream(&gpu_core.pc_ranges, MSR_GPU_PC_RANGE, sizeof(struct msr_gpu_pc_range), 1, NULL);
	set_stream(&gpu_core.values, MSR_GPU_VALUE, sizeof(struct msr_gpu_value), 0, NULL);
	set_stream(&gpu_core.energies, MSR_GPU_ENERGY, sizeof(struct msr_gpu_energy), 1, NULL);
	set_stream(&gpu_core.graph_nodes, MSR_GPU_GRAPH_NODE, sizeof(struct msr_gpu_graph_node), 0,
		   NULL);
	for (struct gpu_backend *b = gpu_core.backend; b < gpu_core.backend + GPU_MAX_BACKENDS;
	     b++) {
		set_stream(&b->launches, MSR_GPU_LAUNCH, sizeof(struct msr_gpu_launch), 0, b);
		set_stream(&b->short_ops, MSR_GPU_OP, MSR_GPU_OP_SHORT, 0, b);
		set_stream(&b->long_ops, MSR_GPU_OP, MSR_GPU_OP_LONG, 0, b);
		set_stream(&b->aggregates, MSR_GPU_AGGREGATE, sizeof(struct msr_gpu_aggregate), 1,
			   NULL);
		set_stream(&b->launch_pcs, MSR_GPU_PC, sizeof(struct msr_gpu_pc), 1, b);
		set_stream(&b->place_pcs, MSR_GPU_PC, sizeof(struct msr_gpu_pc_at), 1, NULL);
	}
}

/* Returns false if `fn` returned false for some stream. */
static bool each_stream(bool (*fn)(struct stream *))
{
	struct stream *const common[] = {
		&gpu_core.definitions, &gpu_core.shapes, &gpu_core.clocks,     &gpu_core.pcs,
		&gpu_core.pc_ranges,   &gpu_core.values, &gpu_core.graph_nodes,
		&gpu_core.energies};
	bool all = true;
	for (size_t i = 0; i < sizeof common / sizeof *common; i++)
		all = fn(common[i]) && all;
	for (struct gpu_backend *b = gpu_core.backend; b < gpu_core.backend + GPU_MAX_BACKENDS;
	     b++) {
		struct stream *const own[] = {&b->launches,   &b->short_ops,  &b->long_ops,
					      &b->aggregates, &b->launch_pcs, &b->place_pcs};
		for (size_t i = 0; b->name && i < sizeof own / sizeof *own; i++)
			all = fn(own[i]) && all;
	}
	return all;
}

/* ---- life ---- */

static void begin_generation(void)
{
	atomic_store_explicit(&gpu_core.aggregating, gpu_core.runtime->max_record_bytes == 0,
			      memory_order_relaxed);
	atomic_store_explicit(&gpu_core.closed, false, memory_order_relaxed);
	atomic_fetch_add_explicit(&gpu_core.generation, 1, memory_order_release);
}

void gpu_start(const struct gpu_runtime *runtime)
{
	set_streams();
	gpu_core.runtime = runtime;
	begin_generation();
}

const struct gpu_host *gpu_open(unsigned number, const char *name, const char *options)
{
	struct gpu_backend *b = &gpu_core.backend[number];
	b->options = options;
	b->name = name;
	gpu_tally_of(b);
	return host_table(number);
}

static bool forget_stream(struct stream *s)
{
	stream_forget(s);
	return true;
}

static void forget_backend(struct gpu_backend *b)
{
	for (unsigned i = 0; i < GPU_N_TALLIES; i++)
		atomic_store_explicit(&b->tally[i], NULL, memory_order_relaxed);
	memset(&b->spare, 0, sizeof b->spare);
	atomic_store_explicit(&b->next_id, 0, memory_order_relaxed);
	index_clear(&b->aggregate_index);
	index_clear(&b->place_pc_index);
	pending_clear(&b->pending);
}

void gpu_forked(void)
{
	if (!gpu_core.runtime)
		return;
	gpu_lock_sp = 0;
	launch_forget();
	trylock_give(&gpu_core.tally_lock);
	each_stream(forget_stream);
	index_clear(&gpu_core.interned);
	index_clear(&gpu_core.interned_shapes);
	index_clear(&gpu_core.pc_index);
	for (unsigned i = 0; i < sizeof gpu_core.n_defined / sizeof *gpu_core.n_defined; i++)
		atomic_store_explicit(&gpu_core.n_defined[i], 0, memory_order_relaxed);
	for (unsigned i = 0; i < sizeof gpu_core.sequence / sizeof *gpu_core.sequence; i++)
		atomic_store_explicit(&gpu_core.sequence[i], 0, memory_order_relaxed);
	atomic_store_explicit(&gpu_core.n_shapes, 0, memory_order_relaxed);
	atomic_store_explicit(&gpu_core.n_clocks, 0, memory_order_relaxed);
	atomic_store_explicit(&gpu_core.record_bytes, 0, memory_order_relaxed);
	atomic_store_explicit(&gpu_core.noted, 0, memory_order_relaxed);
	atomic_store_explicit(&gpu_core.full_until_ns, 0, memory_order_relaxed);
	for (unsigned i = 0; i < GPU_MAX_BACKENDS; i++)
		forget_backend(&gpu_core.backend[i]);
	begin_generation();
}

bool gpu_finish(void)
{
	if (!gpu_core.runtime)
		return true;
	/* Sequential consistency: a thread that takes a stream's lock after us sees this. */
	atomic_store_explicit(&gpu_core.closed, true, memory_order_seq_cst);
	return each_stream(stream_finish);
}

void gpu_reopen(void)
{
	atomic_store_explicit(&gpu_core.closed, false, memory_order_seq_cst);
}
