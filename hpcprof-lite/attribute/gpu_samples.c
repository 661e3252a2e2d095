/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_samples.h. Test: tests/unit/test_gpu_samples.c. */
#include "hpcprof-lite/attribute/gpu_samples.h"

#include <stdlib.h>
#include <string.h>

#define NO_CELL UINT32_MAX

/* Equal samples: one owner (cell, NO_CELL: to be shared out), function, offset, stall. */
struct sample {
	uint32_t cell, function;
	uint64_t offset, count;
	uint16_t stall;
};

/* A context in which a kernel ran, with its share. */
struct launcher {
	uint32_t function, code;
	uint32_t thread, context;
	uint64_t weight;
};

struct run {
	const struct gpu_sampled *s;
	const struct load_gpu *g;
	VEC(struct sample) samples;
	VEC(struct launcher) launchers; /* by function */
	uint32_t *metric_of_stall;      /* by id */
};

struct expand_kernel gpu_samples_function(const struct load_gpu *g, const uint32_t *module_of, uint32_t function)
{
	const struct load_gpu_function *f = load_gpu_find(&g->functions, function);
	if (!f)
		return (struct expand_kernel){MODEL_NONE, "", ""};
	const struct load_gpu_code *code = load_gpu_find(&g->codes, f->record->code);
	return (struct expand_kernel){code ? module_of[f->record->code] : MODEL_NONE, f->name, f->source_name};
}

static uint32_t code_of(const struct load_gpu *g, uint32_t function)
{
	const struct load_gpu_function *f = load_gpu_find(&g->functions, function);
	return f ? f->record->code : 0;
}

/* ---- gathering ---- */

static int compare_samples(const void *pa, const void *pb)
{
	const struct sample *a = pa, *b = pb;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->stall > b->stall) - (a->stall < b->stall);
}

static bool gather_samples(struct run *r)
{
	size_t kept = 0;
	for (size_t k = 0; k < r->g->pcs.n; k++)
		for (uint64_t i = 0; i < r->g->pcs.at[k].n; i++) {
			const struct msr_gpu_pc *p = load_gpu_at(&r->g->pcs.at[k], i);
			uint64_t cell = p->id ? map_get(&r->s->join->wanted, p->id & MSR_GPU_ID_MAX, 0) : MAP_NONE;
			struct sample *at = vec_push(&r->samples);
			if (!at)
				return false;
			*at = (struct sample){cell == MAP_NONE ? NO_CELL : (uint32_t)cell, p->function, p->offset, p->count, p->stall};
		}
	if (r->samples.n)
		qsort(r->samples.at, r->samples.n, sizeof *r->samples.at, compare_samples);
	for (size_t i = 0; i < r->samples.n; i++) {
		if (kept && compare_samples(&r->samples.at[kept - 1], &r->samples.at[i]) == 0)
			r->samples.at[kept - 1].count += r->samples.at[i].count;
		else
			r->samples.at[kept++] = r->samples.at[i];
	}
	r->samples.n = kept;
	return true;
}

