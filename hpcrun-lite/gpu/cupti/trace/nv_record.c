/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes CUPTI's records of what the device did to the host. Records in buffers may be unaligned
 * for their type, so the types are packed. A record without times belongs to an operation that was
 * not complete when delivery was forced; it never comes again. Test:
 * tests/unit/cupti/test_cupti_record.c.
 */
#include "hpcrun-lite/gpu/cupti/counters/nv_counters.h"
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

static uint64_t id_of(uint32_t correlation)
{
	return nv_operation_id(correlation);
}

static void tell(uint32_t correlation, uint32_t graph, const struct gpu_op *op)
{
	uint64_t id = id_of(correlation);
	if (graph)
		nv_graph_record(graph, id);
	else
		nv_open_add(-1);
	if (!op->start_ns && op->kind == MSR_GPU_KERNEL && nv_counters_take_record(id, op))
		return;
	if (op->start_ns && op->end_ns) {
		nv.host->op_by_id(nv.host, id, op);
		return;
	}
	atomic_fetch_add_explicit(&nv_shared.n_unfinished, 1, memory_order_relaxed);
	nv.host->lost_by_id(nv.host, id, op->kind,
			    (enum msr_gpu_loss)atomic_load_explicit(&nv_trace.unfinished,
								    memory_order_relaxed));
}

static uint32_t shape_of(const nv_kernel_record *k)
{
	const struct gpu_function function = {
		.code = k->name ? nv_code_on(nv_kernel_code(id_of(k->correlationId), k->name),
					     k->deviceId)
				: 0,
		.name = k->name,
		.part = nv_part_of};
	return nv.host->shape(nv.host, &(struct gpu_shape){
		.function = nv.host->function(nv.host, &function),
		.grid = {(uint32_t)k->gridX, (uint32_t)k->gridY, (uint32_t)k->gridZ},
		.block = {(uint32_t)k->blockX, (uint32_t)k->blockY, (uint32_t)k->blockZ},
		.cluster = {k->clusterX, k->clusterY, k->clusterZ},
		.registers = k->registersPerThread,
		.static_shared_bytes = (uint32_t)k->staticSharedMemory,
		.dynamic_shared_bytes = (uint32_t)k->dynamicSharedMemory,
		.local_bytes = k->localMemoryPerThread,
	});
}

static void kernel(const nv_kernel_record *k)
{
	if (k->name && nv_counters_is_own(k->name) && !nv_kernel_code(0, k->name))
		return;
	if (nv.options.pc != NV_PC_OFF && k->end > k->start)
		atomic_fetch_add_explicit(&nv_shared.kernel_ns[k->deviceId % NV_MAX_DEVICES],
					  k->end - k->start, memory_order_relaxed);
	tell(k->correlationId, k->graphId,
	     &(struct gpu_op){
		     .kind = MSR_GPU_KERNEL,
		     .start_ns = k->start,
		     .end_ns = k->end,
		     .amount = k->graphNodeId,
		     .queue = nv_queue(k->deviceId, k->contextId, k->streamId),
		     .shape = shape_of(k),
		     /* 0: CUPTI does not know it either */
		     .has_waits = nv.options.latency,
		     .queued_ns = nv.options.latency ? k->queued : 0,
		     .submitted_ns = nv.options.latency ? k->submitted : 0,
	     });
}

static unsigned direction_of(unsigned kind)
{
	static const uint8_t directions[] = {
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = MSR_GPU_COPY_H2D,
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOA] = MSR_GPU_COPY_H2D,
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = MSR_GPU_COPY_D2H,
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOH] = MSR_GPU_COPY_D2H,
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOA] = MSR_GPU_COPY_D2D,
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOD] = MSR_GPU_COPY_D2D,
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOA] = MSR_GPU_COPY_D2D,
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = MSR_GPU_COPY_D2D,
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOH] = MSR_GPU_COPY_H2H,
		[CUPTI_ACTIVITY_MEMCPY_KIND_PTOP] = MSR_GPU_COPY_P2P,
	};
	return kind < sizeof directions ? directions[kind] : MSR_GPU_COPY_UNKNOWN;
}

static void copy(const nv_copy_record *c)
{
	tell(c->correlationId, c->graphId,
	     &(struct gpu_op){
		     .kind = MSR_GPU_COPY,
		     .detail = direction_of(c->copyKind),
		     .start_ns = c->start,
		     .end_ns = c->end,
		     .amount = c->bytes,
		     .queue = nv_queue(c->deviceId, c->contextId, c->streamId),
	     });
}

static void peer_copy(const nv_peer_copy_record *c)
{
	tell(c->correlationId, c->graphId,
	     &(struct gpu_op){
		     .kind = MSR_GPU_COPY,
		     .detail = MSR_GPU_COPY_P2P,
		     .start_ns = c->start,
		     .end_ns = c->end,
		     .amount = c->bytes,
		     .queue = nv_queue(c->deviceId, c->contextId, c->streamId),
	     });
}

static void set(const nv_set_record *s)
{
	tell(s->correlationId, s->graphId, &(struct gpu_op){
		.kind = MSR_GPU_SET, .start_ns = s->start, .end_ns = s->end, .amount = s->bytes,
		.queue = nv_queue(s->deviceId, s->contextId, s->streamId),
	});
}

void nv_record(const CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: kernel((const nv_kernel_record *)record); break;
	case CUPTI_ACTIVITY_KIND_MEMCPY: copy((const nv_copy_record *)record); break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2: peer_copy((const nv_peer_copy_record *)record); break;
	case CUPTI_ACTIVITY_KIND_MEMSET: set((const nv_set_record *)record); break;
	default: /* kinds that we did not ask for */
		break;
	}
}
