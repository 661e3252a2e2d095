/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_metrics.h. Test: tests/unit/prof_gpu/test_gpu_join.c. */
#include "hpcprof-lite/attribute/gpu/gpu_metrics.h"

#include "common/base/capped.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_stalls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO MODEL_NONE
#define MERGE_FROM ((size_t)1 << 20) /* values */

static const struct {
	const char *name, *unit, *description;
	uint8_t kind;
	uint32_t parent, divisor;
} fixed[GPU_N_FIXED] = {
	[GPU_TIME] = {"GPUOP (sec)", "sec", "GPU time: kernels, copies and sets (seconds)",
		      MODEL_METRIC_GPU_TIME, NO, NO},
	[GPU_KERNEL_TIME] = {"GKER (sec)", "sec", "GPU time: kernel execution (seconds)",
			     MODEL_METRIC_GPU_TIME, GPU_TIME, NO},
	[GPU_COPY_TIME] = {"GXCOPY (sec)", "sec", "GPU time: explicit data copy (seconds)",
			   MODEL_METRIC_GPU_TIME, GPU_TIME, NO},
	[GPU_SET_TIME] = {"GMSET (sec)", "sec", "GPU time: memory set (seconds)",
			  MODEL_METRIC_GPU_TIME, GPU_TIME, NO},
	[GPU_MEMORY_TIME] = {"GMEM (sec)", "sec",
			     "time of the CPU in memory allocation/deallocation for GPUs "
			     "(seconds); not part of GPUOP",
			     MODEL_METRIC_GPU_TIME, NO, NO},
	[GPU_SYNC_TIME] = {"GSYNC (sec)", "sec",
			   "time that the CPU waited for GPUs (seconds); not part of GPUOP",
			   MODEL_METRIC_GPU_TIME, NO, NO},
	[GPU_SYNC_TIME_OF + MSR_GPU_SYNC_UNKNOWN] = {"GSYNC:UNK (sec)", "sec",
						     "GPU synchronizations: unknown kind",
						     MODEL_METRIC_GPU_TIME, GPU_SYNC_TIME, NO},
	[GPU_SYNC_TIME_OF + MSR_GPU_SYNC_QUEUE] = {"GSYNC:STR (sec)", "sec",
						   "GPU synchronizations: queue (stream)",
						   MODEL_METRIC_GPU_TIME, GPU_SYNC_TIME, NO},
	[GPU_SYNC_TIME_OF + MSR_GPU_SYNC_EVENT] = {"GSYNC:EVT (sec)", "sec",
						   "GPU synchronizations: event",
						   MODEL_METRIC_GPU_TIME, GPU_SYNC_TIME, NO},
	[GPU_SYNC_TIME_OF + MSR_GPU_SYNC_DEVICE] = {"GSYNC:CTX (sec)", "sec",
						    "GPU synchronizations: context or device",
						    MODEL_METRIC_GPU_TIME, GPU_SYNC_TIME, NO},
	[GPU_SYNC_TIME_OF +
		MSR_GPU_SYNC_COPY] = {"GSYNC:BLK (sec)", "sec",
				      "GPU synchronizations: inside a blocking copy, map or launch",
				      MODEL_METRIC_GPU_TIME, GPU_SYNC_TIME, NO},
	[GPU_SYNC_TIME_OF + MSR_GPU_SYNC_FLUSH] = {"GSYNC:FLU (sec)", "sec",
						   "GPU synchronizations: flush of a queue",
						   MODEL_METRIC_GPU_TIME, GPU_SYNC_TIME, NO},
	[GPU_KERNELS] = {"GKER:COUNT", "count", "GPU kernel: launch count", MODEL_METRIC_GPU_COUNT,
			 NO, NO},
	[GPU_BLOCKS] = {"GKER:BLKS", "count",
			"GPU kernel: block (work-group) count, mean of launches",
			MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_BLOCK_THREADS] = {"GKER:BLK_THR", "count",
			       "GPU kernel: threads (work-items) of a block, mean of launches",
			       MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_ITEMS] = {"GKER:THR", "count",
		       "GPU kernel: threads (work-items) of a launch, mean of launches",
		       MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_REGISTERS] = {"GKER:THR_REG", "count",
			   "GPU kernel: thread register count, mean of launches",
			   MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_STATIC_SHARED] =
		{"GKER:STMEM (B)", "B",
		 "GPU kernel: static shared memory of a block, mean of launches (bytes)",
		 MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_DYNAMIC_SHARED] =
		{"GKER:DYMEM (B)", "B",
		 "GPU kernel: dynamic shared memory of a block, mean of launches (bytes)",
		 MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_BLOCK_SHARED] =
		{"GKER:BLK_SM (B)", "B",
		 "GPU kernel: block local memory, static and dynamic, mean of launches (bytes)",
		 MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_LOCAL] = {"GKER:LMEM (B)", "B",
		       "GPU kernel: local memory of a thread, mean of launches (bytes)",
		       MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_WARPS] = {"GKER:FGP_ACT", "count",
		       "GPU kernel: fine-grain parallelism, actual: warps that fit on an SM by "
		       "registers, shared memory and blocks, mean of launches",
		       MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_WARPS_MOST] = {"GKER:FGP_MAX", "count",
			    "GPU kernel: fine-grain parallelism, maximum: warps that an SM can "
			    "hold, mean of launches",
			    MODEL_METRIC_GPU_MEAN, NO, GPU_KERNELS},
	[GPU_OCCUPANCY] = {"GKER:OCC_THR", "%",
			   "GPU kernel: theoretical occupancy (FGP_ACT / FGP_MAX, per cent)",
			   MODEL_METRIC_GPU_MEAN, NO, GPU_WARPS_MOST},
	[GPU_COPIES] = {"GXCOPY:COUNT", "count", "GPU explicit memory copy: count",
			MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_COPY_BYTES + MSR_GPU_COPY_UNKNOWN] = {"GXCOPY:UNK (B)", "B",
						   "GPU explicit memory copy: unknown kind (bytes)",
						   MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_COPY_BYTES + MSR_GPU_COPY_H2D] = {"GXCOPY:H2D (B)", "B",
					       "GPU explicit memory copy: host to device (bytes)",
					       MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_COPY_BYTES + MSR_GPU_COPY_D2H] = {"GXCOPY:D2H (B)", "B",
					       "GPU explicit memory copy: device to host (bytes)",
					       MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_COPY_BYTES + MSR_GPU_COPY_D2D] = {"GXCOPY:D2D (B)", "B",
					       "GPU explicit memory copy: device to device (bytes)",
					       MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_COPY_BYTES + MSR_GPU_COPY_H2H] = {"GXCOPY:H2H (B)", "B",
					       "GPU explicit memory copy: host to host (bytes)",
					       MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_COPY_BYTES + MSR_GPU_COPY_P2P] = {"GXCOPY:P2P (B)", "B",
					       "GPU explicit memory copy: peer to peer (bytes)",
					       MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_COPY_BYTES + MSR_GPU_COPY_MAP] =
		{"GXCOPY:MAP (B)", "B",
		 "GPU explicit memory copy: mapped for the host (bytes of the range)",
		 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_COPY_BYTES + MSR_GPU_COPY_UNMAP] =
		{"GXCOPY:UNMAP (B)", "B",
		 "GPU explicit memory copy: given back by the host (bytes of the range)",
		 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_COPY_BYTES +
		MSR_GPU_COPY_MIGRATE] = {"GXCOPY:MIG (B)", "B",
					 "GPU explicit memory copy: migrated on request (bytes)",
					 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SETS] = {"GMSET:COUNT", "count", "GPU memory set: count", MODEL_METRIC_GPU_COUNT, NO,
		      NO},
	[GPU_SET_BYTES + MSR_GPU_MEMORY_UNKNOWN] = {"GMSET:UNK (B)", "B",
						    "GPU memory set: unknown memory kind (bytes)",
						    MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SET_BYTES + MSR_GPU_MEMORY_DEVICE] = {"GMSET:DEV (B)", "B",
						   "GPU memory set: device memory (bytes)",
						   MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SET_BYTES + MSR_GPU_MEMORY_HOST] = {"GMSET:PIN (B)", "B",
						 "GPU memory set: pinned memory (bytes)",
						 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SET_BYTES + MSR_GPU_MEMORY_MANAGED] = {"GMSET:MAN (B)", "B",
						    "GPU memory set: managed memory (bytes)",
						    MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SET_BYTES + MSR_GPU_MEMORY_IMAGE] = {"GMSET:ARY (B)", "B",
						  "GPU memory set: array memory, images (bytes)",
						  MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_ALLOCS] = {"GMEM:COUNT", "count", "GPU memory alloc/free: count",
			MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_ALLOC_BYTES +
		MSR_GPU_MEMORY_UNKNOWN] = {"GMEM:UNK (B)", "B",
					   "GPU memory alloc/free: unknown memory kind (bytes)",
					   MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_ALLOC_BYTES + MSR_GPU_MEMORY_DEVICE] = {"GMEM:DEV (B)", "B",
						     "GPU memory alloc/free: device memory (bytes)",
						     MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_ALLOC_BYTES + MSR_GPU_MEMORY_HOST] = {"GMEM:PIN (B)", "B",
						   "GPU memory alloc/free: pinned memory (bytes)",
						   MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_ALLOC_BYTES +
		MSR_GPU_MEMORY_MANAGED] = {"GMEM:MAN (B)", "B",
					   "GPU memory alloc/free: managed memory (bytes)",
					   MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_ALLOC_BYTES +
		MSR_GPU_MEMORY_IMAGE] = {"GMEM:ARY (B)", "B",
					 "GPU memory alloc/free: array memory, images (bytes)",
					 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SYNCS] = {"GSYNC:COUNT", "count", "GPU synchronizations: count",
		       MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_MARKERS] = {"GMARK:COUNT", "count", "GPU markers and barriers: count",
			 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SAMPLES] = {"GINS", "count", "GPU PC samples", MODEL_METRIC_GPU_SAMPLES, NO, NO},
	[GPU_STALLED] = {"GINS:STL_ANY", "count", "GPU instruction stalls: any",
			 MODEL_METRIC_GPU_SAMPLES, GPU_SAMPLES, NO},
	[GPU_APPORTIONED] =
		{"GINS:APPORTIONED", "count",
		 "GPU PC samples that were shared out over the contexts that launched the kernel, "
		 "or the calls that lead to the function; the others are exact",
		 MODEL_METRIC_GPU_SAMPLES, GPU_SAMPLES, NO},
	[GPU_SAMPLED] =
		{"GSAMP:TOT", "count",
		 "GPU PC samples: measured, by kernel; dropped ones and those of no code are apart",
		 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SAMPLES_DROPPED] = {"GSAMP:DRP", "count", "GPU PC samples: dropped",
				 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SAMPLES_OUTSIDE] =
		{"GSAMP:OUT", "count",
		 "GPU PC samples: not attributed to any code by the vendor's interface",
		 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_SAMPLES_EXPECTED] =
		{"GSAMP:EXP", "count",
		 "GPU PC samples: expected, had all SMs been busy while the kernel ran",
		 MODEL_METRIC_GPU_COUNT, NO, NO},
	[GPU_UTILISATION] = {"GSAMP:UTIL", "%",
			     "GPU utilization computed using PC sampling: part of the SMs that had "
			     "a warp while the kernel ran (TOT / EXP, per cent)",
			     MODEL_METRIC_GPU_MEAN, NO, GPU_SAMPLES_EXPECTED},
};

