/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_sampling.h. Test: tests/unit/prof_gpu/test_gpu_ranges.c. */
#include "hpcprof-lite/attribute/gpu/samples/gpu_sampling.h"

#include "common/base/capped.h"

#include <stdlib.h>

/* ---- ranges ---- */

static void add_range(struct model_gpu_sampling *s, const struct load_gpu *g,
		      const struct msr_gpu_pc_range *p)
{
	uint64_t length = p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0;
	capped_grow(&s->total, p->total);
	capped_grow(&s->recorded, p->recorded);
	capped_grow(&s->dropped, p->dropped);
	capped_grow(&s->outside, p->outside);
	s->n_open_ranges += p->total != capped_add(capped_add(p->recorded, p->dropped), p->outside);
	s->n_buffer_full += (p->flags & MSR_GPU_RANGE_BUFFER_FULL) != 0;
	s->n_cut += (p->flags & MSR_GPU_RANGE_CUT) != 0;
	if (p->flags & MSR_GPU_RANGE_GAP) {
		s->n_gaps++;
		capped_grow(&s->gap_ns, length);
		s->longest_gap_ns = length > s->longest_gap_ns ? length : s->longest_gap_ns;
		return;
	}
	s->n_ranges++;
	capped_grow(&s->sampled_ns, length);
	if (p->flags & MSR_GPU_RANGE_SERIALIZED) {
		s->n_serialized++;
		capped_grow(&s->serialized_ns, length);
	}
	if (p->period) {
		s->period_least = s->period_least && s->period_least < p->period ? s->period_least
										 : p->period;
		s->period_most = s->period_most > p->period ? s->period_most : p->period;
	}
	if (!s->samplers)
		s->samplers = p->samplers;
	if (!s->clock_mhz)
		s->clock_mhz = gpu_ranges_clock_mhz(g, p->context);
}

/* ---- expected samples ---- */

/* The kernels on one time line, by start. */
struct cursor {
	const struct model_gpu_item *at, *end;
};

static void pass_over(struct cursor *c, const struct gpu_join *j)
{
	while (c->at < c->end && j->cells.at[c->at->cell].kind != MSR_GPU_KERNEL)
		c->at++;
}

/* Cursors of a context as a heap: the one whose kernel starts first is on top. */
struct heap {
	VEC(struct cursor) list;
};

static void sift_down(struct heap *h, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < h->list.n; i = child) {
		struct cursor *c = h->list.at;
		child += child + 1 < h->list.n && c[child + 1].at->start_ns < c[child].at->start_ns;
		if (c[i].at->start_ns <= c[child].at->start_ns)
			return;
		struct cursor swap = c[i];
		c[i] = c[child];
		c[child] = swap;
	}
}

/* A kernel that runs at the current moment of the sweep. */
struct running {
	uint64_t end_ns, n_groups;
};

struct sweep {
	const struct gpu_join *j;
	uint32_t context;
	uint64_t to_mono_ns;
	uint64_t from_ns, n_groups;    /* n_groups have run since from_ns; 0: none run */
	VEC(struct running) running;
	struct gpu_cover cover;
};

/* From `now` on, n_groups run. */
static void change(struct sweep *w, uint64_t now, uint64_t n_groups)
{
	if (w->n_groups && now > w->from_ns)
		gpu_ranges_cover(&w->j->ranges, w->context, w->from_ns + w->to_mono_ns,
				 now + w->to_mono_ns, w->n_groups, &w->cover);
	w->from_ns = now;
	w->n_groups = n_groups;
}

static uint64_t sum_groups(const struct sweep *w)
{
	uint64_t n = 0;
	for (size_t i = 0; i < w->running.n; i++)
		n = n + w->running.at[i].n_groups < n ? UINT64_MAX : n + w->running.at[i].n_groups;
	return n;
}

