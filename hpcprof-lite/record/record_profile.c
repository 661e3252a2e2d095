/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads and queues, their values and time lines; see record.h. Test:
 * tests/cli/sink/sink_json.sh. */
#include "hpcprof-lite/record/record_ledger.h"
#include "hpcprof-lite/record/words.h"
#include "hpcprof-lite/view/parallel/view_processors.h"

static const struct model_profile *profile_of(const struct record *r)
{
	return r->at;
}

static bool is_queue(const struct record *r)
{
	return profile_of(r)->kind == MODEL_PROFILE_QUEUE;
}

static bool is_thread(const struct record *r)
{
	return !is_queue(r);
}

static struct value counts(const struct record *r)
{
	return value_count(view_is_used_thread(r->m, profile_of(r)));
}

static const char *profile_kind(unsigned kind)
{
	return kind == MODEL_PROFILE_QUEUE ? "queue" : "thread";
}

static const struct field profile_fields[] = {
	KEY,
	ID(model_profile, process, "process", NULL),
	{.name = "thread", .meaning = "0: the main thread", .kind = FIELD_ID, .is_optional = true,
	 FIELD_AT(model_profile, thread)},
	{.name = "tid", .kind = FIELD_COUNT, .is_optional = true, .is_known = is_thread,
	 FIELD_AT(model_profile, tid)},
	TIME(model_profile, start_ns, NULL),
	TIME(model_profile, end_ns, NULL),
	COUNT(model_profile, cpu_ns, "cpu_ns", "By its clock, while measurement was on"),
	TEXT(model_profile, name, "name", NULL),
	WORD(model_profile, kind, profile_kind, "thread, queue"),
	{.name = "queue", .kind = FIELD_ID, .of = "gpu_queue", .is_optional = true,
	 FIELD_AT(model_profile, queue)},
	{.name = "lane", .meaning = "Operations that overlap are in further lanes",
	 .kind = FIELD_COUNT, .is_optional = true, .is_known = is_queue,
	 FIELD_AT(model_profile, lane)},
	{.name = "counts", .meaning = "In the account of time, and in means of times",
	 .kind = FIELD_BOOL, .is_optional = true, .is_known = is_thread, .get = counts},
};
static const struct record_kind record_profile = {
	.name = "profile", .table = "profile", .json = "profiles", .parent = &record_run,
	.meaning = "A thread, or a lane of a GPU queue", .sinks = RECORD_ALL,
	FIELDS(profile_fields), .is_wanted = record_always};
static const struct record_kind record_profile_counts = {
	.json = "ledger", .parent = &record_profile, .form = RECORD_COUNTS, .sinks = RECORD_JSON};

static const struct field gpu_profile_fields[] = {
	KEY,
	ID(model_profile, queue, "gpu_queue", NULL),
	COUNT(model_profile, lane, "lane", NULL),
};
static const struct record_kind record_gpu_profile = {
	.name = "gpu-profile", .meaning = "A lane of a GPU queue", .sinks = RECORD_TEXT,
	FIELDS(gpu_profile_fields)};

#define USE(member, meaning) COUNT(model_source_use, member, #member, meaning)
static const struct field use_fields[] = {
	OWNER("profile", "profile"),
	USE(event_ns, "With a perf event"),
	USE(event_samples, NULL),
	COUNT(model_source_use, event_switches, "event_switches", NULL),
	USE(timer_ns, "With a timer"),
	USE(timer_samples, NULL),
	COUNT(model_source_use, n_changes, "changes", "Between the two"),
};
static const struct record_kind record_use = {
	.name = "sampled-by", .table = "sampled_by", .json = "sampled_by",
	.parent = &record_profile, .meaning = "The source of the samples of CPU time",
	.form = RECORD_OBJECT, .sinks = RECORD_ALL, FIELDS(use_fields)};

static const struct field value_fields[] = {
	OWNER("profile", "profile"),
	ID(model_value, context, "context", NULL),
	ID(model_value, metric, "metric", NULL),
	REAL(model_value, at[MODEL_POINT], "point", NULL),
	REAL(model_value, at[MODEL_FUNCTION], "function", NULL),
	REAL(model_value, at[MODEL_LEX_AWARE], "lex_aware", NULL),
	REAL(model_value, at[MODEL_EXECUTION], "execution", NULL),
};
static const struct record_kind record_value = {
	.name = "value", .table = "value", .json = "values", .parent = &record_profile,
	.meaning = "The value of one thread. JSON: of contexts with a value of their own",
	.form = RECORD_TUPLES, .sinks = RECORD_ALL,
	FIELDS(value_fields), .is_wanted = is_thread};

