/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of the report for people. Each function writes one section; text_sink.c puts them
 * together. Test: tests/cli/prof/prof_text.sh.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_REPORT_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_REPORT_H

#include "hpcprof-lite/sink/text/text_sink.h"
#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_style.h"
#include "hpcprof-lite/view/view_blame.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_table.h"
#include "hpcprof-lite/view/view_tree.h"

/* What ran, and the totals of all metrics. False if memory is short. */
bool text_report_head(const struct model *m, const struct text_style *s);
/*
 * How well the share of the hottest function is known, for the first metric whose samples are
 * alike; nothing for another one. False if memory is short.
 */
bool text_report_certainty(const struct model *m, uint32_t metric, const struct text_style *s);
/*
 * Where the time of all threads went; nothing if there is one thread. False if memory is short.
 */
bool text_report_quota(const struct model *m, const struct text_style *s);
bool text_report_processors(const struct model *m, const struct text_style *s);
/*
 * What matters most; nothing if nothing does. If text_report_advice() follows (has_advice),
 * findings point to it. False if memory is short.
 */
bool text_report_findings(const struct model *m, bool has_advice, const struct text_style *s);
/* Parallel efficiencies; nothing if there is one thread. False if memory is short. */
bool text_report_pop(const struct model *m, const struct text_style *s);
/* Groups of ranks that behave alike; nothing if there are few. False if memory is short. */
bool text_report_ranks(const struct model *m, const struct view_values *v,
	const struct text_style *s);
/* The table of NVTX ranges; nothing if there are none. */
bool text_report_nvtx(const struct model *m, const struct text_style *s);
/* The parallel regions of OpenMP; nothing if there is none. False if memory is short. */
bool text_report_regions(const struct model *m, const struct text_style *s);
/* Samples delivered, recorded and lost; call paths; modules; damage. False if memory is short. */
bool text_report_ledger(const struct model *m, const struct view_values *t,
	const struct text_style *s);
/*
 * The call paths from the top, with the GPU time beside a CPU metric. `gpu` may be NULL. False if
 * memory is short.
 */
bool text_report_tree(const struct model *m, const struct view_values *t,
	const struct view_gpu_values *gpu, const struct text_style *s);
/* Times of GPU operations for the head, one line for each kind. */
void text_report_gpu_times(const struct model *m, const struct text_style *s);
/* Tables of kernels, copies, waits and queues. False if memory is short. */
bool text_report_gpu(const struct model *m, const struct view_gpu *g, const struct text_style *s);
/*
 * What would make GPU work faster; nothing if there is no evidence. False if memory is short.
 */
bool text_report_advice(const struct model *m, const struct view_gpu *g,
	const struct text_style *s);
/* What was live on GPUs at the peak and at the end. False if memory is short. */
bool text_report_gpu_memory(const struct model *m, const struct text_style *s);
/* Why GPUs were idle, and what threads waited for. False if memory is short. */
bool text_report_gpu_idle(const struct model *m, const struct text_style *s);
/* Energy that GPUs and hosts used; nothing if no meter was read. False if memory is short. */
bool text_report_energy(const struct model *m, const struct text_style *s);
bool text_report_counters(const struct model *m, const struct text_style *s);
void text_report_gpu_ledger(const struct model *m, const struct text_style *s);
/* The code of kernels with PC samples. False if memory is short. */
bool text_report_gpu_hot(const struct model *m, const struct view_gpu *g,
	const struct text_style *s);
/* What the lines of a kernel with `samples` samples waited for; nothing if that is not known. */
void text_report_gpu_blame(const struct model *m, const struct view_blame *b, uint32_t kernel,
	double samples, const struct text_style *s);
/* The account of PC sampling; nothing if there was none. */
void text_report_gpu_sampling(const struct model *m, const struct text_style *s);
/* Tables about memory; nothing if MEMORY was not measured. False if memory is short. */
bool text_report_memory(const struct model *m, const struct text_style *s);
/* Tables about NCCL. m->nccl is not NULL. False if memory is short. */
bool text_report_nccl(const struct model *m, const struct text_style *s);
/* Tables about MPI. m->mpi is not NULL. False if memory is short. */
bool text_report_mpi(const struct model *m, const struct text_style *s);
bool text_report_table(const struct model *m, const struct view_values *t, enum view_by by,
	const struct text_style *s);
bool text_report_threads(const struct model *m, const struct view_values *t,
	const struct text_style *s);

#endif