/* Ends all kernels that end by `now`, the earliest first. */
static void end_until(struct sweep *w, uint64_t now)
{
	while (w->running.n) {
		size_t first = 0;
		for (size_t i = 1; i < w->running.n; i++)
			first = w->running.at[i].end_ns < w->running.at[first].end_ns ? i : first;
		uint64_t end_ns = w->running.at[first].end_ns;
		if (end_ns > now)
			return;
		w->running.at[first] = w->running.at[--w->running.n];
		change(w, end_ns, sum_groups(w));
	}
}

static bool begin(struct sweep *w, const struct model_gpu_item *item)
{
	uint64_t n_groups = gpu_join_groups(&w->j->file->gpu, w->j->cells.at[item->cell].shape);
	end_until(w, item->start_ns);
	struct running *new = vec_push(&w->running);
	if (!new)
		return false;
	*new = (struct running){
		item->end_ns, n_groups ? n_groups : UINT32_MAX /* as many as fit */};
	change(w, item->start_ns, sum_groups(w));
	return true;
}

static bool sweep_context(struct sweep *w)
{
	struct heap h = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < w->j->lines.n; i++) {
		const struct gpu_line *line = &w->j->lines.at[i];
		const struct load_gpu_queue *q =
			load_gpu_find(&w->j->file->gpu.queues, line->queue);
		struct cursor c = {line->items, line->items + line->n};
		pass_over(&c, w->j);
		if (c.at == c.end || !q || q->record->context != w->context)
			continue;
		struct cursor *new = vec_push(&h.list);
		ok = new != NULL;
		if (ok)
			*new = c;
	}
	for (size_t i = h.list.n / 2; ok && i-- > 0;)
		sift_down(&h, i);
	while (ok && h.list.n) {
		struct cursor *top = &h.list.at[0];
		ok = begin(w, top->at++);
		pass_over(top, w->j);
		if (top->at == top->end)
			*top = h.list.at[--h.list.n];
		sift_down(&h, 0);
	}
	end_until(w, UINT64_MAX);
	vec_free(&w->running);
	vec_free(&h.list);
	return ok;
}

/* Without time lines, count overlapping kernels as if they ran one after the other. */
static bool count_promised(struct model_gpu_sampling *s, const struct gpu_join *j)
{
	const struct load_gpu *g = &j->file->gpu;
	struct gpu_cover all = {0};
	for (size_t i = 0; !j->lines.n && i < j->cells.n; i++) {
		all.expected += j->cells.at[i].cover.expected;
		all.promised += j->cells.at[i].cover.promised;
	}
	for (uint32_t context = 0; j->lines.n && context < (g->contexts.n ? g->contexts.n : 1);
	     context++) {
		struct sweep w = {.j = j,
				  .context = context,
				  .to_mono_ns = j->file->header.start_mono_ns -
						j->file->header.start_real_ns};
		if (!sweep_context(&w))
			return false;
		all.expected += w.cover.expected;
		all.promised += w.cover.promised;
	}
	s->expected += all.expected;
	s->promised += all.promised;
	return true;
}

bool gpu_sampling_count(struct model_gpu_sampling *s, const struct gpu_join *j)
{
	const struct load_gpu *g = &j->file->gpu;
	for (size_t k = 0; k < g->ranges.n; k++)
		for (uint64_t i = 0; i < g->ranges.at[k].n; i++)
			add_range(s, g, load_gpu_at(&g->ranges.at[k], i));
	for (unsigned b = 0; b < LOAD_GPU_BACKENDS; b++)
		s->not_written += g->tallies[b] ? g->tallies[b]->n_lost_pc : 0;
	return !j->ranges.list.n || count_promised(s, j);
}

/* ---- sums ---- */

void gpu_sampling_add_yardstick(struct model_gpu_sampling *s, const struct model_gpu_yardstick *y,
				double weight)
{
	s->yardstick.n_kernels++;
	s->yardstick.n_samples += y->n_samples;
	if (y->wrong_context >= 0) {
		s->yardstick.weight += weight;
		s->yardstick.wrong_context += weight * y->wrong_context;
		s->yardstick.chance_context += weight * y->chance_context;
	}
	if (y->wrong_place >= 0) {
		s->yardstick.place_weight += weight;
		s->yardstick.wrong_place += weight * y->wrong_place;
		s->yardstick.chance_place += weight * y->chance_place;
	}
}

