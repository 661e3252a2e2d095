/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_gpu.h. One pass over the tree, two over the operations. Test:
 * tests/unit/prof/test_view_gpu.c. */
#include "hpcprof-lite/view/view_gpu.h"

#include "common/base/map.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_OPS = 512, LANE_OPS = 64 };

/* The first copy of a call path in a direction. */
struct first_copy {
	uint32_t direction;
	uint64_t bytes;
};

struct making {
	const struct model *m;
	struct view_gpu *g;
	struct map index; /* (function, 0) -> kernel, (context, 1 + direction) -> first copy */
	VEC(struct first_copy) firsts;
};

bool view_is_placeholder(const struct model *m, uint32_t function)
{
	return function < m->n_functions && m->functions[function].gpu_kind != MSR_GPU_NO_KIND;
}

bool view_is_kernel(const struct model *m, uint32_t context)
{
	const struct model_context *c = &m->contexts[context],
				   *parent =
					   c->parent != MODEL_NONE ? &m->contexts[c->parent] : NULL;
	return c->kind == MODEL_CONTEXT_FUNCTION && !view_is_placeholder(m, c->function) &&
	       parent && parent->kind == MODEL_CONTEXT_FUNCTION &&
	       parent->function < m->n_functions &&
	       m->functions[parent->function].gpu_kind == MSR_GPU_KERNEL;
}

/* ---- inside of kernels ---- */

void view_gpu_spread(const struct model *m, struct view_values *time,
		     const struct view_values *samples)
{
	time->spread = true;
	for (uint32_t k = 0; k < m->n_contexts; k++) {
		if (!view_is_kernel(m, k) || samples->total[k] <= 0)
			continue;
		double of_one = time->total[k] / samples->total[k];
		time->self[k] = of_one * samples->self[k];
		for (uint32_t c = k + 1; c < k + m->contexts[k].subtree_n; c++) {
			time->total[c] = of_one * samples->total[c];
			time->self[c] = of_one * samples->self[c];
		}
	}
}

unsigned view_gpu_stalls(const struct model *m, uint32_t context, enum model_scope scope,
			 struct view_gpu_stall top[2])
{
	uint32_t samples = view_find_metric(m, MODEL_ROLE_SAMPLES);
	const struct model_total *all =
		samples != MODEL_NONE ? model_find_total(m, context, samples) : NULL;
	unsigned n = 0;
	top[0] = top[1] = (struct view_gpu_stall){.metric = MODEL_NONE};
	for (uint32_t i = samples + 1; all && i < m->n_metrics; i++) {
		if (m->metrics[i].role != MODEL_ROLE_STALL &&
		    m->metrics[i].role != MODEL_ROLE_ISSUED)
			continue;
		const struct model_total *t = model_find_total(m, context, i);
		const struct view_gpu_stall s = {i, t ? t->sum[scope] : 0, all->sum[scope]};
		if (s.value > top[0].value) {
			top[1] = top[0];
			top[0] = s;
		} else if (s.value > top[1].value) {
			top[1] = s;
		}
	}
	while (n < 2 && top[n].metric != MODEL_NONE && top[n].value >= 0.05 * top[n].whole)
		n++;
	return n;
}

/* ---- kernels ---- */

/*
 * The kernel of a context: its function if a placeholder for kernels calls it, or that placeholder;
 * MODEL_NONE: it is not a kernel.
 */
static uint32_t kernel_of(const struct model *m, uint32_t context)
{
	const struct model_context *c = &m->contexts[context],
				   *parent =
					   c->parent != MODEL_NONE ? &m->contexts[c->parent] : NULL;
	if (c->kind != MODEL_CONTEXT_FUNCTION || c->function >= m->n_functions)
		return MODEL_NONE;
	if (m->functions[c->function].gpu_kind == MSR_GPU_KERNEL)
		return c->function;
	if (parent && parent->kind == MODEL_CONTEXT_FUNCTION && parent->function < m->n_functions &&
	    m->functions[parent->function].gpu_kind == MSR_GPU_KERNEL)
		return c->function;
	return MODEL_NONE;
}

/* Makes the kernel if it is new. NULL: memory is short. */
static struct view_gpu_kernel *find_kernel(struct making *w, uint32_t function)
{
	struct view_gpu *g = w->g;
	uint64_t id = map_put(&w->index, function, 0, g->kernels.n);
	if (id == g->kernels.n) {
		struct view_gpu_kernel *k = vec_push(&g->kernels);
		if (k)
			*k = (struct view_gpu_kernel){
				.function = function, .min_ns = UINT64_MAX, .shape = MODEL_NONE};
		return k;
	}
	return id == MAP_NONE ? NULL : &g->kernels.at[id];
}

