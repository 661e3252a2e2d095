/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Look-ups in the frozen model and the reading of time lines. Everything here is a function over
 * constant data: any number of threads may call it. Test: tests/unit/prof/test_model.c.
 */
#include "hpcprof-lite/model/model.h"

#include "common/base/sorted.h"
#include "hpcprof-lite/model/model_values.h"
#include "hpcprof-lite/model/private.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { AROUND = 64 << 10 }; /* bytes of a file that the kernel maps around a page fault */

uint32_t model_find_python_line(const struct model *m, uint32_t context)
{
	uint32_t innermost = MODEL_NONE;
	for (uint32_t at = context; at != MODEL_NONE; at = m->contexts[at].parent) {
		const struct model_context *c = &m->contexts[at];
		if (c->kind != MODEL_CONTEXT_LINE || c->module >= m->n_modules ||
		    !m->modules[c->module].is_python)
			continue;
		if (!model_is_python_library(m->files[c->file].path))
			return at;
		innermost = innermost == MODEL_NONE ? at : innermost;
	}
	return innermost;
}

const struct model_total *model_find_total(const struct model *m, uint32_t context, uint32_t metric)
{
	size_t begin = sorted_below(m->totals, m->n_totals, context, context);
	const struct model_total *at = m->totals + begin;
	size_t n = sorted_up_to(at, m->n_totals - begin, context, context),
	       i = sorted_below(at, n, metric, metric);
	return i < n && at[i].metric == metric ? &at[i] : NULL;
}

const struct model_value *model_find_value(const struct model *m, uint32_t profile,
					   uint32_t context, uint32_t metric)
{
	const struct model_profile *p = &m->profiles[profile];
	size_t begin = sorted_below(p->values, p->n_values, context, context);
	const struct model_value *at = p->values + begin;
	size_t n = sorted_up_to(at, p->n_values - begin, context, context),
	       i = sorted_below(at, n, metric, metric);
	model_values_done(m, AROUND / sizeof *at);
	return i < n && at[i].metric == metric ? &at[i] : NULL;
}

/*
 * Begins a part of the time line: the clock restarts at the part's first time, but never runs
 * backward.
 */
static uint64_t begin_part(const struct model_trace_part *p, const struct model_trace_cursor *c)
{
	return p->first_ns > c->time_ns ? p->first_ns : c->time_ns;
}

/*
 * Call it after short time lines of many files were read. Gives the pages of all files back now and
 * then.
 */
static void release_many(const struct model *m, uint64_t n_bytes)
{
	enum { WINDOW = 128 << 20 };
	struct model_private *p = m->private_;
	const uint8_t *last = NULL;
	/* relaxed: only a hint; it orders no other accesses */
	if (atomic_fetch_add_explicit(&p->lines_read, n_bytes, memory_order_relaxed) + n_bytes <
	    WINDOW)
		return;
	atomic_store_explicit(&p->lines_read, 0, memory_order_relaxed);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_timeline *line = &p->timelines[i];
		if (line->mapped && line->mapped != last)
			madvise((void *)(uintptr_t)line->mapped, line->mapped_bytes, MADV_DONTNEED);
		last = line->mapped;
	}
}

/*
 * Call it after a part was read. Now and then the pages of the file go back to the page cache, so
 * that memory does not grow with the number of samples.
 */
static void release(const struct model *m, const struct model_timeline *line,
		    const struct model_trace_part *part, struct model_trace_cursor *c)
{
	enum { WINDOW = 4 << 20 };
	c->n_unreleased += part->n_bytes;
	if (line->mapped && c->n_unreleased >= WINDOW) {
		c->n_unreleased = 0;
		madvise((void *)(uintptr_t)line->mapped, line->mapped_bytes, MADV_DONTNEED);
	} else if (line->mapped) {
		release_many(m, AROUND < line->mapped_bytes ? AROUND : line->mapped_bytes);
	}
}

size_t model_trace_read(const struct model *m, uint32_t profile, struct model_trace_cursor *c,
			struct model_sample *out, size_t n)
{
	const struct model_timeline *line = &m->private_->timelines[profile];
	size_t count = 0;
	for (; c->extent < line->n_parts; c->extent++, c->offset = 0) {
		const struct model_trace_part *part = &line->parts[c->extent];
		const uint64_t *words = (const void *)part->content;
		uint64_t n_words = part->n_bytes / sizeof *words, i = c->offset;
		uint64_t now = i ? c->time_ns : begin_part(part, c);
		while (i < n_words && count < n) {
			uint64_t word = words[i++];
			uint32_t metric = line->metric_of[word >> 28 & 15],
				 node = (uint32_t)word & MSR_TRACE_NODE_MAX;
			if ((word >> 28 & 15) == MSR_TRACE_TAG_ESCAPE) {
				if (node == MSR_TRACE_ABSOLUTE && i < n_words) {
					now = words[i] > now && words[i] <= line->latest_ns
						      ? words[i]
						      : now;
					i++;
				}
				continue;
			}
			now += word >> 32;
			if (metric == MODEL_NONE || node >= line->n_nodes ||
			    line->context_of[node] == MODEL_NONE)
				continue;
			uint64_t time_ns = now + (uint64_t)line->to_real_ns;
			if (time_ns < line->from_ns ||
			    (line->until_ns && time_ns >= line->until_ns))
				continue;
			out[count++] = (struct model_sample){
				time_ns, line->context_of[node], metric,
				line->shown_of ? line->shown_of[node] : line->context_of[node]};
		}
		c->time_ns = now;
		c->offset = i;
		if (i < n_words)
			break;
		release(m, line, part, c);
	}
	return count;
}

