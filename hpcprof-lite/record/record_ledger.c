/* SPDX-License-Identifier: BSD-3-Clause */
/* Ledgers: their fields, and their records; see record.h. Test: tests/cli/sink/sink_agree.sh,
 * tests/cli/sink/sink_json.sh. */
#include "hpcprof-lite/record/record_ledger.h"

#include <string.h>

#define NUMBER(group_, member, name_, meaning_)                                                    \
	{.name = (name_), .meaning = (meaning_), .kind = FIELD_COUNT, .group = (group_),           \
	 FIELD_AT(model_ledger, member)}
#define SPARSE(group_, member, name_, meaning_)                                                    \
	{.name = (name_), .meaning = (meaning_), .kind = FIELD_COUNT, .group = (group_),           \
	 .is_sparse = true, FIELD_AT(model_ledger, member)}

static const struct field ledger_fields[] = {
	RECORD_OF,
	NUMBER("samples", delivered, "delivered", "Samples that the run time was called for"),
	NUMBER("samples", recorded, "recorded", "Samples that it says it put into its tree"),
	NUMBER("samples", in_tree, "in_tree", "Samples found in the tree"),
	NUMBER("call_paths", n_marked, "marked", "Call paths with a guessed frame, as it counted"),
	NUMBER("file", n_trace_records, "trace_records", NULL),
	NUMBER("file", bytes_damaged, "damaged_bytes", "Bytes of the file that were skipped"),
	NUMBER("file", bytes_file, "bytes", NULL),
	NUMBER("cost", handler_ns, "handler_ns", "Time in the handlers of samples"),
	NUMBER("cost", n_frames, "frames", "Frames that were unwound"),
};
/* Numbers of call paths. The text has a line for each that is not 0. */
static const struct field path_counts[] = {
	NUMBER("call_paths", n_complete, "complete", "Samples whose path reached the root"),
	NUMBER("call_paths", n_guessed, "guessed", "... with a guessed frame"),
};
static const struct field time_fields[] = {
	RECORD_OF,
	NUMBER("time", elapsed_ns, "elapsed_ns", "In which threads were measured"),
	NUMBER("time", on_ns, "on_processor_ns", "By the clocks of the threads"),
	NUMBER("time", off_ns, "off_processor_ns", "In OFFCPU"),
	NUMBER("time", gap_ns, "gap_ns", "By which the two differ from elapsed_ns"),
};
static const struct field cpu_fields[] = {
	RECORD_OF,
	SPARSE("cpu_time", cpu_clock_ns, "clock_ns", "By the clocks of the processes"),
	SPARSE("cpu_time", cpu_sampled_ns, "sampled_ns", "In samples of CPUTIME"),
	SPARSE("cpu_time", cpu_after_ns, "after_last_sample_ns", "Of each thread"),
	SPARSE("cpu_time", cpu_off_ns, "while_off_ns", "While measurement was off"),
	SPARSE("cpu_time", cpu_edges_ns, "before_and_after_threads_ns",
	       "Of threads, before and after they were measured"),
	SPARSE("cpu_time", cpu_unseen_ns, "without_samples_ns", "Although they were due"),
	SPARSE("cpu_time", cpu_strange_ns, "threads_not_seen_ns", "Of threads not seen to start"),
};

struct row {
	const char *backend, *name;
	bool takes;
	uint64_t n, joined, aggregated;
};
static const struct field loss_fields[] = {
	RECORD_OF,
	TEXT(row, name, "cause", NULL),
	MEMBER(FIELD_BOOL, row, takes, "takes_sample", "The sample is lost"),
	COUNT(row, n, "n", NULL),
};
static const struct field end_fields[] = {
	RECORD_OF,
	TEXT(row, name, "how", NULL),
	COUNT(row, n, "n", NULL),
};

const struct record_kind record_ledger = RECORD_LINE("ledger", "Samples", ledger_fields);
const struct record_kind record_loss = RECORD_LINE("loss", "What was lost, by cause", loss_fields);
const struct record_kind record_end =
	RECORD_LINE("end", "How walks of the stack ended", end_fields);
const struct record_kind record_time =
	RECORD_LINE("time", "Time of threads, with OFFCPU", time_fields);
