/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations: the result of a launch. An operation is a record in the extents that all threads
 * share, or is added to an aggregate. Records with queue and submit times are longer and have their
 * own extents. Test: tests/unit/gpu/test_gpu_core.c; speed: tests/bench/bench_gpu.c.
 */
#include "hpcrun-lite/gpu/core_internal.h"

#include <string.h>

static void write_op(struct gpu_backend *b, const struct msr_gpu_op *op, bool is_long)
{
	struct msr_gpu_tally *tally = gpu_tally_of(b);
	size_t n = is_long ? MSR_GPU_OP_LONG : MSR_GPU_OP_SHORT;
	struct writer *w;
	enum msr_gpu_loss cause;
	void *at = stream_begin(is_long ? &b->long_ops : &b->short_ops, 0, n, &w, &cause);
	if (!at) {
		gpu_count(&tally->op_losses[cause], 1);
		return;
	}
	memcpy(at, op, n);
	stream_end(w, n);
	gpu_count(&tally->n_ops, 1);
}

static uint32_t before(uint64_t start_ns, uint64_t ns)
{
	if (!ns || (ns < start_ns && start_ns - ns >= UINT32_MAX))
		return UINT32_MAX;
	return ns < start_ns ? (uint32_t)(start_ns - ns) : 0;
}

static bool is_in_order(const struct gpu_op *op)
{
	return op->start_ns <= op->end_ns &&
	       (!op->has_waits || ((!op->submitted_ns || op->submitted_ns <= op->start_ns) &&
				   op->queued_ns <= op->start_ns &&
				   (!op->submitted_ns || op->queued_ns <= op->submitted_ns)));
}

static void write_done(struct gpu_backend *b, uint64_t id, unsigned kind, const struct gpu_op *op)
{
	const struct msr_gpu_op r = {
		.id_kind = msr_gpu_op_make(id, kind, op->detail),
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		.amount = op->amount,
		.queue = op->queue,
		.shape = op->shape,
		.queued_before_ns = before(op->start_ns, op->queued_ns),
		.submitted_before_ns = before(op->start_ns, op->submitted_ns),
	};
	write_op(b, &r, op->has_waits);
}

/* why: NULL if the launch was not refused */
static void write_lost(struct gpu_backend *b, uint64_t id, unsigned kind, enum msr_gpu_loss cause,
		       const struct gpu_refusal *why)
{
	const struct msr_gpu_op r = {.id_kind = msr_gpu_op_make(id, kind | MSR_GPU_OP_LOST, cause),
				     .end_ns = why ? why->bytes : 0,
				     .amount = why ? why->error : 0,
				     .shape = why ? why->context : 0};
	gpu_count(&gpu_tally_of(b)->lost[(unsigned)cause % MSR_GPU_LOSS_ROOM], 1);
	write_op(b, &r, false);
}

/* ---- summed up ---- */

static void sum_done(struct gpu_backend *b, uint32_t thread, uint32_t node, unsigned kind,
		     const struct gpu_op *op)
{
	const struct aggregate_key key = {.thread = thread,
					  .node = node,
					  .queue = op->queue,
					  .shape = kind == MSR_GPU_KERNEL ? op->shape : 0,
					  .kind = (uint16_t)kind,
					  .detail = (uint16_t)(op->detail & 255u)};
	enum msr_gpu_loss cause;
	struct msr_gpu_aggregate *a = aggregate_find(b, &key, &cause);
	if (!a) {
		gpu_count(&gpu_tally_of(b)->op_losses[cause], 1);
		return;
	}
	gpu_count(&a->n_ops, 1);
	gpu_count(&a->busy_ns, op->end_ns > op->start_ns ? op->end_ns - op->start_ns : 0);
	/* the amount of a kernel is the number of its graph node, not a quantity */
	gpu_count(&a->amount, kind == MSR_GPU_KERNEL ? 0 : op->amount);
}