/* ---- stall reasons and counters ---- */

static int compare_stalls(const void *a, const void *b)
{
	return strcmp(((const struct gpu_stall_metric *)a)->name,
		      ((const struct gpu_stall_metric *)b)->name);
}

static int compare_counters(const void *pa, const void *pb)
{
	const struct gpu_counter_metric *a = pa, *b = pb;
	int c = strcmp(a->name, b->name);
	return c ? c : (a->unit > b->unit) - (a->unit < b->unit);
}

static bool list_stalls(struct gpu_metrics *m, const struct load_gpu *g)
{
	for (size_t i = 0; i < g->stalls.n; i++) {
		const struct load_gpu_stall *s = &g->stalls.at[i];
		if (!s->record || !s->name[0])
			continue;
		struct gpu_stall_metric new = {
			.name = gpu_stall_metric_name(
				s->name, s->record->flags & MSR_GPU_STALL_ONLY_NOT_ISSUED),
			.vendor = s->name,
			.description = s->description,
			.flags = s->record->flags};
		const struct gpu_stall *known = gpu_stall_of(s->name);
		new.counts_issues = known && known->counts_issues &&
				    !(s->record->flags & MSR_GPU_STALL_ONLY_NOT_ISSUED);
		struct gpu_stall_metric *at = new.name ? vec_push(&m->stalls) : NULL;
		if (!at) {
			free(new.name);
			return false;
		}
		*at = new;
	}
	return true;
}

