/* SPDX-License-Identifier: BSD-3-Clause */
/* The GPUs of the hand-made model: operations, devices and queues, ledgers, PC samples; see
 * model_fixture.h. */
#include "tests/unit/sink/model_fixture_private.h"

#include <stdlib.h>

/* The k-th operation of a lane. Kernels, copies to the device and back take turns; the last one of
 * the first lane has no launch. */
static struct model_gpu_op gpu_op(const struct model *m, uint32_t profile, uint64_t k)
{
	const struct model_private *x = m->private_;
	const struct gpu_tree *t = &x->gpu;
	const uint32_t contexts[4] = {t->kernels[0], t->copyin, t->kernels[1], t->copyout};
	uint32_t index = profile % x->stride -
			 x->n_threads; /* 0: the in-order queue; 1, 2: lanes of the other */
	bool is_orphan = index == 0 && k + 1 == x->n_gpu_ops;
	unsigned turn = is_orphan ? 0 : k % 4;
	struct model_gpu_op op = {
		.start_ns = m->profiles[profile].start_ns + (k + 1) * PERIOD_NS +
			    (index == 2 ? PERIOD_NS / 2 : 0),
		.id = k * N_LANES + index + 1,
		.context = is_orphan ? t->orphan : contexts[turn],
		.shape = turn % 2 ? MODEL_NONE : turn / 2,
		.launcher =
			is_orphan ? MODEL_NONE
				  : profile / x->stride * x->stride + (uint32_t)(k % x->n_threads),
		.kind = turn % 2 ? MSR_GPU_COPY : MSR_GPU_KERNEL,
		.detail = turn == 1   ? MSR_GPU_COPY_H2D
			  : turn == 3 ? MSR_GPU_COPY_D2H
				      : 0,
		.bytes = turn % 2 ? 4096 * (k % 5 + 1) : 0,
	};
	op.end_ns = op.start_ns + PERIOD_NS / 4 * 3 - 1000 * (k % 7);
	if (index == 0 && k % 7 == 2)
		op.end_ns = op.start_ns + PERIOD_NS; /* the next one follows at once */
	if (index == 1 && k % 9 == 5)
		op.end_ns = op.start_ns;
	if (index == 2 && k % 8 == 5) /* a kernel that is not known, directly behind one below the
					 same placeholder */
		op = (struct model_gpu_op){.start_ns = op.start_ns,
					   .end_ns = op.end_ns,
					   .id = op.id,
					   .context = x->contexts.at[t->kernels[0]].parent,
					   .shape = 0,
					   .launcher = op.launcher,
					   .kind = MSR_GPU_KERNEL};
	op.enter_ns = is_orphan ? 0 : op.start_ns - 20000;
	op.queued_ns = k % 3 ? op.start_ns - 10000 : 0;
	op.submitted_ns = k % 3 ? op.start_ns - 5000 : 0;
	return op;
}

size_t model_gpu_read(const struct model *m, uint32_t profile, struct model_gpu_cursor *c,
		      struct model_gpu_op *out, size_t n)
{
	size_t i = 0;
	if (m->profiles[profile].kind != MODEL_PROFILE_QUEUE)
		return 0;
	for (; i < n && c->next < m->profiles[profile].n_trace_records; i++, c->next++)
		out[i] = gpu_op(m, profile, c->next);
	return i;
}

/* Its waits have no times, as in a part of a run. */
size_t model_gpu_read_waits(const struct model *m, uint32_t profile, struct model_gpu_cursor *c,
			    struct model_gpu_stay *out, size_t n)
{
	(void)m, (void)profile, (void)c, (void)out, (void)n;
	return 0;
}