/* Only differences in what the file says may decide the order: contexts are numbered as they were met. */
static int compare_launchers(const void *pa, const void *pb)
{
	const struct launcher *a = pa, *b = pb;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

static bool gather_launchers(struct run *r)
{
	const struct gpu_join *j = r->s->join;
	size_t kept = 0;
	for (size_t i = 0; i < j->cells.n; i++) {
		const struct gpu_cell *c = &j->cells.at[i];
		uint32_t function = gpu_join_function(r->g, c->shape);
		if (c->kind != MSR_GPU_KERNEL || !function)
			continue;
		struct launcher *at = vec_push(&r->launchers);
		if (!at)
			return false;
		*at = (struct launcher){.function = function, .code = code_of(r->g, function), .thread = c->thread, .context = r->s->context_of[i],
			.weight = c->busy_ns};
	}
	if (r->launchers.n)
		qsort(r->launchers.at, r->launchers.n, sizeof *r->launchers.at, compare_launchers);
	for (size_t i = 0; i < r->launchers.n; i++) {
		struct launcher *l = &r->launchers.at[i];
		if (kept && compare_launchers(&r->launchers.at[kept - 1], l) == 0)
			r->launchers.at[kept - 1].weight += l->weight;
		else
			r->launchers.at[kept++] = *l;
	}
	r->launchers.n = kept;
	return true;
}

/* ---- counting ---- */

/* Counts `count` samples at the place in `function` below the kernel context. */
static bool count_at(struct run *r, const struct sample *p, uint32_t thread, uint32_t kernel, uint64_t count)
{
	struct expand_kernel f = gpu_samples_function(r->g, r->s->module_of, p->function);
	struct sum_extra x = {.thread = thread, .context = expand_gpu_place(r->s->expand, kernel, &f, p->offset), .n_samples = count, .sum = count};
	uint32_t stall = p->stall < r->g->stalls.n ? r->metric_of_stall[p->stall] : MODEL_NONE;
	uint32_t flags = gpu_metrics_stall_flags(r->s->metrics, stall);
	uint32_t metrics[3] = {stall, MODEL_NONE, MODEL_NONE};
	if (!(flags & MSR_GPU_STALL_ONLY_NOT_ISSUED)) {
		metrics[1] = GPU_SAMPLES;
		metrics[2] = stall != MODEL_NONE && !(flags & MSR_GPU_STALL_ISSUED) ? GPU_STALLED : MODEL_NONE;
	}
	for (unsigned i = 0; i < 3; i++) {
		x.metric = metrics[i];
		if (x.metric != MODEL_NONE && !gpu_metrics_add(r->s->metrics, r->s->extras, &x))
			return false;
	}
	return true;
}

static void account(struct run *r, const struct sample *p, bool is_exact)
{
	uint32_t stall = p->stall < r->g->stalls.n ? r->metric_of_stall[p->stall] : MODEL_NONE;
	if (gpu_metrics_stall_flags(r->s->metrics, stall) & MSR_GPU_STALL_ONLY_NOT_ISSUED) {
		r->s->sampling->in_tree_not_issued += p->count;
		return;
	}
	*(is_exact ? &r->s->sampling->in_tree_exact : &r->s->sampling->in_tree_apportioned) += p->count;
	*(is_exact ? &r->s->metrics->n_exact : &r->s->metrics->n_apportioned) += p->count;
}

/* A kernel context for samples that have none: `f` itself as a kernel below `parent`. */
static uint32_t kernel_below(struct run *r, uint32_t parent, uint32_t function)
{
	struct expand_kernel f = gpu_samples_function(r->g, r->s->module_of, function);
	return expand_gpu_kernel(r->s->expand, expand_gpu_placeholder(r->s->expand, parent, MSR_GPU_KERNEL, 0), &f);
}

static bool count_exact(struct run *r, const struct sample *p)
{
	const struct gpu_cell *c = &r->s->join->cells.at[p->cell];
	account(r, p, true);
	return count_at(r, p, c->thread, r->s->context_of[p->cell], p->count);
}

/* Those who launched the function; where nobody did (a device function), those who launched kernels of its code object. */
static bool find_launchers(struct run *r, uint32_t function, struct launcher **list, size_t *n)
{
	size_t begin = 0, end;
	uint32_t code = code_of(r->g, function);
	while (begin < r->launchers.n && r->launchers.at[begin].function < function)
		begin++;
	for (end = begin; end < r->launchers.n && r->launchers.at[end].function == function;)
		end++;
	*n = 0;
	*list = malloc((r->launchers.n ? r->launchers.n : 1) * sizeof **list);
	if (!*list)
		return false;
	if (end > begin)
		memcpy(*list, r->launchers.at + begin, (*n = end - begin) * sizeof **list);
	for (size_t i = 0; !*n && code && i < r->launchers.n; i++)
		if (r->launchers.at[i].code == code)
			(*list)[(*n)++] = r->launchers.at[i];
	return true;
}

/* Who gets the samples of one function. */
struct shares {
	struct launcher *list;
	size_t n;
	uint64_t total;               /* of weights */
	unsigned __int128 *weights, *rests; /* by launcher: sum of the weights (of what a division left) before it; one more: of all */
	uint64_t n_drawn;
};

static bool begin_shares(struct run *r, uint32_t function, struct shares *s)
{
	*s = (struct shares){0};
	if (!find_launchers(r, function, &s->list, &s->n))
		return false;
	for (size_t i = 0; i < s->n; i++)
		s->total += s->list[i].weight;
	for (size_t i = 0; s->total == 0 && i < s->n; i++)
		s->list[i].weight = 1;
	s->total = s->total ? s->total : s->n;
	s->weights = calloc(s->n + 1, sizeof *s->weights);
	s->rests = calloc(s->n + 1, sizeof *s->rests);
	for (size_t i = 0; s->weights && i < s->n; i++)
		s->weights[i + 1] = s->weights[i] + s->list[i].weight;
	return s->weights && s->rests;
}

/* Points of the golden section fill the line evenly however many are drawn (Weyl's sequence): where the next one falls. */
static size_t draw(struct shares *s, const unsigned __int128 *before)
{
	uint64_t fraction = ++s->n_drawn * UINT64_C(0x9E3779B97F4A7C15);
	unsigned __int128 all = before[s->n], point = (all >> 64) * fraction + ((unsigned __int128)(uint64_t)all * fraction >> 64);
	size_t low = 0;
	for (size_t high = s->n; high - low > 1;) {
		size_t middle = low + (high - low) / 2;
		if (before[middle] <= point)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Shares a count out. A large one is divided, and what the division leaves is drawn by what each was left short of; of a small one all is drawn, so that lines with
 * few samples do not all fall to the largest launcher and cost no more than their samples. All is determined: equal input gives equal shares.
 */
static bool share_out(struct run *r, struct shares *s, const struct sample *p)
{
	bool is_large = p->count >= s->n;
	uint64_t left = p->count;
	for (size_t i = 0; is_large && i < s->n; i++) {
		unsigned __int128 due = (unsigned __int128)p->count * s->list[i].weight;
		uint64_t share = (uint64_t)(due / s->total);
		s->rests[i + 1] = s->rests[i] + (due - (unsigned __int128)share * s->total);
		left -= share;
		if (share && !count_at(r, p, s->list[i].thread, s->list[i].context, share))
			return false;
	}
	for (; left; left--) {
		const struct launcher *l = &s->list[draw(s, is_large ? s->rests : s->weights)];
		if (!count_at(r, p, l->thread, l->context, 1))
			return false;
	}
	return true;
}

/* Samples p[0 .. n-1] of one function without a known launch. */
static bool apportion(struct run *r, const struct sample *p, size_t n)
{
	struct shares s;
	bool ok = begin_shares(r, p->function, &s);
	uint32_t nowhere = ok && !s.n ? kernel_below(r, expand_gpu_entry(r->s->expand, MODEL_ENTRY_GPU_NO_LAUNCH), p->function) : 0;
	for (size_t k = 0; ok && k < n; k++) {
		account(r, &p[k], s.n == 1);
		ok = s.n ? share_out(r, &s, &p[k]) : count_at(r, &p[k], 0, nowhere, p[k].count);
	}
	free(s.list);
	free(s.weights);
	free(s.rests);
	return ok;
}

static bool count_all(struct run *r)
{
	for (size_t i = 0, end; i < r->samples.n; i = end) {
		const struct sample *p = &r->samples.at[i];
		end = i + 1;
		if (p->cell != NO_CELL) {
			if (!count_exact(r, p))
				return false;
			continue;
		}
		while (end < r->samples.n && r->samples.at[end].cell == NO_CELL && r->samples.at[end].function == p->function)
			end++;
		if (!apportion(r, p, end - i))
			return false;
	}
	return true;
}

static void add_ranges(const struct load_gpu *g, struct model_gpu_sampling *s)
{
	for (size_t k = 0; k < g->ranges.n; k++)
		for (uint64_t i = 0; i < g->ranges.at[k].n; i++) {
			const struct msr_gpu_pc_range *p = load_gpu_at(&g->ranges.at[k], i);
			uint64_t length = p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0;
			s->n_ranges++;
			s->total += p->total;
			s->recorded += p->recorded;
			s->dropped += p->dropped;
			s->outside += p->outside;
			*(p->flags & MSR_GPU_RANGE_GAP ? &s->gap_ns : &s->sampled_ns) += length;
			s->n_buffer_full += (p->flags & MSR_GPU_RANGE_BUFFER_FULL) != 0;
		}
}

/* ---- counters ---- */

static bool add_values(const struct gpu_sampled *s)
{
	const struct load_gpu *g = &s->join->file->gpu;
	for (size_t k = 0; k < g->values.n; k++)
		for (uint64_t i = 0; i < g->values.at[k].n; i++) {
			const struct msr_gpu_value *v = load_gpu_at(&g->values.at[k], i);
			uint64_t cell = v->id ? map_get(&s->join->wanted, v->id & MSR_GPU_ID_MAX, 0) : MAP_NONE;
			struct sum_extra x = {.metric = gpu_metrics_counter(s->metrics, g, v->counter), .n_samples = 1, .sum = v->value};
			if (x.metric == MODEL_NONE) {
				s->join->file->bytes_damaged += sizeof *v;
				continue;
			}
			x.thread = cell == MAP_NONE ? 0 : s->join->cells.at[cell].thread;
			x.context = cell == MAP_NONE ? expand_gpu_entry(s->expand, MODEL_ENTRY_GPU_NO_LAUNCH) : s->context_of[cell];
			if (!gpu_metrics_add(s->metrics, s->extras, &x))
				return false;
		}
	return true;
}

bool gpu_samples_add(const struct gpu_sampled *s)
{
	struct run r = {.s = s, .g = &s->join->file->gpu};
	r.metric_of_stall = malloc((r.g->stalls.n + 1) * sizeof *r.metric_of_stall);
	for (uint32_t i = 0; r.metric_of_stall && i < r.g->stalls.n; i++)
		r.metric_of_stall[i] = gpu_metrics_stall(s->metrics, r.g, i);
	bool ok = r.metric_of_stall && gather_samples(&r) && (!r.samples.n || gather_launchers(&r)) && count_all(&r) && add_values(s);
	add_ranges(r.g, s->sampling);
	s->sampling->closes = s->sampling->total == s->sampling->recorded + s->sampling->dropped + s->sampling->outside
		&& (!s->sampling->n_ranges || s->sampling->recorded == s->sampling->in_tree_exact + s->sampling->in_tree_apportioned);
	free(r.metric_of_stall);
	vec_free(&r.samples);
	vec_free(&r.launchers);
	return ok;
}
