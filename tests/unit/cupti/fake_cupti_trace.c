/* SPDX-License-Identifier: BSD-3-Clause */
/* See fake_cupti_trace.h. */
#include "tests/unit/cupti/fake_cupti_trace.h"

#include <errno.h>

/* ---- a host ---- */

struct seen seen;

static uint32_t generation(const struct gpu_host *h) { (void)h; return seen.generation; }
static uint64_t widen(const struct gpu_host *h, _Atomic uint64_t *state, uint32_t id)
{
	(void)h, (void)state;
	return id;
}
static uint32_t device(const struct gpu_host *h, const struct gpu_device *d)
{
	(void)h, (void)d;
	return ++seen.n_devices;
}
static uint32_t context(const struct gpu_host *h, const struct gpu_context *c)
{
	(void)h, (void)c;
	return ++seen.n_contexts;
}
static uint32_t code(const struct gpu_host *h, const struct gpu_code *c, uint64_t hash[2])
{
	(void)h;
	hash[0] = hash[1] = seen.content;
	seen.code = *c;
	if (c->bytes && c->n_bytes <= sizeof seen.code_bytes)
		memcpy(seen.code_bytes, c->bytes, c->n_bytes);
	return ++seen.n_codes;
}
static void note(const struct gpu_host *h, const char *text) { (void)h, (void)text; }

static uint32_t queue(const struct gpu_host *h, const struct gpu_queue *q)
{
	(void)h;
	snprintf(seen.queue, sizeof seen.queue, "%s", q->name);
	return ++seen.n_queues;
}

static uint32_t function(const struct gpu_host *h, const struct gpu_function *f)
{
	(void)h;
	seen.function_code = f->code;
	snprintf(seen.function, sizeof seen.function, "%s", f->name);
	return 1;
}

static uint32_t shape(const struct gpu_host *h, const struct gpu_shape *s)
{
	(void)h;
	seen.shape = *s;
	return 1;
}

static bool launch(const struct gpu_host *h, const struct gpu_launch *l, struct gpu_ticket *t)
{
	(void)h;
	if (seen.refuses)
		return false;
	seen.n_launched[l->kind]++;
	seen.launch_id = l->id;
	errno = EDOM; /* as what it calls may do */
	*t = (struct gpu_ticket){.id = l->id, .kind = (uint8_t)l->kind};
	return true;
}

static void op_by_id(const struct gpu_host *h, uint64_t id, const struct gpu_op *o)
{
	(void)h;
	seen.n_ops[o->kind]++;
	seen.op_id = id;
	seen.op = *o;
}

static void op(const struct gpu_host *h, const struct gpu_ticket *t, const struct gpu_op *o)
{
	op_by_id(h, t->id, o);
}

static void lost_by_id(const struct gpu_host *h, uint64_t id, enum msr_gpu_kind kind,
		       enum msr_gpu_loss cause)
{
	(void)h, (void)kind;
	seen.n_lost[cause]++;
	seen.lost_id = id;
}

static void refused(const struct gpu_host *h, uint64_t id, const struct gpu_refusal *why)
{
	lost_by_id(h, id, why->kind, MSR_GPU_LOSS_REFUSED);
	seen.error = why->error;
	seen.asked = why->bytes;
}

static void lost_unknown(const struct gpu_host *h, enum msr_gpu_loss cause, uint64_t n)
{
	(void)h;
	seen.n_lost[cause] += (unsigned)n;
}

static void graph_node(const struct gpu_host *h, uint64_t node, uint64_t original)
{
	(void)h;
	seen.node = node;
	seen.n_nodes += !original;
	seen.n_copies += original != 0;
}

static const struct gpu_host host = {
	.version = GPU_HOST_VERSION,
	.generation = generation,
	.widen = widen,
	.device = device,
	.context = context,
	.queue = queue,
	.code = code,
	.function = function,
	.shape = shape,
	.note = note,
	.launch = launch,
	.op = op,
	.op_by_id = op_by_id,
	.lost_by_id = lost_by_id,
	.refused = refused,
	.lost_unknown = lost_unknown,
	.graph_node = graph_node,
};

/* ---- a CUPTI and a driver ---- */