static bool list_counters(struct gpu_metrics *m, const struct load_gpu *g)
{
	for (size_t i = 0; i < g->counters.n; i++) {
		const struct load_gpu_counter *c = &g->counters.at[i];
		if (!c->record || !c->name[0])
			continue;
		struct gpu_counter_metric *at = vec_push(&m->counters);
		if (!at)
			return false;
		*at = (struct gpu_counter_metric){c->name, c->description, c->record->unit};
	}
	return true;
}

static void sort_named(struct gpu_metrics *m)
{
	size_t kept = 0;
	if (m->stalls.n)
		qsort(m->stalls.at, m->stalls.n, sizeof *m->stalls.at, compare_stalls);
	for (size_t i = 0; i < m->stalls.n; i++) {
		if (kept && compare_stalls(&m->stalls.at[kept - 1], &m->stalls.at[i]) == 0)
			free(m->stalls.at[i].name);
		else
			m->stalls.at[kept++] = m->stalls.at[i];
	}
	m->stalls.n = kept;
	kept = 0;
	if (m->counters.n)
		qsort(m->counters.at, m->counters.n, sizeof *m->counters.at, compare_counters);
	for (size_t i = 0; i < m->counters.n; i++)
		if (!kept || compare_counters(&m->counters.at[kept - 1], &m->counters.at[i]) != 0)
			m->counters.at[kept++] = m->counters.at[i];
	m->counters.n = kept;
}

