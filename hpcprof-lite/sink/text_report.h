/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the report for people; text.c puts them together. Each writes one section. Test: tests/cli/prof_text.sh. */
#ifndef HPCPROF_SINK_TEXT_REPORT_H
#define HPCPROF_SINK_TEXT_REPORT_H

#include "hpcprof-lite/sink/text.h"
#include "hpcprof-lite/sink/text_gpu.h"
#include "hpcprof-lite/sink/text_table.h"

/* How to write; the options with everything decided. */
struct text_style {
	FILE *out;
	size_t width;
	unsigned depth;     /* 0: no bound */
	double threshold;   /* as a share: 0.01 */
	bool utf8, colour;
	bool interpreter;   /* frames of Python's interpreter between Python functions are shown */
};

/* What ran, and the totals of all metrics. */
void text_report_head(const struct model *m, const struct text_style *s);
/* What was delivered, recorded and lost; paths; modules; damage. */
void text_report_ledger(const struct model *m, const struct text_metric *t, const struct text_style *s);
/* GPU time and kernels, beside a metric of CPUs in the tree. Inside of kernels with PC samples the time is shared out by them. */
struct text_gpu_columns {
	struct text_metric time, kernels;
	struct text_metric samples; /* no arrays where there are no PC samples */
};
/* The call paths from the top; `gpu` may be NULL. False when memory is short. */
bool text_report_tree(const struct model *m, const struct text_metric *t, const struct text_gpu_columns *gpu, const struct text_style *s);
/* Times of GPU operations, a line for each kind, for the head. */
void text_report_gpu_times(const struct model *m, const struct text_style *s);
/* Tables of kernels, copies, waits and queues. False when memory is short. */
bool text_report_gpu(const struct model *m, const struct text_gpu *g, const struct text_style *s);
void text_report_gpu_ledger(const struct model *m, const struct text_style *s);
/* The kernels that have PC samples, from inside. False when memory is short. */
bool text_report_gpu_hot(const struct model *m, const struct text_gpu *g, const struct text_style *s);
/* The account of PC sampling; nothing where there was none. */
void text_report_gpu_sampling(const struct model *m, const struct text_style *s);
bool text_report_table(const struct model *m, const struct text_metric *t, enum text_by by, const struct text_style *s);
bool text_report_threads(const struct model *m, const struct text_metric *t, const struct text_style *s);

/* A heading line, emphasised where there is colour. */
void text_heading(const struct text_style *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Begins and ends emphasis for what takes a large share. */
void text_emphasise(const struct text_style *s, double share);
void text_plain(const struct text_style *s);
/* Samples of a ledger that were lost, by the causes that take one. */
uint64_t text_count_lost(const struct model_ledger *l);
/* Profiles of threads. */
uint32_t text_count_threads(const struct model *m);
/* The name of a function, with its module where the name was made up. */
void text_function_name(char *name, size_t n_bytes, const struct model *m, uint32_t function);
/* The module's path; "" for none. */
const char *text_module_path(const struct model *m, uint32_t module);
/* What a context is called: function, entry, line. `name` must hold n_bytes. */
void text_name(char *name, size_t n_bytes, const struct model *m, const struct model_context *c);

#endif
