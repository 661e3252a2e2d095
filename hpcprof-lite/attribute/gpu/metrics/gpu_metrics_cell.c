/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_metrics.h. Adds operations to metrics. Test: tests/unit/prof_gpu/test_gpu_join.c. */
#include "hpcprof-lite/attribute/gpu/metrics/gpu_metrics.h"

/*
 * The product of dimensions, at most 2^48, which is more than any launch has. A dimension of 0
 * counts as 1, unless all are 0.
 */
static uint64_t product(const uint64_t d[3])
{
	uint64_t p = d[0] || d[1] || d[2];
	for (unsigned i = 0; i < 3; i++)
		if (d[i] && __builtin_mul_overflow(p, d[i], &p))
			return UINT64_C(1) << 48;
	return p < UINT64_C(1) << 48 ? p : UINT64_C(1) << 48;
}

struct adding {
	struct gpu_metrics *m;
	gpu_extras *to;
	const struct gpu_cell *cell;
	uint32_t context;
	bool failed;
};

static void add(struct adding *a, uint32_t metric, uint64_t sum)
{
	struct sum_extra x = {.thread = a->cell->thread,
			      .context = a->context,
			      .metric = metric,
			      .n_samples = a->cell->n_ops,
			      .sum = sum};
	a->failed |= !gpu_metrics_add(a->m, a->to, &x);
}

/*
 * A shape does not name its device. Takes the device of its code, or the first device with limits.
 */
static uint32_t device_of(const struct load_gpu *g, const struct msr_gpu_shape *s)
{
	const struct load_gpu_function *f = load_gpu_find(&g->functions, s->function);
	const struct load_gpu_code *c = f ? load_gpu_find(&g->codes, f->record->code) : NULL;
	uint32_t of_code = c ? c->record->device : 0;
	if (of_code < g->limits.n && g->limits.at[of_code].record)
		return of_code;
	for (uint32_t i = 0; i < g->limits.n; i++)
		if (g->limits.at[i].record)
			return i;
	return 0;
}

bool gpu_metrics_occupancy(const struct load_gpu *g, const struct msr_gpu_shape *s,
			   struct gpu_occupancy *out)
{
	uint32_t id = device_of(g, s);
	const struct load_gpu_device *d = load_gpu_find(&g->devices, id);
	const struct load_gpu_limits *l = load_gpu_find(&g->limits, id);
	return d && l && gpu_occupancy(d->record, l->record, s, out);
}

bool gpu_metrics_ease(const struct load_gpu *g, const struct msr_gpu_shape *s,
		      const struct gpu_occupancy *now, uint32_t *eased, struct gpu_occupancy *out)
{
	uint32_t id = device_of(g, s);
	const struct load_gpu_device *d = load_gpu_find(&g->devices, id);
	const struct load_gpu_limits *l = load_gpu_find(&g->limits, id);
	return d && l && gpu_occupancy_ease(d->record, l->record, s, now, eased, out);
}

static void add_occupancy(struct adding *a, const struct load_gpu *g, const struct msr_gpu_shape *s)
{
	struct gpu_occupancy o;
	if (!gpu_metrics_occupancy(g, s, &o))
		return;
	add(a, GPU_WARPS, o.warps * a->cell->n_ops);
	add(a, GPU_WARPS_MOST, o.warps_most * a->cell->n_ops);
	add(a, GPU_OCCUPANCY, UINT64_C(100) * o.warps * a->cell->n_ops);
}

static void add_shape(struct adding *a, const struct msr_gpu_shape *s)
{
	const uint64_t grid[3] = {s->grid[0], s->grid[1], s->grid[2]},
		       block[3] = {s->block[0], s->block[1], s->block[2]};
	uint64_t n = a->cell->n_ops, threads = product(block), items = product(s->global),
		 blocks = product(grid);
	if (!items && threads)
		items = blocks * threads;
	if (!blocks && items && threads)
		blocks = (items + threads - 1) / threads;
	const struct {
		uint32_t metric;
		uint64_t value;
	} values[] = {
		{GPU_BLOCKS, blocks},
		{GPU_BLOCK_THREADS, threads},
		{GPU_ITEMS, items},
		{GPU_REGISTERS, s->registers},
		{GPU_STATIC_SHARED, s->static_shared_bytes},
		{GPU_DYNAMIC_SHARED, s->dynamic_shared_bytes},
		{GPU_BLOCK_SHARED, (uint64_t)s->static_shared_bytes + s->dynamic_shared_bytes},
		{GPU_LOCAL, s->local_bytes}};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		add(a, values[i].metric, values[i].value * n);
}

static unsigned within(unsigned detail, unsigned n)
{
	return detail < n ? detail : 0;
}

bool gpu_metrics_add_cell(struct gpu_metrics *m, gpu_extras *to, const struct load_gpu *g,
			  const struct gpu_cell *c, uint32_t context)
{
	struct adding a = {.m = m, .to = to, .cell = c, .context = context};
	if (c->kind == GPU_CELL_REFUSED) {
		add(&a, GPU_REFUSED, c->n_ops);
		return !a.failed;
	}
	const struct msr_gpu_shape *shape = load_gpu_shape(g, c->shape);
	if (c->kind == MSR_GPU_KERNEL || c->kind == MSR_GPU_COPY || c->kind == MSR_GPU_SET)
		add(&a, GPU_TIME, c->busy_ns);
	switch (c->kind) {
	case MSR_GPU_KERNEL:
		add(&a, GPU_KERNEL_TIME, c->busy_ns);
		add(&a, GPU_KERNELS, c->n_ops);
		if (shape) {
			add_shape(&a, shape);
			add_occupancy(&a, g, shape);
		}
		break;
	case MSR_GPU_COPY:
		add(&a, GPU_COPY_TIME, c->busy_ns);
		add(&a, GPU_COPIES, c->n_ops);
		add(&a, GPU_COPY_BYTES + within(c->detail, MSR_N_GPU_DIRECTIONS), c->bytes);
		break;
	case MSR_GPU_SET:
		add(&a, GPU_SET_TIME, c->busy_ns);
		add(&a, GPU_SETS, c->n_ops);
		add(&a, GPU_SET_BYTES + within(c->detail, MSR_N_GPU_MEMORIES), c->bytes);
		break;
	case MSR_GPU_ALLOC:
	case MSR_GPU_FREE:
		add(&a, GPU_MEMORY_TIME, c->busy_ns);
		add(&a, GPU_ALLOCS, c->n_ops);
		add(&a, GPU_ALLOC_BYTES + within(c->detail, MSR_N_GPU_MEMORIES), c->bytes);
		break;
	case MSR_GPU_SYNC:
		add(&a, GPU_SYNC_TIME, c->busy_ns);
		add(&a, GPU_SYNC_TIME_OF + within(c->detail, MSR_N_GPU_SYNCS), c->busy_ns);
		add(&a, GPU_SYNCS, c->n_ops);
		break;
	default: /* markers; operations of graphs have the other kinds */
		add(&a, GPU_MARKERS, c->n_ops);
	}
	return !a.failed;
}