/* error: the vendor's, if the launch was refused; else 0 */
static void sum_lost(struct gpu_backend *b, uint32_t thread, uint32_t node, unsigned kind,
		     enum msr_gpu_loss cause, uint32_t error)
{
	const uint16_t detail = error < UINT16_MAX ? (uint16_t)error : UINT16_MAX;
	const struct aggregate_key key = {
		.thread = thread, .node = node, .kind = (uint16_t)kind, .detail = detail};
	struct msr_gpu_tally *tally = gpu_tally_of(b);
	enum msr_gpu_loss why = cause;
	bool has_place = cause >= MSR_GPU_LOSS_REFUSED && cause <= MSR_GPU_LOSS_NO_TIMES;
	struct msr_gpu_aggregate *a = has_place ? aggregate_find(b, &key, &why) : NULL;
	if (!a) {
		gpu_count(&tally->op_losses[(unsigned)why % MSR_GPU_LOSS_ROOM], 1);
		return;
	}
	gpu_count(&a->n_lost[cause - MSR_GPU_LOSS_REFUSED], 1);
	gpu_count(&tally->lost[cause], 1);
}

/* ---- reports of back ends */

static void check_order(struct gpu_backend *b, const struct gpu_op *op)
{
	if (!is_in_order(op))
		gpu_count(&gpu_tally_of(b)->n_bad_order, 1);
}

/*
 * The operation was reported by its ticket, so its launch is no longer in flight. If the back end
 * chooses ids, the launch is in the table of pending launches.
 */
static void forget_pending(struct gpu_backend *b, uint64_t id)
{
	struct pending_launch l;
	if (pending_is_used(&b->pending))
		pending_take(&b->pending, id, &l);
}

void op_record(struct gpu_backend *b, const struct gpu_ticket *t, const struct gpu_op *op)
{
	unsigned kind = op->kind ? (unsigned)op->kind & 15u : t->kind;
	if (!t->id)
		return;
	check_order(b, op);
	if (!t->aggregated) {
		write_done(b, t->id, kind, op);
		return;
	}
	forget_pending(b, t->id);
	sum_done(b, t->thread, t->node, kind, op);
}

void op_lost(struct gpu_backend *b, const struct gpu_ticket *t, enum msr_gpu_loss cause)
{
	if (!t->id)
		return;
	if (!t->aggregated) {
		write_lost(b, t->id, t->kind, cause, NULL);
		return;
	}
	forget_pending(b, t->id);
	sum_lost(b, t->thread, t->node, t->kind, cause, 0);
}

/* PENDING_RECORDED as long as nothing is summed up and no launch was lost. */
static enum pending_found find_launch(struct gpu_backend *b, uint64_t id, struct pending_launch *l)
{
	if (!atomic_load_explicit(&gpu_core.aggregating, memory_order_acquire) &&
	    !pending_is_used(&b->pending))
		return PENDING_RECORDED;
	return pending_take(&b->pending, id, l);
}

void op_record_by_id(struct gpu_backend *b, uint64_t vendor_id, const struct gpu_op *op)
{
	uint64_t id = gpu_full_id(b, vendor_id);
	unsigned kind = (unsigned)op->kind & 15u;
	struct pending_launch l;
	check_order(b, op);
	switch (find_launch(b, id, &l)) {
	case PENDING_RECORDED:
		write_done(b, id, kind, op);
		break;
	case PENDING_FOUND:
		sum_done(b, l.thread, l.node, kind, op);
		break;
	case PENDING_BUSY:
		gpu_count(&gpu_tally_of(b)->op_losses[MSR_GPU_LOSS_BUSY], 1);
		break;
	case PENDING_GONE: /* counted when it was removed from the table */
		break;
	}
}

static void lose_by_id(struct gpu_backend *b, uint64_t vendor_id, enum msr_gpu_kind kind,
		       enum msr_gpu_loss cause, const struct gpu_refusal *why)
{
	uint64_t id = gpu_full_id(b, vendor_id);
	struct pending_launch l;
	switch (find_launch(b, id, &l)) {
	case PENDING_RECORDED: write_lost(b, id, (unsigned)kind & 15u, cause, why); break;
	case PENDING_FOUND:
		sum_lost(b, l.thread, l.node, (unsigned)kind & 15u, cause, why ? why->error : 0);
		break;
	case PENDING_BUSY:
		gpu_count(&gpu_tally_of(b)->op_losses[MSR_GPU_LOSS_BUSY], 1);
		break;
	case PENDING_GONE:
		break;
	}
}

void op_lost_by_id(struct gpu_backend *b, uint64_t vendor_id, enum msr_gpu_kind kind,
		   enum msr_gpu_loss cause)
{
	lose_by_id(b, vendor_id, kind, cause, NULL);
}

void op_refused_by_id(struct gpu_backend *b, uint64_t vendor_id, const struct gpu_refusal *why)
{
	lose_by_id(b, vendor_id, why->kind, MSR_GPU_LOSS_REFUSED, why);
}
