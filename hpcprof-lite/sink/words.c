/* SPDX-License-Identifier: BSD-3-Clause */
/* See words.h. Test: tests/cli/sink/sink_json.sh. */
#include "hpcprof-lite/sink/words.h"

#define WORD(words, i) ((size_t)(i) < sizeof(words) / sizeof *(words) ? (words)[i] : "unknown")

const char *words_structure(enum model_structure s)
{
	static const char *const words[] = {"none", "changed", "symbols", "lines"};
	return WORD(words, s);
}

const char *words_role(enum model_module_role r)
{
	static const char *const words[] = {"program", "interpreter", "launch", "start"};
	return WORD(words, r);
}

const char *words_context(enum model_context_kind k)
{
	static const char *const words[] = {"root", "entry", "function",
					    "loop", "line",  "instruction"};
	return WORD(words, k);
}

const char *words_relation(enum model_relation r)
{
	static const char *const words[] = {"lexical", "call", "inlined"};
	return WORD(words, r);
}

const char *words_entry(enum model_entry e)
{
	static const char *const words[] = {"main",        "thread",        "partial",
					    "gpu-no-path", "gpu-no-launch", "omp-idle"};
	return WORD(words, e);
}

const char *words_metric(enum model_metric_kind k)
{
	static const char *const words[] = {"sampled",  "gpu-time",    "gpu-count",
					    "gpu-mean", "gpu-samples", "guessed",
					    "activity", "mpi-time",    "mpi-count",
					    "gpu-energy"};
	return WORD(words, k);
}

const char *words_metric_role(enum model_metric_role r)
{
	static const char *const words[] = {
		NULL,        "gpu-time", "kernel-time", "copy-time",   "set-time",
		"sync-time", "kernels",  "copies",      "copy-bytes",  "sets",
		"set-bytes", "syncs",    "samples",     "apportioned", "measured",
		"expected",  "issued",   "stall",       "stall-idle",  "mpi-time",
		"mpi-wait",  "mpi-calls", "mpi-sent",   "mpi-received",
		"gpu-idle-cause", "cpu-idle-cause", "blamed", "blamed-for", "unblamed",
		"energy",    "energy-shared", "energy-time", "counter", "counted", "counted-time",
	};
	return WORD(words, r);
}

const char *words_source(enum msr_source s)
{
	static const char *const words[] = {"none",          "perf event", "CPU timer",
					    "elapsed timer", "PAPI",       "test"};
	return WORD(words, s);
}

const char *words_nvtx(const struct model_nvtx_range *r)
{
	return r->kind == MSR_NVTX_PUSHED    ? "pushed"
	       : r->kind == MSR_NVTX_STARTED ? "started"
					     : "mark";
}

const char *words_op(const struct model_gpu_op *o)
{
	return msr_gpu_kind_name((enum msr_gpu_kind)o->kind);
}

const char *words_op_detail(const struct model_gpu_op *o)
{
	switch (o->kind) {
	case MSR_GPU_COPY: return msr_gpu_direction_name((enum msr_gpu_direction)o->detail);
	case MSR_GPU_ALLOC:
	case MSR_GPU_FREE: return msr_gpu_memory_name((enum msr_gpu_memory)o->detail);
	case MSR_GPU_SYNC: return msr_gpu_sync_name((enum msr_gpu_sync)o->detail);
	default: return NULL;
	}
}

/* ---- ledgers ---- */

struct list {
	struct words_count *at;
	size_t n;
};

static void add(struct list *l, const char *group, const char *name, uint64_t n)
{
	if (l->n < WORDS_COUNTS)
		l->at[l->n++] = (struct words_count){group, name, n};
}

static void add_some(struct list *l, const char *group, const char *name, uint64_t n)
{
	if (n)
		add(l, group, name, n);
}

/* Causes that this version does not know are one. */
static void add_losses(struct list *l, const char *group, const struct model_ledger *from,
		       bool takes_sample)
{
	uint64_t unknown = 0;
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++) {
		if (msr_loss_takes_sample(i) != takes_sample)
			continue;
		if (i < MSR_N_LOSSES)
			add_some(l, group, msr_loss_name(i), from->losses[i]);
		else
			unknown += from->losses[i];
	}
	add_some(l, group, "unknown", unknown);
}

