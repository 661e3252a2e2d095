/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_nvtx.h. */
#include "hpcprof-lite/load/load_nvtx.h"

#include "hpcprof-lite/load/load_records.h"

#include <stdatomic.h>
#include <string.h>

/* More than the run time ever writes for a thread. */
#define RANGES_MOST 65536u

enum status load_nvtx_name(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_nvtx_name *r = (const void *)record;
	const char *text = (const char *)(r + 1);
	struct load_nvtx *x = &f->nvtx;
	if (bytes < sizeof *r || r->id >= MSR_NVTX_NAMES_MOST || r->text_bytes == 0 ||
	    r->text_bytes > bytes - sizeof *r || text[r->text_bytes - 1] != '\0' ||
	    r->source_bytes > bytes - sizeof *r - r->text_bytes ||
	    (r->source_bytes && text[r->text_bytes + r->source_bytes - 1] != '\0'))
		return STATUS_BAD_INPUT;
	if (r->kind == MSR_NVTX_NAME_THREAD) {
		const struct msr_nvtx_name **new = vec_push(&x->threads);
		if (new)
			*new = r;
		return new ? STATUS_OK : STATUS_NO_MEMORY;
	}
	if (r->id == 0)
		return STATUS_BAD_INPUT;
	if (x->names.n <= r->id && !vec_extend(&x->names, r->id + 1 - x->names.n))
		return STATUS_NO_MEMORY;
	if (x->names.at[r->id].record)
		return STATUS_BAD_INPUT;
	x->names.at[r->id] =
		(struct load_nvtx_name){r, text, r->source_bytes ? text + r->text_bytes : ""};
	return STATUS_OK;
}

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static double double_of(const _Atomic uint64_t *word)
{
	const uint64_t bits = get(word);
	double d;
	memcpy(&d, &bits, sizeof d);
	return d;
}

/*
 * The words of a record may be inconsistent, because the process may have been killed between two
 * writes.
 */
static struct load_nvtx_range read_range(const struct msr_nvtx_range *r)
{
	struct load_nvtx_range out = {.node = r->node,
				      .name = r->name,
				      .kind = r->kind,
				      .n_begun = get(&r->n_begun),
				      .n = get(&r->n),
				      .n_events = get(&r->n_events),
				      .ns = get(&r->ns),
				      .least_ns = get(&r->least_ns),
				      .most_ns = get(&r->most_ns),
				      .n_values = get(&r->n_values),
				      .value_sum = double_of(&r->value_sum),
				      .value_least = double_of(&r->value_least),
				      .value_most = double_of(&r->value_most)};
	if (out.n == 0)
		out.least_ns = out.most_ns = 0;
	return out;
}

static bool is_plausible(const struct load_nvtx_range *r)
{
	return r->kind >= MSR_NVTX_PUSHED && r->kind <= MSR_NVTX_MARKED &&
	       r->n_begun <= LOAD_LONGEST_NS && r->n <= LOAD_LONGEST_NS &&
	       r->ns <= LOAD_LONGEST_NS && r->most_ns <= LOAD_LONGEST_NS &&
	       r->least_ns <= LOAD_LONGEST_NS && r->n_values <= LOAD_LONGEST_NS;
}

enum status load_nvtx_ranges(struct load_file *f, const struct msr_view *v)
{
	const uint32_t stride = v->extent->record_bytes;
	const uint64_t first = v->extent->first;
	if (stride < sizeof(struct msr_nvtx_range) || stride % 8 || first > RANGES_MOST ||
	    v->n_bytes / stride > RANGES_MOST - first || v->extent->thread == UINT32_MAX) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	struct load_thread *t = load_get_thread(f, v->extent->thread);
	const uint64_t n = v->n_bytes / stride, end = first + n;
	if (!t || (t->ranges.n < end && !vec_extend(&t->ranges, end - t->ranges.n)))
		return STATUS_NO_MEMORY;
	for (uint64_t i = 0; i < n; i++) {
		const struct load_nvtx_range r = read_range(
			(const struct msr_nvtx_range *)(const void *)(v->content + i * stride));
		if (is_plausible(&r) && !t->ranges.at[first + i].kind)
			t->ranges.at[first + i] = r;
		else
			f->bytes_damaged += stride;
	}
	f->bytes_damaged += v->n_bytes % stride;
	return STATUS_OK;
}

/* Clears the node of ranges whose node is not sound. They have no path. */
static void check_nodes(struct load_thread *t)
{
	for (size_t i = 0; i < t->ranges.n; i++) {
		struct load_nvtx_range *r = &t->ranges.at[i];
		if (r->node >= t->n_nodes || t->node_to[r->node] == LOAD_DAMAGED)
			r->node = 0;
	}
}

bool load_nvtx_event_is_sound(const struct load_thread *t, const struct msr_nvtx_event *e)
{
	return e->range < t->ranges.n && t->ranges.at[e->range].kind != 0 &&
	       e->enter_ns <= e->leave_ns && e->leave_ns <= LOAD_LONGEST_NS;
}

static void check_events(struct load_file *f, const struct load_thread *t)
{
	for (size_t k = 0; k < t->nvtx_events.n; k++) {
		const struct load_part *p = &t->nvtx_events.at[k];
		const struct msr_nvtx_event *events = (const void *)p->content;
		for (size_t i = 0; i < p->n_bytes / sizeof *events; i++)
			if (!load_nvtx_event_is_sound(t, &events[i]))
				f->bytes_damaged += sizeof *events;
	}
}

void load_nvtx_finish(struct load_file *f)
{
	for (size_t i = 0; i < f->threads.n; i++) {
		check_nodes(&f->threads.at[i]);
		check_events(f, &f->threads.at[i]);
	}
	for (size_t i = 0; i < f->nvtx.threads.n; i++) {
		const struct msr_nvtx_name *r = f->nvtx.threads.at[i];
		for (size_t k = 0; k < f->threads.n; k++) {
			struct msr_thread *t = f->threads.at[k].copy;
			if (t && t->number == r->thread) {
				strncpy(t->name, (const char *)(r + 1), sizeof t->name - 1);
				t->name[sizeof t->name - 1] = '\0';
			}
		}
	}
}

void load_nvtx_free(struct load_nvtx *n)
{
	vec_free(&n->names);
	vec_free(&n->threads);
}