static bool add_totals(struct making *w)
{
	const struct model *m = w->m;
	uint32_t time = view_find_metric(m, MODEL_ROLE_KERNEL_TIME),
		 count = view_find_metric(m, MODEL_ROLE_KERNELS);
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		if ((t->metric != time && t->metric != count) || t->sum[MODEL_POINT] == 0)
			continue;
		uint32_t function = kernel_of(m, t->context);
		if (function == MODEL_NONE)
			continue;
		struct view_gpu_kernel *k = find_kernel(w, function);
		if (!k)
			return false;
		*(t->metric == time ? &k->seconds : &k->n) += t->sum[MODEL_POINT];
	}
	return true;
}

/* ---- operations ---- */

static void add_sum(struct view_gpu_sum *s, const struct model_gpu_op *op)
{
	s->n++;
	s->bytes += op->bytes;
	s->ns += op->end_ns - op->start_ns;
}

static bool add_copy(struct making *w, const struct model_gpu_op *op)
{
	unsigned direction = op->detail < MSR_N_GPU_DIRECTIONS ? op->detail : MSR_GPU_COPY_UNKNOWN;
	add_sum(&w->g->copies[direction], op);
	uint64_t at = map_put(&w->index, op->context, 1 + (uint64_t)direction, w->firsts.n);
	if (at == w->firsts.n) {
		struct first_copy *new = vec_push(&w->firsts);
		if (!new)
			return false;
		*new = (struct first_copy){direction, op->bytes};
	}
	return at != MAP_NONE;
}

static bool add_op(struct making *w, const struct model_gpu_op *op)
{
	uint64_t length = op->end_ns - op->start_ns;
	if (op->kind == MSR_GPU_COPY)
		return add_copy(w, op);
	if (op->kind == MSR_GPU_SET)
		add_sum(&w->g->sets, op);
	uint32_t function =
		op->kind == MSR_GPU_KERNEL ? kernel_of(w->m, op->context) : MODEL_NONE;
	if (function == MODEL_NONE)
		return true;
	struct view_gpu_kernel *k = find_kernel(w, function);
	if (!k)
		return false;
	k->n_ops++;
	k->min_ns = length < k->min_ns ? length : k->min_ns;
	k->max_ns = length > k->max_ns ? length : k->max_ns;
	if (k->shape == MODEL_NONE)
		k->shape = op->shape;
	k->more_shapes |= op->shape != MODEL_NONE && op->shape != k->shape;
	return true;
}

static bool add_ops(struct making *w)
{
	const struct model *m = w->m;
	struct model_gpu_op ops[CHUNK_OPS];
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		struct model_gpu_cursor cursor = {0};
		uint64_t first_ns = UINT64_MAX, last_ns = 0;
		if (m->profiles[i].kind != MODEL_PROFILE_QUEUE)
			continue;
		struct view_gpu_sum *q = &w->g->queues[m->profiles[i].queue];
		for (size_t n; (n = model_gpu_read(m, i, &cursor, ops, CHUNK_OPS));) {
			first_ns = ops[0].start_ns < first_ns ? ops[0].start_ns : first_ns;
			last_ns = ops[n - 1].end_ns;
			q->n += n;
			for (size_t k = 0; k < n; k++)
				if (!add_op(w, &ops[k]))
					return false;
		}
		if (last_ns > first_ns && last_ns - first_ns > q->ns)
			q->ns = last_ns - first_ns;
	}
	return true;
}

/* ---- use of devices ---- */

/* One lane in the merge of a device's lanes by time. */
struct lane {
	uint32_t profile;
	struct model_gpu_cursor cursor;
	size_t n, at;
	struct model_gpu_op ops[LANE_OPS];
};

static bool refill(const struct model *m, struct lane *l)
{
	l->at = 0;
	l->n = model_gpu_read(m, l->profile, &l->cursor, l->ops, LANE_OPS);
	return l->n != 0;
}

/* The lane whose next operation starts first; n if all are at their end. */
static size_t next_lane(struct lane *lanes, size_t n)
{
	size_t best = n;
	for (size_t i = 0; i < n; i++)
		if (lanes[i].n && (best == n || lanes[i].ops[lanes[i].at].start_ns <
							lanes[best].ops[lanes[best].at].start_ns))
			best = i;
	return best;
}

/*
 * Copies that could be done in pieces while kernels run. A copy to the device can overlap the
 * kernels that follow, up to the first that runs again, because that one may need all of the data.
 * A copy from the device can overlap the kernel before it.
 */
struct pieces {
	uint64_t to_device_ns; /* of the last copies in a row, minus what kernels have overlapped */
	uint64_t kernel_ns;    /* of the last kernel, minus what copies have overlapped */
	bool is_copying;
	uint32_t kernels[8]; /* functions since the last copy to the device */
	unsigned n_kernels;
	uint64_t sum_ns;
};

static void put_beside(struct pieces *p, uint64_t *a_ns, uint64_t *b_ns)
{
	uint64_t both_ns = *a_ns < *b_ns ? *a_ns : *b_ns;
	p->sum_ns += both_ns;
	*a_ns -= both_ns;
	*b_ns -= both_ns;
}