bool gpu_metrics_init(struct gpu_metrics *m, const struct load_job *job)
{
	for (size_t i = 0; i < job->files.n; i++)
		if (!list_stalls(m, &job->files.at[i].gpu) ||
		    !list_counters(m, &job->files.at[i].gpu))
			return false;
	sort_named(m);
	m->merge_at = MERGE_FROM;
	size_t n = GPU_N_FIXED + m->stalls.n + m->counters.n;
	return vec_extend(&m->n_samples, n) && vec_extend(&m->sums, n);
}

uint32_t gpu_metrics_stall(const struct gpu_metrics *m, const struct load_gpu *g, uint32_t stall)
{
	const struct load_gpu_stall *s = load_gpu_find(&g->stalls, stall);
	if (!s || !s->name[0])
		return MODEL_NONE;
	struct gpu_stall_metric key = {
		.name = gpu_stall_metric_name(s->name,
					      s->record->flags & MSR_GPU_STALL_ONLY_NOT_ISSUED)};
	const struct gpu_stall_metric *found =
		key.name ? bsearch(&key, m->stalls.at, m->stalls.n, sizeof key, compare_stalls)
			 : NULL;
	free(key.name);
	return found ? GPU_N_FIXED + (uint32_t)(found - m->stalls.at) : MODEL_NONE;
}