const struct record_kind record_cpu = RECORD_LINE("cpu", "CPU time", cpu_fields);
const struct record_kind record_paths =
	RECORD_LINE("paths", "Samples in the tree: complete, guessed, or why they were cut",
		    end_fields);

/* ---- of GPUs ---- */

#define BACKEND                                                                                    \
	{.name = "backend", .kind = FIELD_TEXT, .meaning = "-: the sum", .get = backend_of}
#define GPU_NUMBER(group_, count_, member, name_, meaning_)                                        \
	{.name = (name_), .meaning = (meaning_), .kind = FIELD_COUNT, .group = (group_),           \
	 .count = (count_), FIELD_AT(model_gpu_ledger, member)}

static const char *name_of_backend(const struct model_gpu_ledger *l)
{
	return *l->backend ? l->backend : "-";
}

static struct value backend_of(const struct record *r)
{
	return value_text(name_of_backend(r->at));
}

static const struct field gpu_ledger_fields[] = {
	RECORD_OF,
	BACKEND,
	GPU_NUMBER("operations", "in_tree", n_ops, "operations", "In the tree"),
	GPU_NUMBER("operations", NULL, n_orphans, "without_launch", "Its record was lost"),
	GPU_NUMBER("operations", NULL, n_no_path, "without_call_path", "Of threads not measured"),
	GPU_NUMBER("operations", NULL, n_bad_order, "in_bad_order", "Not enqueue <= start <= end"),
	GPU_NUMBER("operations", NULL, n_unknown_calls, "unknown_calls", NULL),
	GPU_NUMBER("operations", NULL, n_clipped, "clipped", "Shortened in the time line"),
	GPU_NUMBER("launches", NULL, unexplained, "unexplained", "In no group"),
	GPU_NUMBER("cost", NULL, handler_ns, "handler_ns", "Time in our callbacks"),
	FLAG(model_gpu_ledger, closes, "launched = joined + aggregated + lost"),
	TEXT(model_gpu_ledger, entrance, "entrance", "How the back end came into the process"),
};
static const struct field gpu_unwritten_fields[] = {
	RECORD_OF,
	BACKEND,
	GPU_NUMBER("unwritten", NULL, n_lost_definitions, "definitions", "Names, queues, shapes"),
	GPU_NUMBER("unwritten", NULL, n_lost_contents, "contents", "Code objects"),
	GPU_NUMBER("unwritten", NULL, n_lost_values, "values", "Counters, ranges, clocks"),
};

#define ROW_BACKEND TEXT(row, backend, "backend", "-: the sum")
static const struct field gpu_kind_fields[] = {
	RECORD_OF,
	ROW_BACKEND,
	TEXT(row, name, "kind", "Of operation"),
	COUNT(row, n, "launched", NULL),
	COUNT(row, joined, "joined", "With an operation in the tree"),
	COUNT(row, aggregated, "aggregated", "During the run"),
};
static const struct field gpu_loss_fields[] = {
	RECORD_OF,
	ROW_BACKEND,
	TEXT(row, name, "cause", NULL),
	MEMBER(FIELD_BOOL, row, takes, "takes_operation", "The operation is lost"),
	COUNT(row, n, "n", NULL),
};
static const struct field gpu_graph_loss_fields[] = {
	RECORD_OF,
	ROW_BACKEND,
	TEXT(row, name, "cause", NULL),
	COUNT(row, n, "n", NULL),
};
const struct record_kind record_gpu_ledger =
	RECORD_LINE("gpu-ledger", "GPU operations", gpu_ledger_fields);
const struct record_kind record_gpu_unwritten =
	RECORD_LINE("gpu-unwritten", "What could not be written", gpu_unwritten_fields);
const struct record_kind record_gpu_kind =
	RECORD_LINE("gpu-kind", "Launches by kind", gpu_kind_fields);
const struct record_kind record_gpu_loss =
	RECORD_LINE("gpu-loss", "Lost launches", gpu_loss_fields);
const struct record_kind record_gpu_graph_loss =
	RECORD_LINE("gpu-graph-loss", "Lost operations of graphs", gpu_graph_loss_fields);