void fixture_make_gpu(struct model *m, const struct fixture_options *o)
{
	static const struct msr_gpu_def_device definition = {.n_units = 132,
							     .threads_per_unit = 2048,
							     .group_max = 1024,
							     .lanes = 32,
							     .clock_mhz = 1980,
							     .memory_bytes = UINT64_C(141) << 30,
							     .type = MSR_GPU_DEVICE_GPU};
	static const struct msr_gpu_shape shapes[2] = {
		{.grid = {64, 1, 1}, .block = {256, 1, 1}, .registers = 32},
		{.grid = {16, 16, 1},
		 .block = {16, 16, 1},
		 .registers = 40,
		 .static_shared_bytes = 2048,
		 .dynamic_shared_bytes = 512,
		 .local_bytes = 8},
	};
	uint32_t n = o->n_processes;
	struct model_gpu_device *devices = fixture_must(calloc(n, sizeof *devices));
	struct model_gpu_context *contexts = fixture_must(calloc(n, sizeof *contexts));
	struct model_gpu_queue *queues = fixture_must(calloc((size_t)n * N_QUEUES, sizeof *queues));
	struct model_gpu_ledger *ledgers = fixture_must(calloc(n, sizeof *ledgers));
	for (uint32_t i = 0; i < n; i++) {
		devices[i] = (struct model_gpu_device){.name = "Synthetic GPU",
						       .driver = "OpenCL 3.0 made up",
						       .definition = &definition,
						       .process = i,
						       .first_process = i};
		contexts[i] = (struct model_gpu_context){.process = i, .device = i};
		for (uint32_t q = 0; q < N_QUEUES; q++)
			queues[i * N_QUEUES + q] = (struct model_gpu_queue){
				.name = q ? "GPU 0 queue 1" : "GPU 0 queue 0",
				.context = i,
				.device = i,
				.ordinal = q,
				.flags = q ? MSR_GPU_QUEUE_OUT_OF_ORDER : 0,
				.n_lanes = q + 1,
				.busy_ns = (uint64_t)o->n_gpu_ops * PERIOD_NS / 4 * 3};
		uint64_t ops = (uint64_t)o->n_gpu_ops * N_LANES, kernels = 0;
		for (uint32_t lane = 0; lane < N_LANES; lane++)
			for (uint64_t k = 0; k < o->n_gpu_ops; k++)
				kernels +=
					gpu_op(m, i * m->private_->stride + o->n_threads + lane, k)
						.kind == MSR_GPU_KERNEL;
		ledgers[i] = (struct model_gpu_ledger){
			.backend = "opencl",
			.entrance = "ICD loader's layer",
			.n_ops = ops + o->n_threads,
			.n_orphans = 1,
			.handler_ns = 1500 * ops,
			.launched = {[MSR_GPU_KERNEL] = kernels - 1 + 3,
				     [MSR_GPU_COPY] = ops - kernels,
				     [MSR_GPU_SYNC] = o->n_threads},
			.joined = {[MSR_GPU_KERNEL] = kernels - 1,
				   [MSR_GPU_COPY] = ops - kernels,
				   [MSR_GPU_SYNC] = o->n_threads},
			.losses = {[MSR_GPU_LOSS_FAILED] = 2, [MSR_GPU_LOSS_NEVER_DONE] = 1},
			.graph_losses = {[MSR_GPU_LOSS_NEVER_DONE] = 5},
			.closes = true};
		struct model_process *p = (struct model_process *)&m->processes[i];
		p->gpu = &ledgers[i];
		p->n_gpu = 1;
		struct model_gpu_ledger *sum = &m->gpu_ledger;
		for (unsigned k = 0; k < 16; k++) {
			sum->launched[k] += ledgers[i].launched[k];
			sum->joined[k] += ledgers[i].joined[k];
		}
		for (unsigned k = 0; k < MSR_GPU_LOSS_ROOM; k++)
			sum->losses[k] += ledgers[i].losses[k],
				sum->graph_losses[k] += ledgers[i].graph_losses[k];
		sum->n_ops += ledgers[i].n_ops;
		sum->n_orphans++;
		sum->handler_ns += ledgers[i].handler_ns;
	}
	m->gpu_ledger.backend = m->gpu_ledger.entrance = "";
	m->gpu_ledger.closes = m->has_gpu = true;
	m->gpu_devices = devices;
	m->gpu_contexts = contexts;
	m->gpu_queues = queues;
	m->n_gpu_devices = m->n_gpu_contexts = n;
	m->n_gpu_queues = n * N_QUEUES;
	m->gpu_shapes = shapes;
	m->n_gpu_shapes = 2;
}

void fixture_add_gpu_points(const struct model *m, uint32_t profile, unsigned metric,
			    double (*at)[MODEL_N_SCOPES], struct model_total *totals)
{
	const struct model_private *x = m->private_;
	const struct gpu_tree *t = &x->gpu;
	uint32_t first_lane = profile / x->stride * x->stride + x->n_threads;
	for (uint32_t lane = first_lane; lane < first_lane + N_LANES; lane++)
		for (uint64_t k = 0; k < x->n_gpu_ops; k++) {
			struct model_gpu_op op = gpu_op(m, lane, k);
			uint32_t profile_of =
				op.launcher == MODEL_NONE ? first_lane - x->n_threads : op.launcher;
			double seconds = (double)(op.end_ns - op.start_ns) * 1e-9;
			bool is_kernel = op.kind == MSR_GPU_KERNEL;
			const double values[N_GPU_METRICS] = {
				[G_OP] = seconds,
				[G_KERNEL] = is_kernel ? seconds : 0,
				[G_COPY] = is_kernel ? 0 : seconds,
				[G_KERNELS] = is_kernel,
				[G_BLOCKS] = is_kernel ? (op.shape ? 256 : 64) : 0,
				[G_COPIES] = !is_kernel,
				[G_BYTES_IN] =
					op.detail == MSR_GPU_COPY_H2D ? (double)op.bytes : 0,
				[G_BYTES_OUT] =
					op.detail == MSR_GPU_COPY_D2H ? (double)op.bytes : 0};
			if (profile_of != profile || values[metric] == 0)
				continue;
			at[op.context][MODEL_POINT] += values[metric];
			totals[(size_t)op.context * m->n_metrics + x->n_sampled + metric]
				.n_samples++;
		}
	if (metric == G_SYNC) {
		at[t->sync][MODEL_POINT] += 0.25;
		totals[(size_t)t->sync * m->n_metrics + x->n_sampled + metric].n_samples++;
	}
	for (unsigned k = 0; (metric == G_INS || metric == G_STALL) && k < 2 * N_PC_LINES; k++) {
		uint32_t context = t->lines[k / N_PC_LINES][k % N_PC_LINES];
		double samples = metric == G_INS ? 100 * (k + 1) : 60 * (k + 1);
		at[context][MODEL_POINT] += samples;
		totals[(size_t)context * m->n_metrics + x->n_sampled + metric].n_samples +=
			(uint64_t)samples;
	}
}