uint32_t gpu_metrics_counter(const struct gpu_metrics *m, const struct load_gpu *g,
			     uint32_t counter)
{
	const struct load_gpu_counter *c = load_gpu_find(&g->counters, counter);
	if (!c || !c->name[0])
		return MODEL_NONE;
	struct gpu_counter_metric key = {.name = c->name, .unit = c->record->unit};
	const struct gpu_counter_metric *found =
		bsearch(&key, m->counters.at, m->counters.n, sizeof key, compare_counters);
	return found ? GPU_N_FIXED + (uint32_t)(m->stalls.n + (size_t)(found - m->counters.at))
		     : MODEL_NONE;
}

uint32_t gpu_metrics_stall_flags(const struct gpu_metrics *m, uint32_t metric)
{
	return metric >= GPU_N_FIXED && metric - GPU_N_FIXED < m->stalls.n
		       ? m->stalls.at[metric - GPU_N_FIXED].flags
		       : 0;
}

bool gpu_metrics_counts_issues(const struct gpu_metrics *m, uint32_t metric)
{
	return metric >= GPU_N_FIXED && metric - GPU_N_FIXED < m->stalls.n &&
	       m->stalls.at[metric - GPU_N_FIXED].counts_issues;
}

/* ---- what operations add ---- */

static int compare_extras(const void *pa, const void *pb)
{
	const struct sum_extra *a = pa, *b = pb;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

/* The instructions of a line, with all of their stall reasons, add to the same few values. */
static void merge_extras(gpu_extras *e)
{
	size_t kept = 0;
	qsort(e->at, e->n, sizeof *e->at, compare_extras);
	for (size_t i = 0; i < e->n; i++) {
		struct sum_extra *last = kept ? &e->at[kept - 1] : NULL;
		if (last && compare_extras(last, &e->at[i]) == 0) {
			capped_grow(&last->n_samples, e->at[i].n_samples);
			capped_grow(&last->sum, e->at[i].sum);
		} else {
			e->at[kept++] = e->at[i];
		}
	}
	e->n = kept;
}

bool gpu_metrics_add(struct gpu_metrics *m, gpu_extras *to, const struct sum_extra *x)
{
	capped_grow(&m->n_samples.at[x->metric], x->n_samples);
	capped_grow(&m->sums.at[x->metric], x->sum);
	if (!x->sum)
		return true; /* in no tree, but the metric occurs */
	if (to->n && to->n >= m->merge_at) {
		merge_extras(to);
		m->merge_at = 2 * to->n > MERGE_FROM ? 2 * to->n : MERGE_FROM;
	}
	struct sum_extra *at = vec_push(to);
	if (at)
		*at = *x;
	return at != NULL;
}

/* A product of dimensions, where a dimension of 0 is 1 unless all are; cut where no launch can be
 * so large. */
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

/* A shape does not say where it ran: the device of its code, or the first with limits. */
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
		add(&a, GPU_COPY_BYTES + within(c->detail, MSR_N_GPU_DIRECTIONS), c->amount);
		break;
	case MSR_GPU_SET:
		add(&a, GPU_SET_TIME, c->busy_ns);
		add(&a, GPU_SETS, c->n_ops);
		add(&a, GPU_SET_BYTES + within(c->detail, MSR_N_GPU_MEMORIES), c->amount);
		break;
	case MSR_GPU_ALLOC:
	case MSR_GPU_FREE:
		add(&a, GPU_MEMORY_TIME, c->busy_ns);
		add(&a, GPU_ALLOCS, c->n_ops);
		add(&a, GPU_ALLOC_BYTES + within(c->detail, MSR_N_GPU_MEMORIES), c->amount);
		break;
	case MSR_GPU_SYNC:
		add(&a, GPU_SYNC_TIME, c->busy_ns);
		add(&a, GPU_SYNC_TIME_OF + within(c->detail, MSR_N_GPU_SYNCS), c->busy_ns);
		add(&a, GPU_SYNCS, c->n_ops);
		break;
	default: /* markers; a graph's operations are of the other kinds */
		add(&a, GPU_MARKERS, c->n_ops);
	}
	return !a.failed;
}