static bool has_lost_values(const struct load_gpu *g)
{
	bool has = false;
	for (unsigned b = 0; b < LOAD_GPU_BACKENDS; b++)
		has = has || (g->tallies[b] && g->tallies[b]->n_lost_values);
	return has;
}

/*
 * Samples may be missing at the end only if the process was killed, the back end could not be
 * queried, or records could not be written.
 */
void gpu_sampling_settle(struct model_gpu_sampling *s, const struct load_file *f)
{
	uint64_t found = capped_add(capped_add(s->in_tree_exact, s->in_tree_apportioned),
				    capped_add(s->in_tree_unattributed, s->not_written));
	bool is_cut = f->header.exit_kind == MSR_EXIT_NONE ||
		      f->header.exit_kind == MSR_EXIT_SIGNAL ||
		      f->header.exit_kind == MSR_EXIT_QUICK ||
		      f->header.exit_kind == MSR_EXIT_WITHDRAWN || has_lost_values(&f->gpu);
	s->closes = !s->n_open_ranges && s->total != UINT64_MAX && found != UINT64_MAX;
	if (!s->n_ranges && !s->n_gaps)
		return; /* the back end reports no ranges */
	if (is_cut)
		s->cut_off = found > s->recorded ? found - s->recorded : s->recorded - found;
	s->closes = s->closes && (is_cut || found == s->recorded);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

void gpu_sampling_add(struct model_gpu_sampling *to, const struct model_gpu_sampling *from)
{
	capped_grow(&to->n_ranges, from->n_ranges);
	to->n_open_ranges += from->n_open_ranges;
	capped_grow(&to->total, from->total);
	capped_grow(&to->recorded, from->recorded);
	capped_grow(&to->dropped, from->dropped);
	capped_grow(&to->outside, from->outside);
	capped_grow(&to->in_tree_exact, from->in_tree_exact);
	capped_grow(&to->in_tree_apportioned, from->in_tree_apportioned);
	capped_grow(&to->apportioned_by_calls, from->apportioned_by_calls);
	capped_grow(&to->apportioned_by_launches, from->apportioned_by_launches);
	capped_grow(&to->in_tree_unattributed, from->in_tree_unattributed);
	capped_grow(&to->not_written, from->not_written);
	capped_grow(&to->cut_off, from->cut_off);
	capped_grow(&to->in_tree_not_issued, from->in_tree_not_issued);
	capped_grow(&to->sampled_ns, from->sampled_ns);
	capped_grow(&to->serialized_ns, from->serialized_ns);
	capped_grow(&to->gap_ns, from->gap_ns);
	to->longest_gap_ns = from->longest_gap_ns > to->longest_gap_ns ? from->longest_gap_ns
								       : to->longest_gap_ns;
	capped_grow(&to->n_gaps, from->n_gaps);
	to->n_cut += from->n_cut;
	to->n_buffer_full += from->n_buffer_full;
	capped_grow(&to->n_serialized, from->n_serialized);
	to->period_least = least(to->period_least, from->period_least);
	to->period_most = to->period_most > from->period_most ? to->period_most : from->period_most;
	to->samplers = to->samplers ? to->samplers : from->samplers;
	to->clock_mhz = to->clock_mhz ? to->clock_mhz : from->clock_mhz;
	to->expected += from->expected;
	to->promised += from->promised;
	to->yardstick.n_kernels += from->yardstick.n_kernels;
	to->yardstick.n_samples += from->yardstick.n_samples;
	to->yardstick.weight += from->yardstick.weight;
	to->yardstick.wrong_context += from->yardstick.wrong_context;
	to->yardstick.chance_context += from->yardstick.chance_context;
	to->yardstick.place_weight += from->yardstick.place_weight;
	to->yardstick.wrong_place += from->yardstick.wrong_place;
	to->yardstick.chance_place += from->yardstick.chance_place;
	to->closes = to->closes && from->closes;
}