static const struct field sample_fields[] = {
	OWNER("profile", "profile"),
	TIME(model_sample, time_ns, NULL),
	ID(model_sample, context, "context", "0: idle from here on"),
	ID(model_sample, metric, "metric", NULL),
};
static const struct record_kind record_sample = {
	.name = "sample", .table = "sample", .json = "samples", .parent = &record_profile,
	.meaning = "A sample of a time line, by profile and time", .form = RECORD_TUPLES,
	.sinks = RECORD_ALL, FIELDS(sample_fields), .is_wanted = is_thread};
/* In the text, samples with context 0. */
static const struct record_kind record_idle_from = {
	.name = "idle", .meaning = "From here on", .sinks = RECORD_TEXT, .fields = sample_fields,
	.n_fields = 2};

static struct value op_detail(const struct record *r)
{
	return value_text(words_op_detail(r->at));
}

static const struct field op_fields[] = {
	OWNER("profile", "profile"),
	TIME(model_gpu_op, start_ns, NULL),
	TIME(model_gpu_op, end_ns, NULL),
	TIME(model_gpu_op, enter_ns, "Entry into the call that asked for it"),
	TIME(model_gpu_op, queued_ns, NULL),
	TIME(model_gpu_op, submitted_ns, NULL),
	COUNT(model_gpu_op, id, "launch_id", "Unique in its process"),
	WORD(model_gpu_op, kind, words_op, "kernel, copy, set, alloc, free, sync, marker"),
	GET(FIELD_WORD, "detail", op_detail, "Direction, kind of memory, cause of a wait"),
	COUNT(model_gpu_op, bytes, "bytes", "Of copies, fills, allocations and releases; else 0"),
	COUNT(model_gpu_op, graph_node, "graph_node", "Of kernels of a CUDA graph; else 0"),
	ID(model_gpu_op, context, "context", "The kernel, or the placeholder of its kind"),
	ID(model_gpu_op, shape, "gpu_shape", NULL),
	ID(model_gpu_op, launcher, "profile", "The thread that asked for it"),
};
static const struct record_kind record_op = {
	.name = "gpu-op", .table = "gpu_op", .json = "operations", .parent = &record_profile,
	.meaning = "An operation of a GPU queue, by profile and time", .sinks = RECORD_ALL,
	FIELDS(op_fields), .is_wanted = is_queue};

/* ---- visits ---- */

static void visit_samples(const struct record *r, struct record_visitor *v)
{
	enum { CHUNK = 1024 };
	struct model_trace_cursor c = {0};
	struct model_sample samples[CHUNK];
	for (size_t n; !v->is_done && (n = model_trace_read(r->m, r->owner, &c, samples, CHUNK));)
		for (size_t i = 0; i < n; i++)
			record_visit(v, r,
				     v->sink == RECORD_TEXT && !samples[i].context
					     ? &record_idle_from
					     : &record_sample,
				     &samples[i], 0);
}

static void visit_ops(const struct record *r, struct record_visitor *v)
{
	enum { CHUNK = 512 };
	struct model_gpu_cursor c = {0};
	struct model_gpu_op ops[CHUNK];
	for (size_t n; !v->is_done && (n = model_gpu_read(r->m, r->owner, &c, ops, CHUNK));)
		for (size_t i = 0; i < n; i++)
			record_visit(v, r, &record_op, &ops[i], 0);
}

static void visit_thread(const struct record *r, struct record_visitor *v)
{
	const struct model_profile *p = &r->m->profiles[r->owner];
	const struct model_source_use *u = &p->source_use;
	struct words_count counts[RECORD_COUNTS_MOST];
	record_visit_counts(v, r->m, &record_profile_counts, counts,
			    record_count_ledger(p->ledger, counts),
			    (struct record_ledger_owner){p->process, r->owner, NULL});
	if (u->event_samples || u->timer_samples)
		record_visit(v, r, &record_use, u, 0);
	for (size_t i = 0; i < p->n_values; i++)
		if (v->sink != RECORD_JSON || p->values[i].at[MODEL_POINT] != 0)
			record_visit(v, r, &record_value, &p->values[i], 0);
	model_values_done(r->m, p->n_values);
	visit_samples(r, v);
}

static bool visit_all(const struct model *m, struct record_visitor *v)
{
	for (uint32_t i = 0; i < m->n_profiles && !v->is_done; i++) {
		const struct model_profile *p = &m->profiles[i];
		const struct record r = {.m = m, .whose = "profile", .owner = i};
		record_visit(v, &r, &record_profile, p, i);
		record_put_ledger(v, &r, p->ledger);
		if (p->kind != MODEL_PROFILE_QUEUE) {
			visit_thread(&r, v);
			continue;
		}
		record_visit(v, &r, &record_gpu_profile, p, i);
		if (p->n_trace_records)
			visit_ops(&r, v);
	}
	return true;
}

static const struct record_kind *const kinds[] = {
	&record_profile, &record_profile_counts, &record_gpu_profile, &record_use, &record_value,
	&record_sample, &record_idle_from, &record_op};
const struct record_part record_part_profiles = {KINDS(kinds), visit_all};