size_t words_ledger(const struct model_ledger *from, struct words_count to[WORDS_COUNTS])
{
	struct list l = {to, 0};
	add(&l, "samples", "delivered", from->delivered);
	add(&l, "samples", "recorded", from->recorded);
	add(&l, "samples", "in_tree", from->in_tree);
	add_losses(&l, "lost_samples", from, true);
	add_losses(&l, "other_losses", from, false);
	add(&l, "call_paths", "complete", from->n_complete);
	add(&l, "call_paths", "guessed", from->n_guessed);
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		add_some(&l, "cut_call_paths", i ? msr_path_end_name(i) : "unknown",
			 from->n_cut[i]);
	add(&l, "file", "trace_records", from->n_trace_records);
	add(&l, "file", "bytes", from->bytes_file);
	add(&l, "file", "damaged_bytes", from->bytes_damaged);
	add(&l, "cost", "handler_ns", from->handler_ns);
	add(&l, "cost", "frames", from->n_frames);
	if (from->elapsed_ns) {
		add(&l, "time", "elapsed_ns", from->elapsed_ns);
		add(&l, "time", "on_processor_ns", from->on_ns);
		add(&l, "time", "off_processor_ns", from->off_ns);
		add(&l, "time", "gap_ns", from->gap_ns);
	}
	add_some(&l, "cpu_time", "clock_ns", from->cpu_clock_ns);
	add_some(&l, "cpu_time", "sampled_ns", from->cpu_sampled_ns);
	add_some(&l, "cpu_time", "after_last_sample_ns", from->cpu_after_ns);
	add_some(&l, "cpu_time", "while_off_ns", from->cpu_off_ns);
	add_some(&l, "cpu_time", "before_and_after_threads_ns", from->cpu_edges_ns);
	add_some(&l, "cpu_time", "without_samples_ns", from->cpu_unseen_ns);
	add_some(&l, "cpu_time", "threads_not_seen_ns", from->cpu_strange_ns);
	return l.n;
}

static void add_kinds(struct list *l, const char *group, const uint64_t by_kind[16])
{
	for (unsigned i = 1; i < MSR_N_GPU_KINDS; i++)
		add_some(l, group, msr_gpu_kind_name((enum msr_gpu_kind)i), by_kind[i]);
}

static void add_gpu_losses(struct list *l, const char *group, const uint64_t *losses)
{
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		add_some(l, group, msr_gpu_loss_name((enum msr_gpu_loss)i), losses[i]);
}

size_t words_gpu_ledger(const struct model_gpu_ledger *from, struct words_count to[WORDS_COUNTS])
{
	struct list l = {to, 0};
	add_kinds(&l, "launched", from->launched);
	add_kinds(&l, "joined", from->joined);
	add_kinds(&l, "aggregated", from->aggregated);
	add_gpu_losses(&l, "lost_launches", from->losses);
	add_gpu_losses(&l, "lost_of_graphs", from->graph_losses);
	add(&l, "launches", "unexplained", from->unexplained);
	add(&l, "operations", "in_tree", from->n_ops);
	add(&l, "operations", "without_launch", from->n_orphans);
	add(&l, "operations", "without_call_path", from->n_no_path);
	add(&l, "operations", "in_bad_order", from->n_bad_order);
	add(&l, "operations", "clipped", from->n_clipped);
	add(&l, "operations", "unknown_calls", from->n_unknown_calls);
	add(&l, "unwritten", "definitions", from->n_lost_definitions);
	add(&l, "unwritten", "contents", from->n_lost_contents);
	add(&l, "unwritten", "values", from->n_lost_values);
	add(&l, "cost", "handler_ns", from->handler_ns);
	return l.n;
}

size_t words_sampling(const struct model_gpu_sampling *s, struct words_count to[WORDS_COUNTS])
{
	struct list l = {to, 0};
	if (!s->n_ranges && !s->n_gaps)
		return 0;
	add(&l, "pc_samples", "taken", s->total);
	add(&l, "pc_samples", "recorded", s->recorded);
	add(&l, "pc_samples", "dropped", s->dropped);
	add(&l, "pc_samples", "outside_code", s->outside);
	add(&l, "recorded_pc_samples", "exact", s->in_tree_exact);
	add(&l, "recorded_pc_samples", "apportioned", s->in_tree_apportioned);
	add(&l, "recorded_pc_samples", "unattributed", s->in_tree_unattributed);
	add(&l, "recorded_pc_samples", "not_written", s->not_written);
	add(&l, "recorded_pc_samples", "cut_off", s->cut_off);
	add(&l, "apportioned_pc_samples", "by_calls", s->apportioned_by_calls);
	add(&l, "apportioned_pc_samples", "by_launches", s->apportioned_by_launches);
	add(&l, "ranges", "all", s->n_ranges);
	add(&l, "ranges", "open", s->n_open_ranges);
	add(&l, "ranges", "serialized", s->n_serialized);
	add(&l, "ranges", "buffer_full", s->n_buffer_full);
	add(&l, "range_time", "sampled_ns", s->sampled_ns);
	add(&l, "range_time", "serialized_ns", s->serialized_ns);
	add(&l, "range_time", "gap_ns", s->gap_ns);
	add(&l, "range_time", "longest_gap_ns", s->longest_gap_ns);
	add(&l, "gaps", "all", s->n_gaps);
	add(&l, "gaps", "cut_ends", s->n_cut);
	return l.n;
}