/* ---- in the model ---- */

/* Times and counts occur with their operations, characteristics and bytes where they are not all
 * 0. */
static bool occurs(const struct gpu_metrics *m, uint32_t metric)
{
	bool is_basic = metric < GPU_SYNC_TIME_OF || metric == GPU_KERNELS ||
			metric == GPU_COPIES || metric == GPU_SETS || metric == GPU_ALLOCS ||
			metric == GPU_SYNCS || metric == GPU_MARKERS ||
			(metric >= GPU_SAMPLED && metric <= GPU_SAMPLES_OUTSIDE) ||
			metric >= GPU_N_FIXED + m->stalls.n;
	return is_basic ? m->n_samples.at[metric] != 0 : m->sums.at[metric] != 0;
}

static char *describe_samples(const struct gpu_metrics *m, struct model *model, const char *what,
			      const char *vendor)
{
	char *text;
	int n = asprintf(
		&text,
		"%s%s%s%s: %llu samples exact, %llu apportioned: over the contexts that launched "
		"the kernel by their GPU time, and over the calls that lead to a device function",
		what, vendor[0] ? " (" : "", vendor, vendor[0] ? ")" : "",
		(unsigned long long)m->n_exact, (unsigned long long)m->n_apportioned);
	return n < 0 ? NULL : model_own(model, text);
}

static enum model_metric_role role_of(uint32_t metric)
{
	switch (metric) {
	case GPU_TIME: return MODEL_ROLE_GPU_TIME;
	case GPU_KERNEL_TIME: return MODEL_ROLE_KERNEL_TIME;
	case GPU_COPY_TIME: return MODEL_ROLE_COPY_TIME;
	case GPU_SET_TIME: return MODEL_ROLE_SET_TIME;
	case GPU_SYNC_TIME: return MODEL_ROLE_SYNC_TIME;
	case GPU_KERNELS: return MODEL_ROLE_KERNELS;
	case GPU_COPIES: return MODEL_ROLE_COPIES;
	case GPU_SETS: return MODEL_ROLE_SETS;
	case GPU_SYNCS: return MODEL_ROLE_SYNCS;
	case GPU_SAMPLES: return MODEL_ROLE_SAMPLES;
	case GPU_APPORTIONED: return MODEL_ROLE_APPORTIONED;
	case GPU_SAMPLED: return MODEL_ROLE_MEASURED;
	case GPU_SAMPLES_EXPECTED: return MODEL_ROLE_EXPECTED;
	default: break;
	}
	if (metric >= GPU_COPY_BYTES && metric < GPU_COPY_BYTES + MSR_N_GPU_DIRECTIONS)
		return MODEL_ROLE_COPY_BYTES;
	if (metric >= GPU_SET_BYTES && metric < GPU_SET_BYTES + MSR_N_GPU_MEMORIES)
		return MODEL_ROLE_SET_BYTES;
	return MODEL_ROLE_NONE;
}

static bool describe_fixed(const struct gpu_metrics *m, struct model *model, uint32_t metric,
			   const uint32_t *index_of, struct model_metric *out)
{
	*out = (struct model_metric){
		.kind = fixed[metric].kind,
		.role = (uint8_t)role_of(metric),
		.name = fixed[metric].name,
		.unit = fixed[metric].unit,
		.description = fixed[metric].description,
		.parent = fixed[metric].parent == NO ? MODEL_NONE : index_of[fixed[metric].parent],
		.divisor =
			fixed[metric].divisor == NO ? MODEL_NONE : index_of[fixed[metric].divisor]};
	if (out->kind == MODEL_METRIC_GPU_SAMPLES) {
		out->apportioned = m->n_apportioned != 0;
		out->description = describe_samples(m, model, fixed[metric].description, "");
	}
	return out->description != NULL;
}

