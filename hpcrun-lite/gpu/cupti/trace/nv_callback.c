/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's callbacks for calls, in the thread that makes the call. Test:
 * tests/unit/cupti/test_cupti.c.
 *
 * We record a launch when its call is entered, because its record may arrive before the call ends.
 * If the call fails, we take the launch back. While a stream is captured, we record launches at the
 * end of the call, because only then we know whether it made an operation or a node of a graph.
 * Only calls of the driver API matter: the run time API and libraries all use it.
 */
#include "hpcrun-lite/gpu/cupti/counters/nv_counters.h"
#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include <errno.h>

/*
 * What the entry of a call leaves in correlationData for its end: its time, with the bit AT_END if
 * the call is recorded at its end. 0: nothing to do. WAS_LOST: the launch could not be recorded and
 * was counted as lost; its record will come. UNSEEN with its time: we will not get its record.
 */
#define AT_END (UINT64_C(1) << 63)
#define UNSEEN (UINT64_C(1) << 62)
#define WAS_LOST UINT64_C(1)

/* Number of graph nodes that this thread made since it last entered a call during a capture. */
static __thread unsigned n_nodes __attribute__((tls_model("initial-exec")));
static uint64_t id_of(uint32_t correlation)
{
	return nv_operation_id(correlation);
}

static bool launch(enum msr_gpu_kind kind, uint64_t id, uint64_t enter_ns, struct gpu_ticket *t)
{
	return nv.host->launch(
		nv.host, &(struct gpu_launch){.kind = kind, .enter_ns = enter_ns, .id = id}, t);
}

/* A wait of the CPU, from enter_ns until now. */
static void waited(unsigned detail, uint64_t id, uint64_t enter_ns)
{
	struct gpu_ticket t;
	uint64_t now = nv.lib.now_ns();
	if (launch(MSR_GPU_SYNC, id, enter_ns, &t))
		nv.host->op(nv.host, &t,
			    &(struct gpu_op){.kind = MSR_GPU_SYNC,
					     .detail = detail,
					     .start_ns = enter_ns,
					     .end_ns = now});
}

/* ---- calls that launch ---- */

static void count_unseen(const struct nv_call *c, const CUpti_CallbackData *d)
{
	if (nv_yield_has_client() && nv_call_has_amount((enum nv_form)c->form, d->functionParams))
		nv.host->launch_lost(nv.host, (enum msr_gpu_kind)c->kind, MSR_GPU_LOSS_YIELDED);
}

static bool is_on_device(const struct nv_call *c)
{
	return c->kind == MSR_GPU_KERNEL || c->kind == MSR_GPU_COPY || c->kind == MSR_GPU_SET ||
	       c->kind == MSR_GPU_GRAPH;
}

/* The launch will have records. For a graph we do not know how many. */
static void count_open(const struct nv_call *c, uint64_t id)
{
	if (c->kind == MSR_GPU_GRAPH)
		nv_graph_launched(id);
	else
		nv_open_add(1);
}

/* The launch will have no records after all. */
static void count_closed(const struct nv_call *c, uint64_t id)
{
	if (c->kind == MSR_GPU_GRAPH)
		nv_graph_taken_back(id);
	else
		nv_open_add(-1);
}

static void enter(const struct nv_call *c, const CUpti_CallbackData *d)
{
	struct gpu_ticket t;
	uint64_t now = nv.lib.now_ns();
	*d->correlationData = now | AT_END;
	nv_kernel_begin();
	nv_memory_enter(c, d);
	/* Relaxed: a thread that captures sees its own count. */
	if (atomic_load_explicit(&nv_shared.n_capturing, memory_order_relaxed)) {
		n_nodes = 0;
		return;
	}
	if (!is_on_device(c))
		return;
	*d->correlationData = 0;
	/* measurement was stopped, or a profiler of the program gets the record */
	if (atomic_load_explicit(&nv_trace.has_no_records, memory_order_relaxed)) {
		*d->correlationData = nv_yield_has_client() ? now | UNSEEN : 0;
		return;
	}
	uint64_t id = id_of(d->correlationId);
	if (!nv_call_has_amount((enum nv_form)c->form, d->functionParams))
		return;
	*d->correlationData = launch((enum msr_gpu_kind)c->kind, id, now, &t) ? now : WAS_LOST;
	count_open(c, id);
}

