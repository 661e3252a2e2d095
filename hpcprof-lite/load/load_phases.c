/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_phases.h. Test: tests/unit/prof_parallel/test_view_phases.c. */
#include "hpcprof-lite/load/load_phases.h"

#include "common/base/sorted.h"

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

static bool is_plausible(const struct load_phase *p)
{
	return p->enter_ns <= LOAD_LONGEST_NS && p->leave_ns <= LOAD_LONGEST_NS &&
	       (!p->leave_ns || p->leave_ns >= p->enter_ns) &&
	       (p->mpi_ns == UINT64_MAX || p->mpi_ns <= LOAD_LONGEST_NS);
}

enum status load_phases(struct load_file *f, const struct msr_view *v)
{
	const uint32_t stride = v->extent->record_bytes;
	if (stride < sizeof(struct msr_phase) || stride % 8) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	for (uint64_t at = 0; v->n_bytes - at >= stride; at += stride) {
		const struct msr_phase *r = (const void *)(v->content + at);
		const uint64_t leave_ns = get(&r->leave_ns);
		const struct load_phase phase = {
			.enter_ns = r->enter_ns,
			.leave_ns = leave_ns,
			.mpi_ns = leave_ns && r->thread == 0 ? get(&r->mpi_ns) : UINT64_MAX,
			.thread = r->thread,
			.node = r->node};
		if (!is_plausible(&phase)) {
			f->bytes_damaged += stride;
			continue;
		}
		struct load_phase *new = vec_push(&f->phases);
		if (!new)
			return STATUS_NO_MEMORY;
		*new = phase;
	}
	f->bytes_damaged += v->n_bytes % stride;
	return STATUS_OK;
}

static bool has_place(const struct load_file *f, const struct load_phase *p, size_t thread)
{
	if (thread == f->threads.n || f->threads.at[thread].number != p->thread)
		return false;
	const struct load_thread *t = &f->threads.at[thread];
	return p->node < t->n_nodes && (!t->node_to || t->node_to[p->node] != LOAD_DAMAGED);
}

void load_check_phases(struct load_file *f)
{
	for (size_t i = 0; i < f->phases.n; i++) {
		struct load_phase *p = &f->phases.at[i];
		size_t thread = sorted_below(f->threads.at, f->threads.n, number, p->thread);
		if (!p->node)
			continue;
		if (!has_place(f, p, thread)) {
			f->bytes_damaged += sizeof(struct msr_phase);
			p->node = 0;
		}
		p->thread = (uint32_t)thread;
	}
}