/* ---- lines of the text ---- */

static void put_row(struct record_visitor *v, const struct record *owner,
		    const struct record_kind *kind, const char *name, uint64_t n, bool takes)
{
	const struct row row = {.name = name, .n = n, .takes = takes};
	if (n)
		record_visit(v, owner, kind, &row, 0);
}

static void put_paths(struct record_visitor *v, const struct record *owner,
		      const struct model_ledger *l)
{
	put_row(v, owner, &record_paths, path_counts[0].name, l->n_complete, false);
	put_row(v, owner, &record_paths, path_counts[1].name, l->n_guessed, false);
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		put_row(v, owner, &record_paths, i ? msr_path_end_name(i) : "unknown", l->n_cut[i],
			false);
}

void record_put_ledger(struct record_visitor *v, const struct record *owner,
		       const struct model_ledger *l)
{
	if (v->sink != RECORD_TEXT)
		return;
	record_visit(v, owner, &record_ledger, l, 0);
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		put_row(v, owner, &record_loss, msr_loss_name(i), l->losses[i],
			msr_loss_takes_sample(i));
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		put_row(v, owner, &record_end, msr_path_end_name(i), l->path_ends[i], false);
	if (l->elapsed_ns)
		record_visit(v, owner, &record_time, l, 0);
	if (l->cpu_clock_ns || l->cpu_sampled_ns || l->cpu_unseen_ns)
		record_visit(v, owner, &record_cpu, l, 0);
	put_paths(v, owner, l);
}

static void put_gpu_losses(struct record_visitor *v, const struct record *owner,
			   const struct model_gpu_ledger *l, const uint64_t *losses,
			   const struct record_kind *kind)
{
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++) {
		const struct row row = {.backend = name_of_backend(l),
					.name = msr_gpu_loss_name(i),
					.takes = msr_gpu_loss_takes_op(i),
					.n = losses[i]};
		if (losses[i])
			record_visit(v, owner, kind, &row, 0);
	}
}

void record_put_gpu_ledger(struct record_visitor *v, const struct record *owner,
			   const struct model_gpu_ledger *l)
{
	record_visit(v, owner, &record_gpu_ledger, l, 0);
	if (l->n_lost_definitions || l->n_lost_contents || l->n_lost_values)
		record_visit(v, owner, &record_gpu_unwritten, l, 0);
	for (unsigned i = 1; i < MSR_N_GPU_KINDS; i++) {
		const struct row row = {.backend = name_of_backend(l),
					.name = msr_gpu_kind_name(i),
					.n = l->launched[i],
					.joined = l->joined[i],
					.aggregated = l->aggregated[i]};
		if (row.n || row.joined || row.aggregated)
			record_visit(v, owner, &record_gpu_kind, &row, 0);
	}
	put_gpu_losses(v, owner, l, l->losses, &record_gpu_loss);
	put_gpu_losses(v, owner, l, l->graph_losses, &record_gpu_graph_loss);
}

/* ---- numbers by group and name ---- */

static void add(struct record_list *l, const char *group, const char *name, uint64_t n)
{
	if (l->n < RECORD_COUNTS_MOST)
		l->at[l->n++] = (struct words_count){group, name, n};
}

static void add_some(struct record_list *l, const char *group, const char *name, uint64_t n)
{
	if (n)
		add(l, group, name, n);
}

uint64_t record_rounded(double n)
{
	return n < 1e18 ? (uint64_t)(n + 0.5) : UINT64_C(1000000000000000000);
}

void record_add_fields(struct record_list *l, const struct field *fields, size_t n,
		       const void *at)
{
	const struct record r = {.at = at};
	for (size_t i = 0; i < n; i++) {
		const struct field *f = &fields[i];
		if (!f->group)
			continue;
		const struct value v = field_value(f, &r, 0);
		const uint64_t number = f->kind == FIELD_REAL ? record_rounded(v.real) : v.n;
		if (number || !f->is_sparse)
			add(l, f->group, f->count ? f->count : f->name, number);
	}
}
#define ADD_FIELDS(l, fields, at)                                                                  \
	record_add_fields(l, fields, sizeof(fields) / sizeof *(fields), at)

