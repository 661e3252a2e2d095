/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections "samples", "ops" and "waits": time lines of threads and of GPU queues, and where
 * threads waited for GPUs. Times of samples are in microseconds, others in nanoseconds, all since
 * the start of the run. If there are more than a page carries, every n-th is written
 * (html_reduce.h). Test: tests/cli/sink/sink_html.sh.
 */
#include "hpcprof-lite/sink/html/html.h"
#include "hpcprof-lite/sink/html/html_parts.h"

#include "common/base/vec.h"

#include <stdlib.h>

enum { BATCH = 4096 };

/* Encoded numbers. */
struct column {
	VEC(uint8_t);
};

struct buffers {
	union {
		struct model_sample samples[BATCH];
		struct model_gpu_op ops[BATCH];
		struct model_gpu_stay waits[BATCH];
	};
	struct column times, contexts, metrics, shown; /* of one time line */
};

struct times {
	struct html *h;
	struct buffers *buffers; /* by worker */
};

/* As in struct html_parts. */
typedef void (*make_line)(void *arg, uint32_t profile, unsigned worker, struct html_part *p);

/* The time line of a thread while it is read. */
struct line {
	struct html_thinning thinning;
	uint64_t n; /* samples in the page */
	uint64_t last_us;
	bool shows_others; /* a sample is shown elsewhere than where it counts */
};

static uint64_t since(uint64_t time_ns, uint64_t start_ns)
{
	return time_ns > start_ns ? time_ns - start_ns : 0;
}

static void put_column(struct column *c, uint64_t n)
{
	c->n += html_number(c->at + c->n, n);
}

/* Encodes the samples of a batch that the page carries. The columns have room for all. */
static void encode(const struct html *h, size_t n_read, struct line *l, struct buffers *b)
{
	for (size_t i = 0; i < n_read; i++) {
		const struct model_sample *sample = &b->samples[i];
		if (!html_takes_sample(&l->thinning, h->m, sample))
			continue;
		uint64_t us = since(sample->time_ns, h->m->start_ns) / 1000;
		put_column(&b->times, us > l->last_us ? us - l->last_us : 0);
		put_column(&b->contexts, h->tree.kept[sample->context]);
		put_column(&b->metrics, sample->metric);
		put_column(&b->shown, h->tree.kept[sample->shown]);
		l->last_us = us > l->last_us ? us : l->last_us;
		l->shows_others |= sample->shown != sample->context;
		l->n++;
	}
}

static bool make_room(struct column *c)
{
	return vec_reserve(c, c->n + (size_t)BATCH * HTML_NUMBER_BYTES);
}

/*
 * Columns one after the other compress better than records. They are kept encoded, a few bytes a
 * sample, so that the time line is read once.
 */
static void make_samples(void *arg, uint32_t profile, unsigned worker, struct html_part *part)
{
	const struct times *t = arg;
	struct buffers *b = &t->buffers[worker];
	struct model_trace_cursor cursor = {0};
	struct line l = {.thinning.stride = t->h->sample_stride};
	if (t->h->m->profiles[profile].kind != MODEL_PROFILE_THREAD)
		return;
	vec_clear(&b->times);
	vec_clear(&b->contexts);
	vec_clear(&b->metrics);
	vec_clear(&b->shown);
	for (size_t n; (n = model_trace_read(t->h->m, profile, &cursor, b->samples, BATCH));) {
		if (!make_room(&b->times) || !make_room(&b->contexts) || !make_room(&b->metrics) ||
		    !make_room(&b->shown)) {
			part->failed = true;
			return;
		}
		encode(t->h, n, &l, b);
	}
	html_part_number(part, l.n);
	if (!l.n)
		return;
	html_part_bytes(part, b->times.at, b->times.n);
	html_part_bytes(part, b->contexts.at, b->contexts.n);
	html_part_bytes(part, b->metrics.at, b->metrics.n);
	html_part_number(part, l.shows_others);
	if (l.shows_others)
		html_part_bytes(part, b->shown.at, b->shown.n);
}

static void put_line(void *arg, uint32_t profile, const struct html_part *part)
{
	const struct times *t = arg;
	(void)profile;
	html_put(&t->h->section, part->at, part->n);
}

static void put_op(const struct html *h, const struct model_gpu_op *op, uint64_t *last,
		   struct html_part *p)
{
	const uint64_t start = since(op->start_ns, h->m->start_ns);
	html_part_number(p, html_zigzag((int64_t)(start - *last)));
	html_part_number(p, op->end_ns > op->start_ns ? op->end_ns - op->start_ns : 0);
	html_part_number(p, h->tree.kept[op->context]);
	html_part_number(p, op->launcher == MODEL_NONE ? 0 : (uint64_t)op->launcher + 1);
	/* how long before the start it was asked for, plus 1; 0: unknown */
	html_part_number(p, op->enter_ns && op->enter_ns <= op->start_ns
				    ? op->start_ns - op->enter_ns + 1
				    : 0);
	html_part_number(p, (uint64_t)op->kind | (uint64_t)op->detail << 4);
	html_part_number(p, op->bytes);
	html_part_number(p, op->shape == MODEL_NONE ? 0 : (uint64_t)op->shape + 1);
	*last = start;
}