size_t n_dropped;
static CUptiResult CUPTIAPI context_id(CUcontext c, uint32_t *id)
{
	(void)c;
	*id = 1;
	return CUPTI_SUCCESS;
}
static CUptiResult CUPTIAPI device_id(CUcontext c, uint32_t *id)
{
	*id = (uintptr_t)c == 0x200;
	return CUPTI_SUCCESS;
}
static CUptiResult CUPTIAPI graph_node_id(CUgraphNode n, uint64_t *id)
{
	*id = (uintptr_t)n;
	return CUPTI_SUCCESS;
}
static CUptiResult CUPTIAPI num_dropped(CUcontext c, uint32_t s, size_t *n)
{
	(void)c, (void)s;
	*n = n_dropped;
	n_dropped = 0;
	return CUPTI_SUCCESS;
}
static CUptiResult CUPTIAPI next_record(uint8_t *buffer, size_t bytes, CUpti_Activity **r)
{
	uint8_t *next = *r ? (uint8_t *)*r + sizeof(CUpti_ActivityKernel10) : buffer;
	*r = (CUpti_Activity *)next;
	return next + sizeof(CUpti_ActivityKernel10) <= buffer + bytes
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_MAX_LIMIT_REACHED;
}
static CUresult CUDAAPI device_name(char *to, int room, CUdevice d)
{
	(void)d;
	snprintf(to, (size_t)room, "GPU");
	return CUDA_SUCCESS;
}
static CUresult CUDAAPI device_attribute(int *v, CUdevice_attribute a, CUdevice d)
{
	(void)a, (void)d;
	*v = 3;
	return CUDA_SUCCESS;
}
static CUresult CUDAAPI device_memory(size_t *n, CUdevice d)
{
	(void)d;
	*n = 1;
	return CUDA_SUCCESS;
}
static CUresult CUDAAPI device_uuid(CUuuid *u, CUdevice d)
{
	(void)d;
	memset(u, 1, sizeof *u);
	return CUDA_SUCCESS;
}
static CUresult CUDAAPI driver_version(int *v) { *v = 13000; return CUDA_SUCCESS; }

static const char *const names[N_CALLS] = {
	[LAUNCH] = "cuLaunchKernel_ptsz",  [GRAPH] = "cuGraphLaunch",
	[COPY] = "cuMemcpyHtoD_v2_ptds",   [COPY_ASYNC] = "cuMemcpyHtoDAsync_v2",
	[ALLOC] = "cuMemAlloc_v2",         [FREE] = "cuMemFree_v2",
	[SYNC] = "cuStreamSynchronize",    [CAPTURE] = "cuStreamBeginCapture_v2",
	[CAPTURED] = "cuStreamEndCapture", [LOAD] = "cuModuleLoadData",
	[GET] = "cuModuleGetFunction"};

int start(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof seen);
	memset(&nv, 0, sizeof nv);
	seen.generation = 1;
	memset(&nv_trace, 0, sizeof nv_trace);
	memset(&nv_shared, 0, sizeof nv_shared);
	nv_state_prepare(&host);
	nv_trace_prepare();
	nv_trace.unfinished = MSR_GPU_LOSS_NEVER_DONE;
	nv.lib = (struct nv_library){.version = 130000,
				     .cuptiGetContextId = context_id,
				     .cuptiGetDeviceId = device_id,
				     .cuptiGetGraphNodeId = graph_node_id,
				     .cuptiActivityGetNumDroppedRecords = num_dropped,
				     .cuptiActivityGetNextRecord = next_record,
				     .cuDeviceGetName = device_name,
				     .cuDeviceGetAttribute = device_attribute,
				     .cuDeviceTotalMem_v2 = device_memory,
				     .cuDeviceGetUuid_v2 = device_uuid,
				     .cuDriverGetVersion = driver_version};
	nv_library_own(&nv.lib);
	for (unsigned i = 1; i < N_CALLS; i++)
		nv_trace.calls[i] = nv_call_of(names[i]);
	return 0;
}

void resource(CUpti_CallbackId id, void *descriptor)
{
	CUpti_ResourceData r = {.resourceDescriptor = descriptor};
	nv_callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &r);
}

void enter(struct call *c, unsigned id, uint32_t correlation, const void *params,
	   const char *symbol)
{
	*c = (struct call){.data = 0};
	c->d = (CUpti_CallbackData){.callbackSite = CUPTI_API_ENTER,
				    .functionParams = params,
				    .functionReturnValue = &c->result,
				    .correlationId = correlation,
				    .correlationData = &c->data,
				    .symbolName = symbol};
	nv_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &c->d);
}

void leave(struct call *c, unsigned id, CUresult r)
{
	c->result = r;
	c->d.callbackSite = CUPTI_API_EXIT;
	nv_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &c->d);
}

void do_call(unsigned id, uint32_t correlation, const void *params, CUresult r)
{
	struct call c;
	enter(&c, id, correlation, params, "k");
	leave(&c, id, r);
}
