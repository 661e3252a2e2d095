/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_sums.h. Test: tests/cli/gpu/gpu_core.sh. */
#include "hpcrun-lite/runtime/report/gpu_sums.h"

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

void gpu_sums_add(struct gpu_sums *s, const struct msr_gpu_tally *t)
{
	for (unsigned i = 0; i < sizeof t->launched / sizeof *t->launched; i++) {
		s->launched += get(&t->launched[i]);
		s->recorded += get(&t->recorded[i]);
		s->aggregated += get(&t->aggregated[i]);
	}
	for (unsigned i = 0; i < MSR_GPU_LOSS_ROOM; i++)
		s->lost[i] += get(&t->launch_losses[i]) + get(&t->op_losses[i]) + get(&t->lost[i]);
	s->n_ops += get(&t->n_ops);
	s->handler_ns += get(&t->handler_ns);
	s->record_bytes += get(&t->record_bytes);
	s->n_unknown_calls += get(&t->n_unknown_calls);
	s->n_bad_order += get(&t->n_bad_order);
	s->n_lost_definitions += get(&t->n_lost_definitions);
	s->n_lost_contents += get(&t->n_lost_contents);
	s->n_lost_pc += get(&t->n_lost_pc);
	s->n_lost_values += get(&t->n_lost_values);
}

uint64_t gpu_sums_lost(const struct gpu_sums *s)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < MSR_GPU_LOSS_ROOM; i++)
		n += i == MSR_GPU_LOSS_NO_PATH ? 0 : s->lost[i];
	return n;
}