size_t record_sort_groups(struct record_list *l)
{
	for (size_t i = 1; i < l->n; i++) {
		size_t k = i; /* behind the last one of its group */
		while (k && strcmp(l->at[k - 1].group, l->at[i].group) != 0)
			k--;
		if (!k)
			continue;
		const struct words_count c = l->at[i];
		memmove(&l->at[k + 1], &l->at[k], (i - k) * sizeof c);
		l->at[k] = c;
	}
	return l->n;
}

/* Counts all causes that this version does not know as one. */
static void add_losses(struct record_list *l, const char *group, const struct model_ledger *from,
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

size_t record_count_ledger(const struct model_ledger *from, struct words_count *to)
{
	struct record_list l = {to, 0};
	ADD_FIELDS(&l, ledger_fields, from);
	add_losses(&l, "lost_samples", from, true);
	add_losses(&l, "other_losses", from, false);
	ADD_FIELDS(&l, path_counts, from);
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		add_some(&l, "cut_call_paths", i ? msr_path_end_name(i) : "unknown",
			 from->n_cut[i]);
	if (from->elapsed_ns)
		ADD_FIELDS(&l, time_fields, from);
	ADD_FIELDS(&l, cpu_fields, from);
	return record_sort_groups(&l);
}

static void add_kinds(struct record_list *l, const char *group, const uint64_t by_kind[16])
{
	for (unsigned i = 1; i < MSR_N_GPU_KINDS; i++)
		add_some(l, group, msr_gpu_kind_name(i), by_kind[i]);
}

static void add_gpu_losses(struct record_list *l, const char *group, const uint64_t *losses)
{
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		add_some(l, group, msr_gpu_loss_name(i), losses[i]);
}

size_t record_count_gpu_ledger(const struct model_gpu_ledger *from, struct words_count *to)
{
	struct record_list l = {to, 0};
	add_kinds(&l, "launched", from->launched);
	add_kinds(&l, "joined", from->joined);
	add_kinds(&l, "aggregated", from->aggregated);
	add_gpu_losses(&l, "lost_launches", from->losses);
	add_gpu_losses(&l, "lost_of_graphs", from->graph_losses);
	ADD_FIELDS(&l, gpu_ledger_fields, from);
	ADD_FIELDS(&l, gpu_unwritten_fields, from);
	return record_sort_groups(&l);
}

/* ---- rows of SQL ---- */

struct count_row {
	struct record_ledger_owner owner;
	struct words_count count;
};
static const struct field count_fields[] = {
	{.name = "process", .kind = FIELD_ID, .of = "process", FIELD_AT(count_row, owner.process)},
	{.name = "profile", .kind = FIELD_ID, .of = "profile", FIELD_AT(count_row, owner.profile)},
	TEXT(count_row, owner.backend, "backend", "Of a GPU's ledger"),
	TEXT(count_row, count.group, "class", NULL),
	TEXT(count_row, count.name, "name", NULL),
	COUNT(count_row, count.n, "n", NULL),
};
static const struct record_kind record_count = {
	.name = "ledger", .table = "ledger",
	.meaning = "Numbers of ledgers; neither process nor profile: sums of the run",
	.sinks = RECORD_SQL, FIELDS(count_fields)};

void record_visit_counts(struct record_visitor *v, const struct model *m,
			 const struct record_kind *kind, const struct words_count *counts, size_t n,
			 struct record_ledger_owner owner)
{
	const struct record r = {.m = m};
	const struct record_counts all = {counts, n};
	record_visit(v, &r, kind, &all, 0);
	for (size_t i = 0; i < n && v->sink == RECORD_SQL; i++) {
		const struct count_row row = {owner, counts[i]};
		record_visit(v, &r, &record_count, &row, 0);
	}
}

static const struct record_kind *const kinds[] = {
	&record_ledger, &record_loss, &record_end, &record_time, &record_cpu, &record_paths,
	&record_gpu_ledger, &record_gpu_unwritten, &record_gpu_kind, &record_gpu_loss,
	&record_gpu_graph_loss, &record_gpu_sampling, &record_gpu_yardstick, &record_count};
const struct record_part record_part_ledgers = {KINDS(kinds), NULL};
