/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the sink html. doc/formats/report.md defines the sections. */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_H
#define HPCPROF_LITE_SINK_HTML_HTML_H

#include "common/base/strtab.h"
#include "hpcprof-lite/sink/html/html_reduce.h"
#include "hpcprof-lite/sink/html/html_section.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/sink.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "hpcprof-lite/view/view_evidence.h"

/* Bounds of what a page carries, so that a browser opens it quickly. */
enum {
	HTML_MAX_CONTEXTS = 300000,
	HTML_MAX_VALUES = 4000000,   /* values of single threads */
	HTML_MAX_SAMPLES = 10000000, /* on time lines of threads */
	HTML_MAX_OPS = 2000000,      /* on time lines of GPU queues; as many waits for GPUs */
	HTML_MAX_RANGES = 1000000,   /* of NVTX on time lines */
	HTML_MAX_SOURCE_BYTES = 8 << 20
};

/* One report while it is written. */
struct html {
	const struct model *m;
	const struct sink_options *o;
	struct html_packer packer;
	struct html_section section; /* the open one */
	struct strtab strings;       /* written at the end; sections refer to ids */
	struct html_tree tree;
	/* the page has every n-th sample, operation and wait for a GPU */
	uint32_t sample_stride, op_stride, wait_stride;
	uint64_t n_values;         /* of single threads, so far */
	uint32_t threads_left_out; /* threads whose values are not in the page */
	uint64_t n_ranges_left_out;  /* of NVTX */
	uint64_t n_source_files, n_source_missing, n_source_left_out;
	bool is_used[VIEW_N_USES];   /* rows of "uses"; see html_waiting.c */
	bool failed;                 /* memory was short; the page is not complete */
	bool is_private;             /* contains source lines that not everyone may read */
};

/* The id of a string in the page; 0 (the empty string) for NULL, and with `failed` set. */
static inline uint32_t html_string(struct html *h, const char *s)
{
	const uint32_t id = names_add(&h->strings, s);
	h->failed |= id == STRTAB_FAILED;
	return id == STRTAB_FAILED ? 0 : id;
}
/*
 * The factor that makes whole numbers of the values of a metric: nanoseconds for seconds, otherwise
 * 1. The means of a comparison have three more digits.
 */
double html_scale(const struct html *h, const struct model_metric *metric);
/* True if the model is a comparison of two sides. */
bool html_is_comparison(const struct html *h);

/*
 * Members of the section "meta" that say where a parallel program waits: "uses", "pop", "regions",
 * and "mpi", as far as this run has them.
 */
void html_put_waiting(struct html *h);
void html_put_mpi(struct html *h);
/* The member "blames" of "meta", if structures know what instructions wait for. */
void html_put_blames(struct html *h);
/* The member "advice" of "meta", if there is any. */
void html_put_advice(struct html *h);
void html_put_findings(struct html *h);
/* The members "facts" and "places" of findings and advice; only contexts that the page carries. */
void html_put_evidence(struct html *h, const struct view_fact *facts, unsigned n_facts,
		       const struct view_place *places, unsigned n_places);
/* The member "counters" of "meta", if kernels were counted. */
void html_put_counters(struct html *h);
/* The member "nccl" of "meta", if a kernel of NCCL ran. */
void html_put_nccl(struct html *h);
/* The member "nvtx" of "meta", if there are ranges; after html_write_nvtx(). */
void html_put_nvtx(struct html *h);

/* The member "comparison" of "meta": 0 if it is none. */
void html_put_comparison(struct html *h);

/* Sets the strides, so that the page does not carry too many samples and operations. */
void html_find_strides(struct html *h);

/* Each writes its sections. Failures are logged. */
enum status html_write_contexts(struct html *h);
enum status html_write_totals(struct html *h);
enum status html_write_values(struct html *h);
/* The section "runs" of a comparison. */
enum status html_write_runs(struct html *h);
enum status html_write_times(struct html *h);
enum status html_write_nvtx(struct html *h);
enum status html_write_power(struct html *h);
enum status html_write_memory(struct html *h);
enum status html_write_sources(struct html *h);
enum status html_write_code(struct html *h);
enum status html_write_meta(struct html *h); /* call it last: it says what was reduced */

/* The page around the sections, from page/; the build puts it together. */
extern const char html_page_head[], html_page_tail[];
extern const size_t html_page_head_bytes, html_page_tail_bytes;

#endif