static bool describe_stall(const struct gpu_metrics *m, struct model *model,
			   const struct gpu_stall_metric *s, const uint32_t *index_of,
			   struct model_metric *out)
{
	bool only = s->flags & MSR_GPU_STALL_ONLY_NOT_ISSUED,
	     issued = s->flags & MSR_GPU_STALL_ISSUED;
	const struct gpu_stall *known = gpu_stall_of(s->vendor);
	char *copy = strdup(s->name);
	*out = (struct model_metric){
		.kind = MODEL_METRIC_GPU_SAMPLES,
		.unit = "count",
		.divisor = MODEL_NONE,
		.apportioned = m->n_apportioned != 0,
		.name = copy ? model_own(model, copy) : NULL,
		.description = describe_samples(m, model,
						s->description[0] ? s->description
						: known           ? known->description
								  : "GPU instruction stalls",
						s->vendor),
		.parent = only ? MODEL_NONE : index_of[issued ? GPU_SAMPLES : GPU_STALLED],
		.meaning = known ? known->description : NULL,
		.hint = known ? known->hint : NULL};
	out->role = only ? MODEL_ROLE_STALL_IDLE : issued ? MODEL_ROLE_ISSUED : MODEL_ROLE_STALL;
	out->reason = out->name ? gpu_stall_reason(out->name) : NULL;
	out->idle = MODEL_NONE;
	return out->name && out->description;
}

/* Finds the idle part of each stall, which has its name with "_NI" behind. */
static void pair_stalls(struct model_metric *metrics, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; metrics[i].role == MODEL_ROLE_STALL && k < n; k++)
			if (metrics[k].role == MODEL_ROLE_STALL_IDLE &&
			    gpu_stall_is_idle_part(metrics[k].reason, metrics[i].reason))
				metrics[i].idle = k;
}

static struct model_metric describe_counter(const struct gpu_counter_metric *c)
{
	return (struct model_metric){.kind = MODEL_METRIC_GPU_COUNT,
				     .name = c->name,
				     .description = c->description,
				     .unit = c->unit == MSR_UNIT_NS      ? "sec"
					     : c->unit == MSR_UNIT_BYTES ? "B"
									 : "count",
				     .parent = MODEL_NONE,
				     .divisor = MODEL_NONE};
}

bool gpu_metrics_describe(const struct gpu_metrics *m, struct model *model, uint32_t **index_of)
{
	uint32_t n = (uint32_t)m->n_samples.n;
	struct model_metric *metrics =
		realloc(model->private_->metrics, (model->n_metrics + n + 1) * sizeof *metrics);
	if (metrics)
		model->metrics = model->private_->metrics = metrics;
	*index_of = malloc((n + 1) * sizeof **index_of);
	if (!metrics || !*index_of)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		bool ok = true;
		struct model_metric *out = &metrics[model->n_metrics];
		(*index_of)[i] = MODEL_NONE;
		if (!occurs(m, i))
			continue;
		if (i < GPU_N_FIXED)
			ok = describe_fixed(m, model, i, *index_of, out);
		else if (i - GPU_N_FIXED < m->stalls.n)
			ok = describe_stall(m, model, &m->stalls.at[i - GPU_N_FIXED], *index_of,
					    out);
		else
			*out = describe_counter(&m->counters.at[i - GPU_N_FIXED - m->stalls.n]);
		if (!ok)
			return false;
		out->event = "gpu";
		(*index_of)[i] = model->n_metrics++;
	}
	pair_stalls(metrics, model->n_metrics);
	return true;
}

void gpu_metrics_free(struct gpu_metrics *m)
{
	for (size_t i = 0; i < m->stalls.n; i++)
		free(m->stalls.at[i].name);
	vec_free(&m->stalls);
	vec_free(&m->counters);
	vec_free(&m->n_samples);
	vec_free(&m->sums);
}