static void pass_kernel(struct pieces *p, uint32_t function, uint64_t length_ns)
{
	uint64_t left_ns = length_ns;
	bool is_again = p->n_kernels == sizeof p->kernels / sizeof p->kernels[0];
	for (unsigned i = 0; i < p->n_kernels; i++)
		is_again |= p->kernels[i] == function;
	if (is_again)
		p->to_device_ns = 0;
	else
		p->kernels[p->n_kernels++] = function;
	put_beside(p, &p->to_device_ns, &left_ns);
	p->kernel_ns = length_ns;
	p->is_copying = false;
}

static void pass_op(const struct model *m, const struct model_gpu_op *op, struct pieces *p)
{
	uint64_t length_ns = op->end_ns - op->start_ns;
	if (op->kind == MSR_GPU_KERNEL) {
		pass_kernel(p, kernel_of(m, op->context), length_ns);
	} else if (op->kind == MSR_GPU_COPY && op->detail == MSR_GPU_COPY_H2D) {
		if (!p->is_copying)
			p->to_device_ns = p->n_kernels = 0;
		p->is_copying = true;
		p->to_device_ns += length_ns;
	} else if (op->kind == MSR_GPU_COPY && op->detail == MSR_GPU_COPY_D2H) {
		put_beside(p, &p->kernel_ns, &length_ns);
	}
}

static uint64_t merge_busy(const struct model *m, struct lane *lanes, size_t n,
			   struct pieces *pieces)
{
	uint64_t busy = 0, end_ns = 0;
	for (size_t i = 0; i < n; i++)
		refill(m, &lanes[i]);
	for (size_t i; (i = next_lane(lanes, n)) < n;) {
		const struct model_gpu_op *op = &lanes[i].ops[lanes[i].at];
		uint64_t start_ns = op->start_ns > end_ns ? op->start_ns : end_ns;
		if (op->end_ns > start_ns) {
			busy += op->end_ns - start_ns;
			end_ns = op->end_ns;
		}
		pass_op(m, op, pieces);
		if (++lanes[i].at == lanes[i].n)
			refill(m, &lanes[i]);
	}
	return busy;
}

static bool is_of(const struct model *m, uint32_t profile, uint32_t device)
{
	return m->profiles[profile].kind == MODEL_PROFILE_QUEUE &&
	       m->gpu_queues[m->profiles[profile].queue].device == device;
}

static bool measure_devices(struct making *w)
{
	const struct model *m = w->m;
	for (uint32_t d = 0; d < m->n_gpu_devices; d++) {
		size_t n = 0;
		for (uint32_t i = 0; i < m->n_profiles; i++)
			n += is_of(m, i, d);
		struct lane *lanes = calloc(n ? n : 1, sizeof *lanes);
		if (!lanes)
			return false;
		n = 0;
		for (uint32_t i = 0; i < m->n_profiles; i++)
			if (is_of(m, i, d))
				lanes[n++].profile = i;
		struct pieces pieces = {0};
		w->g->device_busy_ns[d] = merge_busy(m, lanes, n, &pieces);
		w->g->device_pieces_ns[d] = pieces.sum_ns;
		free(lanes);
	}
	return true;
}

/* ---- the whole ---- */

static bool read_lines(struct making *w)
{
	const struct model *m = w->m;
	struct view_gpu *g = w->g;
	*g = (struct view_gpu){0};
	g->queues = calloc((size_t)m->n_gpu_queues + 1, sizeof *g->queues);
	g->device_busy_ns = calloc((size_t)m->n_gpu_devices + 1, sizeof *g->device_busy_ns);
	g->device_pieces_ns = calloc((size_t)m->n_gpu_devices + 1, sizeof *g->device_pieces_ns);
	return g->queues && g->device_busy_ns && g->device_pieces_ns && add_ops(w) &&
	       measure_devices(w);
}

static int compare_kernels(const void *pa, const void *pb)
{
	const struct view_gpu_kernel *a = pa, *b = pb;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

bool view_gpu_open(const struct model *m, struct view_gpu *g)
{
	struct making w = {.m = m, .g = g};
	const bool ok = read_lines(&w) && add_totals(&w);
	for (size_t i = 0; i < w.firsts.n; i++)
		g->copies[w.firsts.at[i].direction].once_bytes += w.firsts.at[i].bytes;
	map_free(&w.index);
	vec_free(&w.firsts);
	if (!ok)
		view_gpu_close(g);
	else if (g->kernels.n)
		qsort(g->kernels.at, g->kernels.n, sizeof *g->kernels.at, compare_kernels);
	return ok;
}

void view_gpu_close(struct view_gpu *g)
{
	vec_free(&g->kernels);
	free(g->queues);
	free(g->device_busy_ns);
	free(g->device_pieces_ns);
	*g = (struct view_gpu){0};
}
