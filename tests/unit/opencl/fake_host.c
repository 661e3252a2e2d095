/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake host of back ends, found by name as the real one is; see fake_opencl.h. */
#include "tests/unit/opencl/fake_opencl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct fake_host fake_host;
static _Atomic uint64_t last_ticket;
void fake_reset_implementation(void);

static uint32_t generation(const struct gpu_host *h) { (void)h; return fake_host.generation; }
static const char *options(const struct gpu_host *h) { (void)h; return ""; }
static void at_end(const struct gpu_host *h, void (*fn)(uint64_t))
{
	(void)h;
	fake_host.at_end = fn;
}
static void note(const struct gpu_host *h, const char *text)
{
	(void)h, (void)text;
	fake_host.n_notes++;
}
static void nothing(const struct gpu_host *h) { (void)h; }

static void entered(const struct gpu_host *h, const char *how, const void *text)
{
	(void)h, (void)text;
	fake_host.n_entered++;
	snprintf(fake_host.how, sizeof fake_host.how, "%s", how);
}

static uint32_t device(const struct gpu_host *h, const struct gpu_device *d)
{
	(void)h, (void)d;
	return ++fake_host.n_devices;
}
static uint32_t context(const struct gpu_host *h, const struct gpu_context *c)
{
	(void)h, (void)c;
	return ++fake_host.n_contexts;
}
static uint32_t clock_new(const struct gpu_host *h) { (void)h; return 1; }

static uint32_t queue(const struct gpu_host *h, const struct gpu_queue *q)
{
	(void)h;
	fake_host.queue_flags = q->flags;
	return ++fake_host.n_queues;
}

static void clock_pair(const struct gpu_host *h, uint32_t clock, uint64_t device_ns,
		       uint64_t mono_ns, uint64_t error_ns)
{
	(void)h, (void)clock;
	fake_host.n_pairs++;
	fake_host.pair_offset = (int64_t)(mono_ns - device_ns);
	fake_host.pair_error = error_ns;
}

static uint32_t code(const struct gpu_host *h, const struct gpu_code *c, uint64_t hash[2])
{
	(void)h;
	hash[0] = hash[1] = 0;
	fake_host.code_kind = c->kind;
	fake_host.code_bytes = c->n_bytes;
	snprintf(fake_host.options, sizeof fake_host.options, "%s", c->options);
	return ++fake_host.n_codes;
}

static uint32_t function(const struct gpu_host *h, const struct gpu_function *f)
{
	(void)h;
	snprintf(fake_host.function, sizeof fake_host.function, "%s", f->name);
	return ++fake_host.n_functions;
}

static uint32_t shape(const struct gpu_host *h, const struct gpu_shape *s)
{
	(void)h;
	fake_host.shape = *s;
	return ++fake_host.n_shapes;
}

static bool launch(const struct gpu_host *h, const struct gpu_launch *l, struct gpu_ticket *t)
{
	(void)h;
	if (fake_host.is_off) {
		*t = (struct gpu_ticket){.is_off = true};
		return false;
	}
	fake_host.n_launched[l->kind]++;
	*t = (struct gpu_ticket){.id = ++last_ticket, .kind = (uint8_t)l->kind};
	return true;
}

static void record(const struct fake_op *op)
{
	unsigned i = fake_host.n_records++;
	if (i < FAKE_MAX_OPS)
		fake_host.ops[i] = *op;
}

static void op(const struct gpu_host *h, const struct gpu_ticket *t, const struct gpu_op *o)
{
	(void)h;
	fake_host.n_ops[o->kind]++;
	record(&(struct fake_op){t->id, o->kind, o->detail, o->start_ns, o->end_ns, o->amount,
				 o->queue, o->shape, MSR_GPU_LOSS_NONE});
}

static void lost(const struct gpu_host *h, const struct gpu_ticket *t, enum msr_gpu_loss cause)
{
	(void)h;
	fake_host.n_lost[cause]++;
	record(&(struct fake_op){.ticket = t->id, .kind = t->kind, .loss = cause});
}

static void lost_unknown(const struct gpu_host *h, enum msr_gpu_loss cause, uint64_t n)
{
	(void)h;
	fake_host.n_lost[cause] += n;
}

static bool is_off(const struct gpu_host *h) { (void)h; return fake_host.is_off; }

static const struct gpu_host host = {
	.version = GPU_HOST_VERSION,
	.generation = generation,
	.options = options,
	.at_end = at_end,
	.entered = entered,
	.note = note,
	.suspend = nothing,
	.resume = nothing,
	.device = device,
	.context = context,
	.queue = queue,
	.clock = clock_new,
	.clock_pair = clock_pair,
	.code = code,
	.function = function,
	.shape = shape,
	.launch = launch,
	.op = op,
	.lost = lost,
	.lost_unknown = lost_unknown,
	.is_off = is_off,
};

const struct gpu_host *hpcrun_lite_gpu_host(const char *backend, uint32_t version);
const struct gpu_host *hpcrun_lite_gpu_host(const char *backend, uint32_t version)
{
	return fake_host.absent || strcmp(backend, "opencl") || version != GPU_HOST_VERSION ? NULL
											    : &host;
}

uint64_t fake_n_launched(void)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < MSR_N_GPU_KINDS; i++)
		n += fake_host.n_launched[i];
	return n;
}

uint64_t fake_n_answered(void)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < MSR_N_GPU_KINDS; i++)
		n += fake_host.n_ops[i];
	for (unsigned i = 0; i < MSR_N_GPU_LOSSES; i++)
		n += fake_host.n_lost[i];
	return n;
}

const struct fake_op *fake_last(enum msr_gpu_kind kind)
{
	for (unsigned i = fake_host.n_records; i-- > 0;)
		if (i < FAKE_MAX_OPS && fake_host.ops[i].kind == kind)
			return &fake_host.ops[i];
	fail_msg("no operation of kind %d", kind);
	return NULL;
}

void fake_start(void)
{
	cl_uint n = 0;
	const cl_icd_dispatch *ours = NULL;
	fake_reset_implementation();
	memset(&fake_host, 0, sizeof fake_host);
	fake_host.generation = 1;
	atomic_store(&ocl_state_now, NULL);
	atomic_store(&ocl_entrance, OCL_NOT_IN);
	assert_int_equal(
		clInitLayer(sizeof fake_dispatch / sizeof(void *), &fake_dispatch, &n, &ours),
		CL_SUCCESS);
	assert_ptr_equal(ours, &ocl_layer_dispatch);
}
