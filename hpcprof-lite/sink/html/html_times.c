/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections "samples" and "ops": time lines of threads and of GPU queues. Times of samples are
 * in microseconds, those of operations in nanoseconds, both since the start of the run. If there
 * are more than a page carries, every n-th is written. Test: tests/cli/sink/sink_html.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

#include "common/base/log.h"

#include <stdlib.h>

enum { BATCH = 4096 };

struct buffers {
	struct model_sample samples[BATCH];
	struct model_gpu_op ops[BATCH];
};

static uint64_t since(uint64_t time_ns, uint64_t start_ns)
{
	return time_ns > start_ns ? time_ns - start_ns : 0;
}

/* Every sample of the profile that the page carries; `put` sees them in order of time. */
static uint64_t walk_samples(struct html *h, uint32_t profile, struct buffers *b,
			     void (*put)(struct html *h, const struct model_sample *sample))
{
	struct model_trace_cursor cursor = {0};
	uint64_t seen = 0, n_written = 0;
	size_t n;
	while ((n = model_trace_read(h->m, profile, &cursor, b->samples, BATCH)))
		for (size_t i = 0; i < n; i++)
			if (seen++ % h->sample_stride == 0) {
				n_written++;
				if (put)
					put(h, &b->samples[i]);
			}
	return n_written;
}

static void put_time(struct html *h, const struct model_sample *sample)
{
	uint64_t us = since(sample->time_ns, h->m->start_ns) / 1000;
	html_put_number(&h->section, us > h->last_us ? us - h->last_us : 0);
	h->last_us = us > h->last_us ? us : h->last_us;
}

static void put_context(struct html *h, const struct model_sample *sample)
{
	html_put_number(&h->section, h->tree.kept[sample->context]);
}

static void put_metric(struct html *h, const struct model_sample *sample)
{
	html_put_number(&h->section, sample->metric);
	h->shows_others |= sample->shown != sample->context;
}

static void put_shown(struct html *h, const struct model_sample *sample)
{
	html_put_number(&h->section, h->tree.kept[sample->shown]);
}

/* Columns one after the other compress better than records. */
static void put_samples(struct html *h, uint32_t profile, struct buffers *b)
{
	uint64_t n = walk_samples(h, profile, b, NULL);
	html_put_number(&h->section, n);
	if (!n)
		return;
	h->last_us = 0;
	walk_samples(h, profile, b, put_time);
	walk_samples(h, profile, b, put_context);
	h->shows_others = false;
	walk_samples(h, profile, b, put_metric);
	html_put_number(&h->section, h->shows_others);
	if (h->shows_others)
		walk_samples(h, profile, b, put_shown);
}

static void put_op(struct html *h, const struct model_gpu_op *op, uint64_t *last)
{
	struct html_section *s = &h->section;
	uint64_t start = since(op->start_ns, h->m->start_ns);
	html_put_delta(s, (int64_t)(start - *last));
	html_put_number(s, op->end_ns > op->start_ns ? op->end_ns - op->start_ns : 0);
	html_put_number(s, h->tree.kept[op->context]);
	html_put_number(s, op->launcher == MODEL_NONE ? 0 : (uint64_t)op->launcher + 1);
	/* how long before the start it was asked for, plus 1; 0: unknown */
	html_put_number(s, op->enter_ns && op->enter_ns <= op->start_ns
				   ? op->start_ns - op->enter_ns + 1
				   : 0);
	html_put_number(s, (uint64_t)op->kind | (uint64_t)op->detail << 4);
	html_put_number(s, op->kind == MSR_GPU_KERNEL ? 0 : op->amount);
	html_put_number(s, op->shape == MODEL_NONE ? 0 : (uint64_t)op->shape + 1);
	*last = start;
}

static void put_ops(struct html *h, uint32_t profile, struct buffers *b)
{
	uint64_t n_all = h->m->profiles[profile].n_trace_records, seen = 0, last = 0;
	uint64_t n_left = (n_all + h->op_stride - 1) / h->op_stride;
	struct model_gpu_cursor cursor = {0};
	size_t n;
	html_put_number(&h->section, n_left);
	while (n_left && (n = model_gpu_read(h->m, profile, &cursor, b->ops, BATCH)))
		for (size_t i = 0; i < n && n_left; i++)
			if (seen++ % h->op_stride == 0) {
				put_op(h, &b->ops[i], &last);
				n_left--;
			}
	static const struct model_gpu_op none = {.launcher = MODEL_NONE, .shape = MODEL_NONE};
	for (; n_left; n_left--) /* the file was cut while it was read: keep the section whole */
		put_op(h, &none, &last);
}

static uint32_t stride(uint64_t n, uint64_t most)
{
	return (uint32_t)((n + most - 1) / most + !n);
}

enum status html_write_times(struct html *h)
{
	const struct model *m = h->m;
	struct buffers *b = malloc(sizeof *b);
	uint64_t n_samples = 0, n_ops = 0;
	if (!b) {
		log_error(h->o->directory, "out of memory");
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < m->n_profiles; i++)
		*(m->profiles[i].kind == MODEL_PROFILE_QUEUE ? &n_ops : &n_samples) +=
			m->profiles[i].n_trace_records;
	h->sample_stride = stride(n_samples, HTML_MAX_SAMPLES);
	h->op_stride = stride(n_ops, HTML_MAX_OPS);
	html_section_begin(&h->section, h->out, "samples");
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_THREAD)
			put_samples(h, i, b);
	enum status status = html_section_end(&h->section);
	if (status == STATUS_OK) {
		html_section_begin(&h->section, h->out, "ops");
		for (uint32_t i = 0; i < m->n_profiles; i++)
			if (m->profiles[i].kind == MODEL_PROFILE_QUEUE)
				put_ops(h, i, b);
		status = html_section_end(&h->section);
	}
	free(b);
	return status;
}
