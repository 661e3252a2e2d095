/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the report for people; text_sink.c puts them together. Each writes one section. Test: tests/cli/prof_text.sh. */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_REPORT_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_REPORT_H

#include "hpcprof-lite/sink/text/text_sink.h"
#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_style.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_table.h"

/* What ran, and the totals of all metrics. */
void text_report_head(const struct model *m, const struct text_style *s);
/* What was delivered, recorded and lost; paths; modules; damage. */
void text_report_ledger(const struct model *m, const struct view_values *t, const struct text_style *s);
/* GPU time and kernels, beside a metric of CPUs in the tree. Inside of kernels with PC samples the time is shared out by them. */
struct text_gpu_columns {
	struct view_values time, kernels;
	struct view_values samples; /* no arrays where there are no PC samples */
};
/* The call paths from the top; `gpu` may be NULL. False when memory is short. */
bool text_report_tree(const struct model *m, const struct view_values *t, const struct text_gpu_columns *gpu, const struct text_style *s);
/* Times of GPU operations, a line for each kind, for the head. */
void text_report_gpu_times(const struct model *m, const struct text_style *s);
/* Tables of kernels, copies, waits and queues. False when memory is short. */
bool text_report_gpu(const struct model *m, const struct view_gpu *g, const struct text_style *s);
void text_report_gpu_ledger(const struct model *m, const struct text_style *s);
/* The kernels that have PC samples, from inside. False when memory is short. */
bool text_report_gpu_hot(const struct model *m, const struct view_gpu *g, const struct text_style *s);
/* The account of PC sampling; nothing where there was none. */
void text_report_gpu_sampling(const struct model *m, const struct text_style *s);
bool text_report_table(const struct model *m, const struct view_values *t, enum view_by by, const struct text_style *s);
bool text_report_threads(const struct model *m, const struct view_values *t, const struct text_style *s);

#endif
