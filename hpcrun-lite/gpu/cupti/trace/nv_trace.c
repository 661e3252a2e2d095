/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of tracing; see nv_trace.h. */
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

struct nv_trace nv_trace;

void nv_trace_prepare(void)
{
	atomic_store_explicit(&nv_trace.unfinished, MSR_GPU_LOSS_NO_TIMES, memory_order_relaxed);
	pthread_mutex_init(&nv_trace.graph_lock, NULL);
	atomic_store_explicit(&nv_trace.n_kernel_changes, 1, memory_order_relaxed);
	nv_map_init(&nv_trace.names, NV_MAX_NAMES);
	nv_map_init(&nv_trace.kernels, NV_MAX_NAMES);
	nv_map_init(&nv_trace.handles, NV_MAX_NAMES);
	nv_map_init(&nv_trace.launches, NV_MAX_LAUNCHES);
	nv_map_init(&nv_trace.graphs, NV_MAX_LAUNCHES);
	nv_map_init(&nv_trace.allocations, NV_MAX_ALLOCATIONS);
	nv_map_init(&nv_trace.owners, NV_MAX_ALLOCATIONS);
}