static void leave_other(enum nv_form form, const void *params, bool good)
{
	if ((form == NV_FORM_LOAD || form == NV_FORM_GET) && good)
		nv_kernel_handle(form, params);
	uint32_t n = atomic_load_explicit(&nv_shared.n_capturing, memory_order_relaxed);
	if (form == NV_FORM_CAPTURE_BEGIN && good)
		atomic_fetch_add_explicit(&nv_shared.n_capturing, 1, memory_order_relaxed);
	while (form == NV_FORM_CAPTURE_END && n &&
	       !atomic_compare_exchange_weak_explicit(&nv_shared.n_capturing, &n, n - 1,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/*
 * Without records of the device, we deliver kernels with only their names, so that samples find
 * their launch.
 */
static void leave_untimed(const struct nv_call *c, const CUpti_CallbackData *d, uint64_t id,
			  uint64_t enter_ns)
{
	count_closed(c, id);
	if (c->kind == MSR_GPU_KERNEL) {
		uint32_t device = 0, code = d->symbolName ? nv_kernel_code(id, d->symbolName) : 0;
		if (nv_code_has_twins())
			nv.lib.cuptiGetDeviceId(d->context, &device);
		const struct gpu_function f = {.code = nv_code_on(code, device),
					       .name = d->symbolName,
					       .part = nv_part_of};
		uint32_t shape = nv.host->shape(
			nv.host, &(struct gpu_shape){.function = nv.host->function(nv.host, &f)});
		nv.host->op_by_id(nv.host, id,
				  &(struct gpu_op){.kind = MSR_GPU_KERNEL,
						   .start_ns = enter_ns,
						   .end_ns = enter_ns,
						   .shape = shape});
	} else {
		nv.host->lost_by_id(nv.host, id, (enum msr_gpu_kind)c->kind, MSR_GPU_LOSS_NO_TIMES);
	}
}

/*
 * exit() was called. Nobody asks for the records of operations that destructors launch after that.
 */
static bool is_over(void)
{
	return nv_trace_is_over();
}

/* Returns true if everything was recorded when the call was entered, as for most launches. */
static bool is_settled(const struct nv_call *c, bool is_late, bool good)
{
	return good && !is_late && !is_over() && !c->waits && !nv.options.no_times &&
	       (c->kind != MSR_GPU_KERNEL || !nv_kernel_is_followed());
}

static void leave_device(const struct nv_call *c, const CUpti_CallbackData *d, uint64_t enter_ns,
			 bool is_late, bool good)
{
	if (is_settled(c, is_late, good))
		return;
	uint64_t id = id_of(d->correlationId);
	struct gpu_ticket t;
	if (is_late) {
		bool is_unseen =
			atomic_load_explicit(&nv_trace.has_no_records, memory_order_relaxed);
		if (good && is_unseen)
			count_unseen(c, d);
		if (!good || is_unseen ||
		    !nv_call_has_amount((enum nv_form)c->form, d->functionParams))
			return;
		bool is_taken = launch((enum msr_gpu_kind)c->kind, id, enter_ns, &t);
		/* its record comes in either case */
		if (is_taken || !nv.options.no_times)
			count_open(c, id);
		if (!is_taken)
			return;
	}
	if (!good) {
		nv.host->refused(nv.host, id,
				 &(struct gpu_refusal){.kind = (enum msr_gpu_kind)c->kind,
						       .error = nv_call_error(d)});
		count_closed(c, id);
		return;
	}
	if (c->kind == MSR_GPU_KERNEL)
		nv_kernel_launched(id, nv_call_function((enum nv_form)c->form, d->functionParams),
				   d->symbolName);
	else if (c->waits)
		waited(MSR_GPU_SYNC_COPY, id + 1, enter_ns);
	if (nv.options.no_times)
		leave_untimed(c, d, id, enter_ns);
	if (is_over())
		nv_open_count_missing();
}

/*
 * Ends a call whose launch could not be recorded. We only need to know whether a record will come.
 */
static void leave_lost(const struct nv_call *c, const CUpti_CallbackData *d, bool good)
{
	if (!good || nv.options.no_times)
		count_closed(c, id_of(d->correlationId));
}

static void leave_unseen(const struct nv_call *c, const CUpti_CallbackData *d, uint64_t enter_ns,
			 bool good)
{
	if (!good)
		return;
	count_unseen(c, d);
	if (c->waits)
		waited(MSR_GPU_SYNC_COPY, id_of(d->correlationId) + 1, enter_ns);
}

/*
 * Returns true if the call added to a graph and launched nothing. `left`: what the call's entry
 * left in correlationData.
 */
static bool makes_node(uint64_t left)
{
	return (left & AT_END) &&
	       atomic_load_explicit(&nv_shared.n_capturing, memory_order_relaxed) && n_nodes;
}

static void leave(const struct nv_call *c, const CUpti_CallbackData *d)
{
	uint64_t left = *d->correlationData, enter_ns = left & ~AT_END;
	bool good =
		d->functionReturnValue && *(const CUresult *)d->functionReturnValue == CUDA_SUCCESS;
	if (!c->kind)
		leave_other((enum nv_form)c->form, d->functionParams, good);
	else if (makes_node(left) && c->kind == MSR_GPU_FREE)
		nv_memory_leave(c, d, enter_ns, false); /* nothing is freed now */
	else if (makes_node(left))
		nv_kernel_launched(
			0, good ? nv_call_function((enum nv_form)c->form, d->functionParams) : NULL,
			d->symbolName);
	else if (!left)
		return;
	else if (left & UNSEEN)
		leave_unseen(c, d, left & ~UNSEEN, good);
	else if (left == WAS_LOST)
		leave_lost(c, d, good);
	else if (is_on_device(c))
		leave_device(c, d, enter_ns, left & AT_END, good);
	else if (c->kind == MSR_GPU_ALLOC || c->kind == MSR_GPU_FREE)
		nv_memory_leave(c, d, enter_ns, good);
	else if (good)
		waited(c->detail, id_of(d->correlationId), enter_ns);
}

/* ---- callbacks ---- */

/*
 * Returns true for calls that must not run while PC sampling or the kinds of records change:
 * launches, and loads, which may be part of a launch.
 */
static bool is_gated(const struct nv_call *c)
{
	return is_on_device(c) || c->form == NV_FORM_LOAD || c->form == NV_FORM_GET;
}

static bool is_counted(const struct nv_call *c)
{
	return (c->kind == MSR_GPU_KERNEL || c->kind == MSR_GPU_GRAPH) && nv_counters_are_on();
}

/* A call that made a node of a graph launched nothing. */
static void leave_counted(const CUpti_CallbackData *d, bool made_node)
{
	bool good =
		d->functionReturnValue && *(const CUresult *)d->functionReturnValue == CUDA_SUCCESS;
	nv_counters_leave(good && !made_node);
}

static void driver(CUpti_CallbackId id, const CUpti_CallbackData *d)
{
	const struct nv_call *c = nv_call_at(id);
	if (!c)
		return;
	bool gated = is_gated(c);
	if (d->callbackSite == CUPTI_API_ENTER) {
		nv_switch_count_caller();
		if (is_counted(c))
			nv_counters_enter(d->context, id_of(d->correlationId),
					  c->kind == MSR_GPU_GRAPH);
		if (gated)
			nv_pc_gate_enter(c->kind == MSR_GPU_KERNEL || c->kind == MSR_GPU_GRAPH);
		enter(c, d);
	} else {
		bool made_node = makes_node(*d->correlationData);
		leave(c, d);
		if (gated)
			nv_pc_gate_leave();
		if (is_counted(c))
			leave_counted(d, made_node);
	}
}

static uint64_t node_id(CUgraphNode node)
{
	uint64_t id = 0;
	return node && nv.lib.cuptiGetGraphNodeId(node, &id) == CUPTI_SUCCESS ? id : 0;
}

/* The current call of this thread made a node, by capturing or adding it, or copied one. */
static void graph_node(const CUpti_GraphData *g, bool is_copy)
{
	uint64_t id = g ? node_id(g->node) : 0,
		 original = is_copy && g ? node_id(g->originalNode) : 0;
	n_nodes += !is_copy;
	if (id && (original || !is_copy))
		nv.host->graph_node(nv.host, id, original);
}

static void module_loaded(CUcontext context, const CUpti_ModuleResourceData *m)
{
	if (!m || !m->pCubin)
		return;
	uint32_t code = nv_code_loaded(context, m->pCubin, m->cubinSize, nv_kernel_named);
	nv_kernel_loaded(code);
	nv_pc_code_loaded(m->pCubin, m->cubinSize, code);
}

static void resource(CUpti_CallbackId id, const CUpti_ResourceData *r)
{
	switch (id) {
	case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
		nv_context_made(r->context);
		nv_pc_context_made(r->context);
		break;
	case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
		nv_counters_context_gone(r->context);
		nv_pc_context_gone(r->context);
		break;
	case CUPTI_CBID_RESOURCE_MODULE_LOADED:
		module_loaded(r->context, r->resourceDescriptor);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
		graph_node(r->resourceDescriptor, id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
		break;
	default:
		break;
	}
}

/* Handles a callback for our own measurement. */
static void ours(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	if (!nv_is_here())
		return;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		driver(id, data);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		resource(id, data);
}

void CUPTIAPI nv_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			  const void *data)
{
	int saved = errno;
	(void)unused;
	if (nv.options.pc != NV_PC_OFF && nv_pc_is_helper())
		return;
	if (nv_yield_has_client())
		nv_client_callback(domain, id, data, ours);
	else
		ours(domain, id, data);
	errno = saved;
}