/* ---- operations of GPUs ---- */

static struct model_gpu_op describe_op(const struct model_gpu_line *line,
				       const struct model_gpu_item *i)
{
	const struct msr_gpu_op *r = i->record;
	struct model_gpu_op op = {.start_ns = i->start_ns,
				  .end_ns = i->end_ns,
				  .enter_ns = i->enter_ns,
				  .id = msr_gpu_op_id(r),
				  .context = line->cells[i->cell].context,
				  .launcher = line->cells[i->cell].launcher,
				  .kind = (uint8_t)msr_gpu_op_kind(r),
				  .detail = (uint8_t)msr_gpu_op_detail(r),
				  .shape = r->shape < line->n_shapes ? line->shape_of[r->shape]
								     : MODEL_NONE};
	if (op.kind == MSR_GPU_KERNEL) {
		op.graph_node = r->amount;
	} else {
		op.bytes = r->amount;
		op.shape = MODEL_NONE;
	}
	if (i->has_waits && r->queued_before_ns != UINT32_MAX)
		op.queued_ns = i->start_ns - r->queued_before_ns;
	if (i->has_waits && r->submitted_before_ns != UINT32_MAX)
		op.submitted_ns = i->start_ns - r->submitted_before_ns;
	return op;
}

size_t model_gpu_read(const struct model *m, uint32_t profile, struct model_gpu_cursor *c,
		      struct model_gpu_op *out, size_t n)
{
	enum { WINDOW = 4 << 20 };
	const struct model_profile *p = &m->profiles[profile];
	size_t count = 0;
	if (p->kind != MODEL_PROFILE_QUEUE)
		return 0;
	const struct model_gpu_line *line = &m->private_->gpu_lines[p->queue];
	for (; c->next < line->n && count < n; c->next++)
		if (line->items[c->next].lane == p->lane)
			out[count++] = describe_op(line, &line->items[c->next]);
	c->n_unreleased += count * sizeof *line->items;
	if (line->mapped && c->n_unreleased >= WINDOW) {
		c->n_unreleased = 0;
		madvise((void *)(uintptr_t)line->mapped, line->mapped_bytes, MADV_DONTNEED);
	}
	return count;
}

/* The first wait of a thread; the waits are sorted by it. */
static uint64_t first_wait(const struct model_gpu_times *t, uint32_t profile)
{
	uint64_t low = 0, high = t->n_waits;
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;
		if (t->waits[middle].launcher < profile)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t model_gpu_read_waits(const struct model *m, uint32_t profile, struct model_gpu_cursor *c,
			    struct model_gpu_stay *out, size_t n)
{
	const struct model_profile *p = &m->profiles[profile];
	size_t count = 0;
	if (p->kind != MODEL_PROFILE_THREAD || !m->private_->gpu_times)
		return 0;
	const struct model_gpu_times *t = &m->private_->gpu_times[p->process];
	uint64_t i = first_wait(t, profile) + c->next;
	for (; i < t->n_waits && t->waits[i].launcher == profile && count < n; i++, c->next++) {
		const struct model_gpu_wait *w = &t->waits[i];
		const uint32_t context = t->cells[w->cell].context;
		if (context != MODEL_NONE)
			out[count++] = (struct model_gpu_stay){w->start_ns, w->end_ns, context};
	}
	return count;
}

struct model *model_new(void)
{
	struct model *m = calloc(1, sizeof *m);
	struct model_private *p = calloc(1, sizeof *p);
	if (!m || !p) {
		free(m);
		free(p);
		return NULL;
	}
	m->title = "";
	m->private_ = p;
	pthread_mutex_init(&p->values_lock, NULL);
	return m;
}

void *model_own(struct model *m, void *memory)
{
	void **slot = memory ? vec_push(&m->private_->owned) : NULL;
	if (!slot) {
		free(memory);
		return NULL;
	}
	return *slot = memory;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	struct model_private *p = m->private_;
	for (uint32_t i = 0; i < m->n_profiles && p->timelines; i++) {
		free(p->timelines[i].parts);
		free(p->timelines[i].context_of);
		free(p->timelines[i].shown_of);
	}
	model_values_free(m);
	pthread_mutex_destroy(&p->values_lock);
	free(p->modules);
	free(p->files);
	free(p->functions);
	free(p->contexts);
	free(p->metrics);
	free(p->processes);
	free(p->profiles);
	free(p->ledgers);
	free(p->totals);
	free(p->timelines);
	free(p->gpu_lines);
	free(p->gpu_times);
	for (size_t i = 0; i < p->spaces.n; i++)
		space_free(&p->spaces.at[i]);
	vec_free(&p->spaces);
	for (size_t i = 0; i < p->owned.n; i++)
		free(p->owned.at[i]);
	vec_free(&p->owned);
	vec_free(&p->instructions);
	strtab_free(&p->strings);
	if (p->release)
		p->release(p->sources);
	free(p);
	free(m);
}
