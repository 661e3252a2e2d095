/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_counters.h. Test: tests/unit/prof_gpu/test_counters.c. */
#include "hpcprof-lite/view/counters/view_counters.h"

#include "hpcprof-lite/view/view_values.h"

#include <stdlib.h>
#include <string.h>

enum slot { SLOT_READ, SLOT_WRITTEN, SLOT_HITS, SLOT_MISSES, SLOT_WORK };

/* What a counter adds to a row, and how often. */
static const struct meaning {
	const char *name;
	enum slot slot;
	enum view_work work;
	double times;
} meanings[] = {
#define EXECUTED(op, work, times)                                                               \
	{                                                                                       \
		"smsp__sass_thread_inst_executed_op_" op "_pred_on.sum", SLOT_WORK, work, times \
	}
#define TENSOR(types, work)                                                 \
	{                                                                   \
		"sm__ops_path_tensor_src_" types ".sum", SLOT_WORK, work, 1 \
	}
	{"dram__bytes_read.sum", SLOT_READ, VIEW_FP64, 1},
	{"dram__bytes_write.sum", SLOT_WRITTEN, VIEW_FP64, 1},
	{"lts__t_sectors_lookup_hit.sum", SLOT_HITS, VIEW_FP64, 1},
	{"lts__t_sectors_lookup_miss.sum", SLOT_MISSES, VIEW_FP64, 1},
	EXECUTED("dadd", VIEW_FP64, 1),
	EXECUTED("dmul", VIEW_FP64, 1),
	EXECUTED("dfma", VIEW_FP64, 2),
	EXECUTED("fadd", VIEW_FP32, 1),
	EXECUTED("fmul", VIEW_FP32, 1),
	EXECUTED("ffma", VIEW_FP32, 2),
	/* instructions of two halves each */
	EXECUTED("hadd", VIEW_FP16, 2),
	EXECUTED("hmul", VIEW_FP16, 2),
	EXECUTED("hfma", VIEW_FP16, 4),
	TENSOR("fp64", VIEW_TENSOR_FP64),
	TENSOR("tf32_dst_fp32", VIEW_TENSOR_TF32),
	TENSOR("bf16_dst_fp32", VIEW_TENSOR_BF16),
	TENSOR("fp16", VIEW_TENSOR_FP16),
	TENSOR("fp8", VIEW_TENSOR_FP8),
	TENSOR("int8", VIEW_TENSOR_INT8),
};

static const struct meaning *meaning_of(const struct model_metric *metric)
{
	for (size_t i = 0;
	     metric->role == MODEL_ROLE_COUNTER && i < sizeof meanings / sizeof *meanings; i++)
		if (strcmp(metric->name, meanings[i].name) == 0)
			return &meanings[i];
	return NULL;
}

static void note_counted(struct view_counters *c, const struct meaning *k)
{
	c->has_bytes |= k->slot == SLOT_READ || k->slot == SLOT_WRITTEN;
	c->has_hits |= k->slot == SLOT_HITS;
	c->has_work |= k->slot == SLOT_WORK && k->work < VIEW_TENSOR_FP64;
	c->has_tensor |= k->slot == SLOT_WORK && k->work >= VIEW_TENSOR_FP64;
}

static void add_counter(struct view_counters_row *row, const struct meaning *k, double v)
{
	double *const slots[] = {[SLOT_READ] = &row->bytes_read,
				 [SLOT_WRITTEN] = &row->bytes_written,
				 [SLOT_HITS] = &row->hits,
				 [SLOT_MISSES] = &row->misses,
				 [SLOT_WORK] = &row->work[k->work]};
	*slots[k->slot] += k->times * v;
	row->operations += k->slot == SLOT_WORK ? k->times * v : 0;
}

static void add_total(struct view_counters_row *row, const struct model_metric *metric,
		      const struct meaning *k, double v)
{
	if (k)
		add_counter(row, k, v);
	else if (metric->role == MODEL_ROLE_KERNELS)
		row->launches += v;
	else if (metric->role == MODEL_ROLE_COUNTED)
		row->counted += v;
	else if (metric->role == MODEL_ROLE_COUNTED_TIME)
		row->seconds += v;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct view_counters_row *a = pa, *b = pb;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

static void keep_counted(struct view_counters *c, uint32_t n_functions)
{
	size_t n = 0;
	for (uint32_t i = 0; i < n_functions; i++) {
		c->launches += c->at[i].launches;
		c->counted += c->at[i].counted;
		if (c->at[i].counted > 0)
			c->at[n++] = c->at[i];
	}
	c->n = n;
	if (n)
		qsort(c->at, n, sizeof *c->at, compare_rows);
}

bool view_counters_make(const struct model *m, struct view_counters *c)
{
	const struct meaning **meaning = calloc((size_t)m->n_metrics + 1, sizeof *meaning);
	*c = (struct view_counters){.at = calloc((size_t)m->n_functions + 1, sizeof *c->at),
				    .roofs = view_roofs_of(m)};
	if (!c->at || !meaning) {
		free(meaning);
		view_counters_free(c);
		return false;
	}
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if ((meaning[i] = meaning_of(&m->metrics[i])))
			note_counted(c, meaning[i]);
	for (uint32_t i = 0; i < m->n_functions; i++)
		c->at[i].function = i;
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		uint32_t function = m->contexts[t->context].function;
		if (function < m->n_functions && t->sum[MODEL_POINT] > 0)
			add_total(&c->at[function], &m->metrics[t->metric], meaning[t->metric],
				  t->sum[MODEL_POINT]);
	}
	keep_counted(c, m->n_functions);
	free(meaning);
	return true;
}

void view_counters_free(struct view_counters *c)
{
	free(c->at);
	*c = (struct view_counters){0};
}

static void bound(struct view_bounds *b, double seconds, enum view_bound by, enum view_work work)
{
	if (seconds > b->seconds)
		*b = (struct view_bounds){seconds, by, work};
}

/*
 * Operations of tensor cores take turns on the same cores. All other units work at the same time.
 */
struct view_bounds view_counters_bounds(const struct view_counters *c,
					const struct view_counters_row *r)
{
	struct view_bounds b = {.by = VIEW_BOUND_UNKNOWN};
	double tensor = 0, most = 0;
	enum view_work longest = VIEW_TENSOR_FP64;
	for (unsigned w = 0; w < VIEW_N_WORKS; w++) {
		if (r->work[w] > 0 && c->roofs.operations[w] <= 0)
			return (struct view_bounds){.by = VIEW_BOUND_UNKNOWN};
		double seconds =
			c->roofs.operations[w] > 0 ? r->work[w] / c->roofs.operations[w] : 0;
		if (w < VIEW_TENSOR_FP64) {
			bound(&b, seconds, VIEW_BOUND_WORK, (enum view_work)w);
			continue;
		}
		tensor += seconds;
		longest = seconds > most ? (enum view_work)w : longest;
		most = seconds > most ? seconds : most;
	}
	bound(&b, tensor, VIEW_BOUND_TENSOR, longest);
	if (c->roofs.bytes > 0)
		bound(&b, (r->bytes_read + r->bytes_written) / c->roofs.bytes, VIEW_BOUND_MEMORY,
		      VIEW_FP64);
	return b;
}
