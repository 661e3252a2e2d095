/* SPDX-License-Identifier: BSD-3-Clause */
/* See nccl_times.h. Test: tests/unit/prof_nccl/test_nccl.c. */
#include "hpcprof-lite/attribute/nccl/nccl_times.h"

#include "hpcprof-lite/attribute/nccl/nccl_names.h"

#include <stdlib.h>

enum { CHUNK = 64 };

enum work { WORK_NCCL, WORK_COMPUTE, WORK_COPY, N_WORKS };

/* A time line without overlapping operations, and its operation that runs or comes next. */
struct lane {
	struct model_gpu_cursor cursor;
	struct model_gpu_op ops[CHUNK];
	size_t n, next;
	bool is_on;
};

struct sweep {
	const struct model *m;
	const uint8_t *kind_of;
	uint64_t n_on[N_WORKS];
	struct model_nccl_device *d;
};

static bool has_op(const struct sweep *s, struct lane *l, uint32_t profile)
{
	if (l->next == l->n) {
		l->n = model_gpu_read(s->m, profile, &l->cursor, l->ops, CHUNK);
		l->next = 0;
	}
	return l->next < l->n;
}

static enum work work_of(const struct sweep *s, const struct model_gpu_op *op)
{
	if (op->kind == MSR_GPU_COPY || op->kind == MSR_GPU_SET)
		return WORK_COPY;
	if (op->kind != MSR_GPU_KERNEL)
		return N_WORKS;
	const uint32_t function = s->m->contexts[op->context].function;
	return function != MODEL_NONE && s->kind_of[function] ? WORK_NCCL : WORK_COMPUTE;
}

static void account(struct sweep *s, uint64_t ns)
{
	struct model_nccl_device *d = s->d;
	if (s->n_on[WORK_NCCL])
		d->nccl_ns += ns;
	if (s->n_on[WORK_COMPUTE])
		d->compute_ns += ns;
	if (s->n_on[WORK_NCCL] && s->n_on[WORK_COMPUTE])
		d->overlap_ns += ns;
	if (!s->n_on[WORK_NCCL] && !s->n_on[WORK_COMPUTE] && s->n_on[WORK_COPY])
		d->copy_ns += ns;
}

static uint64_t next_of(const struct lane *l)
{
	return l->is_on ? l->ops[l->next].end_ns : l->ops[l->next].start_ns;
}

/* Begins or ends the operation of the lane. */
static void change(struct sweep *s, struct lane *l)
{
	const enum work c = work_of(s, &l->ops[l->next]);
	if (c < N_WORKS)
		s->n_on[c] += l->is_on ? UINT64_MAX : 1;
	s->d->n_kernels += c == WORK_NCCL && l->is_on;
	l->next += l->is_on;
	l->is_on = !l->is_on;
}

static void sweep(struct sweep *s, struct lane *lanes, uint32_t first, uint32_t n)
{
	uint64_t at_ns = 0;
	for (;;) {
		struct lane *soonest = NULL;
		for (uint32_t i = 0; i < n; i++)
			if (has_op(s, &lanes[i], first + i) &&
			    (!soonest || next_of(&lanes[i]) < next_of(soonest)))
				soonest = &lanes[i];
		if (!soonest)
			return;
		const uint64_t ns = next_of(soonest);
		account(s, ns > at_ns ? ns - at_ns : 0);
		at_ns = ns;
		change(s, soonest);
	}
}

bool nccl_times_find(const struct model *m, const uint8_t *kind_of, uint32_t first, uint32_t end,
		     struct model_nccl_device *d)
{
	const struct model_process *p = &m->processes[d->process];
	struct sweep s = {.m = m, .kind_of = kind_of, .d = d};
	struct lane *lanes = calloc((size_t)(end - first) + 1, sizeof *lanes);
	if (!lanes)
		return false;
	sweep(&s, lanes, first, end - first);
	free(lanes);
	const uint64_t whole_ns = p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0,
		       busy_ns = d->nccl_ns + d->compute_ns - d->overlap_ns + d->copy_ns,
		       on_ns = whole_ns > p->off_ns ? whole_ns - p->off_ns : 0;
	d->elapsed_ns = on_ns > busy_ns ? on_ns : busy_ns;
	d->idle_ns = d->elapsed_ns - busy_ns;
	return true;
}
