/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that allocate and free memory. An operation FREE names its ALLOC, so that readers know what
 * was live at any time. Tests: tests/unit/cupti/test_cupti.c, tests/gpu/ways.sh.
 */
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

static bool launch(enum msr_gpu_kind kind, uint64_t id, uint64_t enter_ns, struct gpu_ticket *t)
{
	return nv.host->launch(
		nv.host, &(struct gpu_launch){.kind = kind, .enter_ns = enter_ns, .id = id}, t);
}

/*
 * What the thread's call frees. It is taken from the maps when the call is entered: as soon as the
 * driver has freed an address, another thread may get it.
 */
static __thread struct {
	uint64_t address, bytes, owner;
} freeing __attribute__((tls_model("initial-exec")));

void nv_memory_enter(const struct nv_call *c, const CUpti_CallbackData *d)
{
	uint64_t unused;
	if (c->kind != MSR_GPU_FREE)
		return;
	nv_call_allocation((enum nv_form)c->form, d->functionParams, &freeing.address, &unused);
	freeing.bytes = nv_map_take(&nv_trace.allocations, freeing.address);
	freeing.owner = nv_map_take(&nv_trace.owners, freeing.address);
}

static void keep_allocation(uint64_t address, uint64_t bytes, uint64_t owner)
{
	nv_map_put(&nv_trace.allocations, address, bytes);
	if (!nv_map_put(&nv_trace.owners, address, owner))
		nv_map_take(&nv_trace.owners,
			    address); /* the block before, if its end was not seen */
}

static void end_free(const struct nv_call *c, uint64_t id, uint64_t enter_ns, bool good)
{
	struct gpu_ticket t;
	if (!good) {
		keep_allocation(freeing.address, freeing.bytes, freeing.owner);
		return;
	}
	if (launch(MSR_GPU_FREE, id, enter_ns, &t))
		nv.host->op(nv.host, &t,
			    &(struct gpu_op){.kind = MSR_GPU_FREE,
					     .detail = c->detail,
					     .start_ns = enter_ns,
					     .end_ns = nv.lib.now_ns(),
					     .amount = freeing.bytes,
					     .shape = (uint32_t)freeing.owner});
}

static void end_allocation(const struct nv_call *c, const CUpti_CallbackData *d, uint64_t id,
			   uint64_t enter_ns)
{
	struct gpu_ticket t;
	struct gpu_op op = {.kind = MSR_GPU_ALLOC,
			    .detail = c->detail,
			    .start_ns = enter_ns,
			    .end_ns = nv.lib.now_ns(),
			    .shape = (uint32_t)nv_map_get(&nv.contexts, d->contextUid)};
	uint64_t address;
	nv_call_allocation((enum nv_form)c->form, d->functionParams, &address, &op.amount);
	const bool is_taken = launch(MSR_GPU_ALLOC, id, enter_ns, &t);
	keep_allocation(address, op.amount, is_taken ? (uint32_t)t.id : 0);
	if (is_taken)
		nv.host->op(nv.host, &t, &op);
}

/* Programs that run out of memory want to know where, and how much they asked for. */
static void refuse_allocation(const struct nv_call *c, const CUpti_CallbackData *d, uint64_t id,
			      uint64_t enter_ns)
{
	struct gpu_ticket t;
	struct gpu_refusal why = {.kind = MSR_GPU_ALLOC,
				  .error = nv_call_error(d),
				  .context = (uint32_t)nv_map_get(&nv.contexts, d->contextUid),
				  .bytes = nv_call_asked((enum nv_form)c->form, d->functionParams)};
	if (launch(MSR_GPU_ALLOC, id, enter_ns, &t))
		nv.host->refused(nv.host, id, &why);
}

void nv_memory_leave(const struct nv_call *c, const CUpti_CallbackData *d, uint64_t enter_ns,
		     bool good)
{
	const uint64_t id = nv_operation_id(d->correlationId);
	if (c->kind == MSR_GPU_FREE)
		end_free(c, id, enter_ns, good);
	else if (good)
		end_allocation(c, d, id, enter_ns);
	else
		refuse_allocation(c, d, id, enter_ns);
}

static void forget(uint64_t address, uint64_t value)
{
	(void)address;
	(void)value;
}

void nv_memory_forget(void)
{
	nv_map_take_all(&nv_trace.allocations, forget);
	nv_map_take_all(&nv_trace.owners, forget);
}
