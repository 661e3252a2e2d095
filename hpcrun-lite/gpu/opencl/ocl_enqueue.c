/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of all enqueues. It supplies an event if the program wants none, records the
 * launch if the call succeeded, and remembers the operation in flight. Tests:
 * tests/unit/opencl/test_opencl_layer.c, tests/bench/bench_enqueue.sh.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"

#include <errno.h>

void ocl_enqueue_begin(struct ocl_enqueue *e, struct ocl_state *s, cl_event *theirs)
{
	bool is_off = s && ocl_host->is_off(ocl_host);
	*e = (struct ocl_enqueue){.s = is_off ? NULL : s, .at = theirs};
	if (!e->s)
		return;
	e->theirs = theirs;
	if (!theirs)
		e->at = &e->own;
	e->enter_ns = clock_mono_ns();
}

/* Records the launch. Passes the operation to the queue, or releases the event. */
static void record(struct ocl_enqueue *e, struct ocl_queue *q, cl_event event,
		   const struct ocl_what *what)
{
	struct ocl_state *s = e->s;
	struct ocl_pending p = {.event = event,
				.amount = what->amount,
				.shape = what->shape,
				.detail = (uint8_t)what->detail,
				.enter_ns = e->enter_ns};
	p.for_clock = q->timed && ocl_clock_wants(q->device->clock, e->enter_ns);
	if (p.for_clock) {
		p.return_ns = what->blocking ? 0 : clock_mono_ns();
		ocl_clock_ask_timer(q->device->clock, q->device);
	}
	if (!ocl_host->launch(ocl_host,
			      &(struct gpu_launch){.kind = what->kind, .enter_ns = e->enter_ns},
			      &p.ticket)) {
		ocl_next.clReleaseEvent(event);
		return;
	}
	ocl_queue_add(s, q, &p);
}

/* Records a launch whose operation we cannot follow. */
static void record_blind(const struct ocl_enqueue *e, const struct ocl_what *what,
			 enum msr_gpu_loss cause)
{
	struct gpu_ticket ticket;
	if (ocl_host->launch(ocl_host,
			     &(struct gpu_launch){.kind = what->kind, .enter_ns = e->enter_ns},
			     &ticket))
		ocl_host->lost(ocl_host, &ticket, cause);
}

void ocl_enqueue_end(struct ocl_enqueue *e, cl_int status, cl_command_queue handle,
		     const struct ocl_what *what)
{
	if (!e->s || status != CL_SUCCESS)
		return;
	int saved = errno;
	cl_event event = e->theirs ? *e->at : e->own;
	struct ocl_queue *q = ocl_queue_get(e->s, handle);
	if (e->theirs && event && ocl_next.clRetainEvent(event) != CL_SUCCESS)
		event = NULL;
	if (q && event) {
		record(e, q, event, what);
	} else {
		record_blind(e, what, q ? MSR_GPU_LOSS_NO_TIMES : MSR_GPU_LOSS_NO_MEMORY);
		if (event)
			ocl_next.clReleaseEvent(event);
	}
	if (what->blocking) {
		ocl_waited(e->s, e->enter_ns, MSR_GPU_SYNC_COPY);
		if (q)
			ocl_queue_collect(e->s, q);
	}
	errno = saved;
}

void ocl_done_here(struct ocl_state *s, enum msr_gpu_kind kind, unsigned detail, uint64_t amount,
		   uint64_t enter_ns)
{
	struct gpu_ticket ticket;
	int saved = errno;
	uint64_t now = clock_mono_ns();
	if (s &&
	    ocl_host->launch(ocl_host, &(struct gpu_launch){.kind = kind, .enter_ns = enter_ns},
			     &ticket))
		ocl_host->op(ocl_host, &ticket,
			     &(struct gpu_op){.kind = kind,
					      .detail = detail,
					      .start_ns = enter_ns,
					      .end_ns = now,
					      .amount = amount});
	errno = saved;
}

void ocl_waited(struct ocl_state *s, uint64_t enter_ns, enum msr_gpu_sync how)
{
	ocl_done_here(s, MSR_GPU_SYNC, how, 0, enter_ns);
}