static void make_ops(void *arg, uint32_t profile, unsigned worker, struct html_part *part)
{
	const struct times *t = arg;
	const struct html *h = t->h;
	struct model_gpu_op *ops = t->buffers[worker].ops;
	uint64_t n_all = h->m->profiles[profile].n_trace_records, seen = 0, last = 0;
	uint64_t n_left = (n_all + h->op_stride - 1) / h->op_stride;
	struct model_gpu_cursor cursor = {0};
	size_t n;
	if (h->m->profiles[profile].kind != MODEL_PROFILE_QUEUE)
		return;
	html_part_number(part, n_left);
	while (n_left && (n = model_gpu_read(h->m, profile, &cursor, ops, BATCH)))
		for (size_t i = 0; i < n && n_left; i++)
			if (seen++ % h->op_stride == 0) {
				put_op(h, &ops[i], &last, part);
				n_left--;
			}
	static const struct model_gpu_op none = {.launcher = MODEL_NONE, .shape = MODEL_NONE};
	for (; n_left; n_left--) /* the file was cut while it was read: keep the section whole */
		put_op(h, &none, &last, part);
}

static uint64_t count_waits(const struct model *m, uint32_t profile)
{
	struct model_gpu_stay waits[64];
	struct model_gpu_cursor cursor = {0};
	uint64_t all = 0;
	for (size_t n; (n = model_gpu_read_waits(m, profile, &cursor, waits, 64));)
		all += n;
	return all;
}

static void make_waits(void *arg, uint32_t profile, unsigned worker, struct html_part *part)
{
	const struct times *t = arg;
	const struct html *h = t->h;
	struct model_gpu_stay *waits = t->buffers[worker].waits;
	struct model_gpu_cursor cursor = {0};
	uint64_t seen = 0, last = 0;
	size_t n;
	if (h->m->profiles[profile].kind != MODEL_PROFILE_THREAD)
		return;
	html_part_number(part, (count_waits(h->m, profile) + h->wait_stride - 1) / h->wait_stride);
	while ((n = model_gpu_read_waits(h->m, profile, &cursor, waits, BATCH)))
		for (size_t i = 0; i < n; i++) {
			const uint64_t start = since(waits[i].start_ns, h->m->start_ns),
				       end = since(waits[i].end_ns, h->m->start_ns);
			if (seen++ % h->wait_stride)
				continue;
			html_part_number(part, html_zigzag((int64_t)(start - last)));
			html_part_number(part, end > start ? end - start : 0);
			html_part_number(part, h->tree.kept[waits[i].context]);
			last = start;
		}
}

static uint32_t stride(uint64_t n, uint64_t most)
{
	return (uint32_t)((n + most - 1) / most + !n);
}

void html_find_strides(struct html *h)
{
	uint64_t n_samples = 0, n_ops = 0, n_waits = 0;
	for (uint32_t i = 0; i < h->m->n_profiles; i++) {
		*(h->m->profiles[i].kind == MODEL_PROFILE_QUEUE ? &n_ops : &n_samples) +=
			h->m->profiles[i].n_trace_records;
		n_waits += count_waits(h->m, i);
	}
	h->sample_stride = stride(n_samples, HTML_MAX_SAMPLES);
	h->op_stride = stride(n_ops, HTML_MAX_OPS);
	h->wait_stride = stride(n_waits, HTML_MAX_OPS);
}

static enum status write_section(struct html *h, const char *name, make_line make)
{
	struct times t = {h, calloc(h->packer.n_workers, sizeof *t.buffers)};
	html_section_begin(&h->section, &h->packer, name);
	if (t.buffers)
		html_parts_write(h, &(struct html_parts){&t, make, put_line});
	else
		h->failed = true;
	for (unsigned i = 0; t.buffers && i < h->packer.n_workers; i++) {
		vec_free(&t.buffers[i].times);
		vec_free(&t.buffers[i].contexts);
		vec_free(&t.buffers[i].metrics);
		vec_free(&t.buffers[i].shown);
	}
	free(t.buffers);
	return html_section_end(&h->section);
}

enum status html_write_times(struct html *h)
{
	enum status status = write_section(h, "samples", make_samples);
	if (status == STATUS_OK)
		status = write_section(h, "ops", make_ops);
	return status == STATUS_OK ? write_section(h, "waits", make_waits) : status;
}
