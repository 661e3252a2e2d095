/* SPDX-License-Identifier: BSD-3-Clause */
/* The run and its processes; see record.h. Test: tests/cli/sink/sink_json.sh. */
#include "config.h"

#include "hpcprof-lite/record/record_ledger.h"
#include "hpcprof-lite/record/words.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the run ---- */

static struct value run_format(const struct record *r)
{
	return value_text(r ? "hpctoolkit-lite profile" : NULL);
}

static struct value run_version(const struct record *r)
{
	return value_count(r ? RECORD_VERSION : 0);
}

static struct value run_generator(const struct record *r)
{
	return value_text(r ? PACKAGE_NAME " " PACKAGE_VERSION : NULL);
}

static struct value run_start(const struct record *r)
{
	static _Thread_local char text[24];
	snprintf(text, sizeof text, "%" PRIu64, r->m->start_ns);
	return value_text(text);
}

static struct value gpu_closes(const struct record *r)
{
	return value_count(r->m->gpu_ledger.closes);
}

static bool has_gpu(const struct record *r)
{
	return r->m->has_gpu;
}

enum { TITLE = 3, EXTENT, PART = 6, CLOSES = 7, GPU_CLOSES };
static const struct field run_fields[] = {
	{.name = "format", .kind = FIELD_WORD, .sinks = RECORD_JSON, .get = run_format},
	{.name = "version", .meaning = "Grows with every change", .kind = FIELD_COUNT,
	 .sinks = RECORD_JSON, .get = run_version},
	{.name = "generator", .kind = FIELD_WORD, .get = run_generator},
	[TITLE] = TEXT(model, title, "title", "What the first program was called"),
	[EXTENT] = {.name = "start_ns", .kind = FIELD_TIME, .sinks = RECORD_TEXT | RECORD_SQL,
		    FIELD_AT(model, start_ns)},
	TIME(model, end_ns, NULL),
	[PART] = {.name = "part", .kind = FIELD_TEXT, .is_optional = true,
		  .meaning = "A filter was applied: the part of the run. Ledgers are of all",
		  FIELD_AT(model, part)},
	[CLOSES] = FLAG(model, ledger_closes,
			"samples.delivered = samples.in_tree + lost_samples, for every thread"),
	[GPU_CLOSES] = {.name = "gpu_ledger_closes", .kind = FIELD_BOOL, .is_optional = true,
			.is_known = has_gpu, .get = gpu_closes},
	{.name = "start_ns", .kind = FIELD_TEXT, .sinks = RECORD_JSON, .get = run_start,
	 .meaning = "Nanoseconds since 1970, beyond a double. Other times count from here"},
	COUNT(model, elapsed_ns, "elapsed_ns", "Without the time between runs"),
	COUNT(model, n_runs, "runs",
	      "Stretches of time with measurement, a second apart or launched apart"),
	MEMBER(FIELD_BOOL, model, has_traces, "has_time_lines", NULL),
};
const struct record_kind record_run = {
	.name = "run", .table = "run", .meaning = "The whole measurement", .form = RECORD_OBJECT,
	.sinks = RECORD_JSON | RECORD_SQL, FIELDS(run_fields)};

/* Some facts of the run have lines of their own in the text. */
#define FACT(name_, meaning_, from, n)                                                             \
	{.name = (name_), .meaning = (meaning_), .sinks = RECORD_TEXT,                             \
	 .fields = run_fields + (from), .n_fields = (n)}
static const struct record_kind record_title =
	FACT("title", "What the first program was called", TITLE, 1);
static const struct record_kind record_extent =
	FACT("extent", "Times of the first and the last record", EXTENT, 2);
static const struct record_kind record_filter = FACT("part", "A filter was applied", PART, 1);
static const struct record_kind record_closes =
	FACT("closes", "1: delivered = in_tree + lost for every thread", CLOSES, 1);
static const struct record_kind record_gpu_closes =
	FACT("gpu-closes", "1: the ledgers of GPUs close", GPU_CLOSES, 1);

static bool has_part(const struct record *parent)
{
	return parent->m->part != NULL;
}

struct text_row {
	const char *text;
};
static const struct field part_note_fields[] = {TEXT(text_row, text, "text", NULL)};
static const struct record_kind record_part_note = {
	.name = "part-note", .table = "part_note", .json = "part_notes", .parent = &record_run,
	.meaning = "What the filter had to leave out, for people", .form = RECORD_VALUES,
	.sinks = RECORD_ALL, FIELDS(part_note_fields), .is_wanted = has_part};
static const struct record_kind record_run_counts = {
	.json = "ledger", .parent = &record_run, .form = RECORD_COUNTS, .sinks = RECORD_JSON};

#define UNMEASURED(member, name, meaning) COUNT(model_unmeasured, member, name, meaning)
static const struct field unmeasured_fields[] = {
	UNMEASURED(n, "processes", NULL),
	UNMEASURED(n_unknown, "processes_without_cpu_time", NULL),
	UNMEASURED(cpu_ns, "cpu_ns", "Of the others"),
	FLAG(model_unmeasured, is_starter, "The path is that of the program that started it"),
	TEXT(model_unmeasured, why, "why", NULL),
	TEXT(model_unmeasured, path, "path", NULL),
};
static const struct record_kind record_unmeasured = {
	.name = "unmeasured", .table = "unmeasured", .json = "unmeasured", .parent = &record_run,
	.meaning = "Processes that could not be measured, by program", .sinks = RECORD_ALL,
	FIELDS(unmeasured_fields), .is_wanted = record_always};

/* ---- processes ---- */

static const struct model_process *process_of(const struct record *r)
{
	return r->at;
}

static struct value end_of(const struct record *r)
{
	static _Thread_local char text[128];
	const struct model_process *p = process_of(r);
	return value_text(ends_text(p->exit_kind, p->exit_code, text, sizeof text));
}

static struct value throttled_ns(const struct record *r)
{
	return value_count(process_of(r)->throttled_end_ns - process_of(r)->throttled_start_ns);
}

static bool is_spawned(const struct record *r)
{
	return process_of(r)->spawned_job != 0;
}

static bool is_attached(const struct record *r)
{
	return process_of(r)->is_attached;
}

static bool has_quota(const struct record *r)
{
	return process_of(r)->quota > 0;
}

static bool has_usage(const struct record *r)
{
	const struct msr_usage *u = &process_of(r)->usage;
	return u->system_ns || u->page_faults || u->reads || u->writes;
}

#define USAGE(member, meaning_)                                                                    \
	{.name = #member, .meaning = (meaning_), .kind = FIELD_COUNT, .is_optional = true,         \
	 .is_known = has_usage, FIELD_AT(model_process, usage.member)}
static const struct field process_fields[] = {
	KEY,
	MEMBER(FIELD_RANK, model_process, rank, "rank", "Unique among all jobs"),
	COUNT(model_process, pid, "pid", NULL),
	COUNT(model_process, exec_seq, "exec", "How often it had replaced its program"),
	{.name = "host_id", .kind = FIELD_COUNT, .sinks = RECORD_TEXT,
	 FIELD_AT(model_process, host_id)},
	COUNT(model_process, exit_kind, "exit", "A number for `end`"),
	MEMBER(FIELD_SIGNED, model_process, exit_code, "code", NULL),
	TIME(model_process, start_ns, NULL),
	TIME(model_process, end_ns, NULL),
	TEXT(model_process, host, "host", NULL),
	TEXT(model_process, executable, "executable", NULL),
	TEXT(model_process, command, "command", NULL),
	/* Not in the text, which does not depend on where the measurement is. */
	{.name = "measurement", .meaning = "The file that was read", .kind = FIELD_TEXT,
	 .sinks = RECORD_JSON | RECORD_SQL, FIELD_AT(model_process, path)},
	COUNT(model_process, off_ns, "off_ns", "While measurement was off"),
	COUNT(model_process, n_stops, "stops", "Of measurement, by the program"),
	COUNT(model_process, n_starts, "starts", NULL),
	FLAG(model_process, is_live, "Still running when it was read"),
	{.name = "is_attached", .meaning = "It ran before it was measured: hpcrun-lite --attach",
	 .kind = FIELD_BOOL, .is_optional = true, .is_known = is_attached,
	 FIELD_AT(model_process, is_attached)},
	GET(FIELD_TEXT, "end", end_of, "How it ended, for people"),
	TEXT(model_process, role, "role", "DataLoader worker 0"),
	{.name = "spawned_job", .meaning = "Number of the job, from 1, that MPI_Comm_spawn started",
	 .kind = FIELD_COUNT, .is_optional = true, .is_known = is_spawned,
	 FIELD_AT(model_process, spawned_job)},
	{.name = "job_rank", .meaning = "Rank in its own job", .kind = FIELD_RANK,
	 .is_optional = true, .is_known = is_spawned, FIELD_AT(model_process, job_rank)},
	{.name = "cpu_quota", .meaning = "Processors that its cgroup gives", .kind = FIELD_REAL,
	 .is_optional = true, .is_known = has_quota, FIELD_AT(model_process, quota)},
	{.name = "throttled_ns", .meaning = "Of the cgroup, meanwhile", .kind = FIELD_COUNT,
	 .is_optional = true, .is_known = has_quota, .get = throttled_ns},
	USAGE(system_ns, "CPU time in the kernel; from here on unknown for a killed process"),
	USAGE(page_faults, "Without I/O"),
	USAGE(reads, "System calls that read files, pipes and sockets"),
	USAGE(writes, "System calls that wrote them"),
	USAGE(read_bytes, NULL),
	USAGE(written_bytes, NULL),
};
const struct record_kind record_process = {
	.name = "process", .table = "process", .json = "processes", .parent = &record_run,
	.meaning = "A process; by rank, host, pid and exec", .sinks = RECORD_ALL,
	FIELDS(process_fields), .is_wanted = record_always};

static const struct field live_fields[] = {OWNER("process", "process")};
static const struct field off_fields[] = {
	OWNER("process", "process"),
	COUNT(model_process, off_ns, "off_ns", NULL),
	COUNT(model_process, n_stops, "stops", NULL),
	COUNT(model_process, n_starts, "starts", NULL),
};
static const struct field spawned_fields[] = {
	OWNER("process", "process"),
	COUNT(model_process, spawned_job, "job", NULL),
	MEMBER(FIELD_RANK, model_process, job_rank, "job_rank", NULL),
};
static const struct field quota_fields[] = {
	OWNER("process", "process"),
	REAL(model_process, quota, "processors", NULL),
	COUNT(model_process, quota_id, "cgroup", NULL),
	COUNT(model_process, throttled_start_ns, "throttled_before_ns", NULL),
	GET(FIELD_COUNT, "throttled_ns", throttled_ns, NULL),
};
static const struct field note_fields[] = {
	OWNER("process", "process"),
	TEXT(text_row, text, "text", NULL),
};

static const struct record_kind record_live =
	RECORD_LINE("live", "A process that was still running when it was read", live_fields);
static const struct record_kind record_off = RECORD_LINE("off", "Measurement was off", off_fields);
static const struct record_kind record_spawned =
	RECORD_LINE("spawned", "MPI_Comm_spawn started it", spawned_fields);
static const struct record_kind record_quota =
	RECORD_LINE("quota", "CPU quota of the cgroup", quota_fields);
static const struct record_kind record_event = {
	.name = "event", .table = "process_event", .json = "events", .parent = &record_process,
	.meaning = "What the user asked for", .form = RECORD_VALUES, .sinks = RECORD_ALL,
	FIELDS(note_fields), .is_wanted = record_always};
static const struct record_kind record_note = {
	.name = "note", .table = "process_note", .json = "notes", .parent = &record_process,
	.meaning = "A message of the run time to the user", .form = RECORD_VALUES,
	.sinks = RECORD_ALL, FIELDS(note_fields), .is_wanted = record_always};
static const struct record_kind record_process_counts = {
	.json = "ledger", .parent = &record_process, .form = RECORD_COUNTS, .sinks = RECORD_JSON};

/* ---- ... and GPUs ---- */

static const struct field backend_fields[] = {
	TEXT(model_gpu_ledger, backend, "backend", NULL),
	TEXT(model_gpu_ledger, entrance, "entrance", "How it came into the process"),
	MEMBER(FIELD_BOOL, model_gpu_ledger, closes, "ledger_closes", NULL),
};
static const struct record_kind record_backend = {
	.name = "gpu-backend", .json = "gpu", .parent = &record_process,
	.meaning = "A GPU back end", .sinks = RECORD_JSON, FIELDS(backend_fields),
	.is_wanted = record_always};
static const struct record_kind record_backend_counts = {
	.json = "ledger", .parent = &record_backend, .form = RECORD_COUNTS, .sinks = RECORD_JSON};
static const struct record_kind record_process_sampling = {
	.json = "gpu_sampling", .parent = &record_process, .form = RECORD_COUNTS,
	.sinks = RECORD_JSON};

#define YARDSTICK(kind_, member, name, meaning)                                                    \
	MEMBER(kind_, model_gpu_yardstick, member, name, meaning)

static struct value yardstick_name(const struct record *r)
{
	const struct model_gpu_yardstick *y = r->at;
	return value_text(r->m->functions[r->m->contexts[y->context].function].name);
}

static const struct field yardstick_fields[] = {
	OWNER("process", "process"),
	GET(FIELD_TEXT, "name", yardstick_name, "Of the kernel"),
	YARDSTICK(FIELD_COUNT, n_contexts, "contexts", "That launched it in serialized ranges"),
	YARDSTICK(FIELD_COUNT, n_samples, "samples", "With a known launch"),
	YARDSTICK(FIELD_COUNT, n_apportioned, "apportioned", "Samples in other ranges"),
	YARDSTICK(FIELD_REAL, wrong_context, "wrong_context", "Share; negative: not measured"),
	YARDSTICK(FIELD_REAL, chance_context, "chance_context", "... by chance"),
	YARDSTICK(FIELD_REAL, wrong_place, "wrong_place", "Context and instruction"),
	YARDSTICK(FIELD_REAL, chance_place, "chance_place", "... by chance"),
};
static const struct record_kind record_yardstick_kernel = {
	.name = "gpu-yardstick-kernel", .table = "gpu_yardstick_kernel", .json = "yardsticks",
	.parent = &record_process, .meaning = "How well apportioning agrees for a kernel",
	.sinks = RECORD_ALL, FIELDS(yardstick_fields)};

/* ---- visits ---- */

static void visit_texts(const struct record *r, struct record_visitor *v,
			const struct record_kind *kind, const char *const *texts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct text_row row = {texts[i]};
		record_visit(v, r, kind, &row, i);
	}
}

static bool visit_run(const struct model *m, struct record_visitor *v)
{
	struct words_count counts[RECORD_COUNTS_MOST];
	const struct record r = {.m = m, .owner = MODEL_NONE};
	record_visit(v, &r, &record_run, m, 0);
	record_visit(v, &r, &record_title, m, 0);
	record_visit(v, &r, &record_extent, m, 0);
	if (m->part)
		record_visit(v, &r, &record_filter, m, 0);
	visit_texts(&r, v, &record_part_note, m->part_notes, m->part ? m->n_part_notes : 0);
	record_visit_counts(v, m, &record_run_counts, counts,
			    record_count_ledger(&m->ledger, counts),
			    (struct record_ledger_owner){MODEL_NONE, MODEL_NONE, NULL});
	for (uint32_t i = 0; i < m->n_unmeasured; i++)
		record_visit(v, &r, &record_unmeasured, &m->unmeasured[i], i);
	return true;
}

void records_visit_end(const struct model *m, struct record_visitor *v)
{
	const struct record all = {.m = m, .whose = "all", .owner = MODEL_NONE};
	if (m->has_gpu)
		record_put_gpu_ledger(v, &all, &m->gpu_ledger);
	record_put_sampling(v, &all, &m->gpu_sampling);
	record_put_ledger(v, &all, &m->ledger);
	record_visit(v, &all, &record_closes, m, 0);
	if (m->has_gpu)
		record_visit(v, &all, &record_gpu_closes, m, 0);
}

static void visit_gpu(const struct record *r, struct record_visitor *v)
{
	const struct model_process *p = &r->m->processes[r->owner];
	struct words_count counts[RECORD_COUNTS_MOST];
	for (uint32_t i = 0; i < p->n_gpu; i++) {
		record_put_gpu_ledger(v, r, &p->gpu[i]);
		record_visit(v, r, &record_backend, &p->gpu[i], i);
		record_visit_counts(
			v, r->m, &record_backend_counts, counts,
			record_count_gpu_ledger(&p->gpu[i], counts),
			(struct record_ledger_owner){r->owner, MODEL_NONE, p->gpu[i].backend});
	}
	record_put_sampling(v, r, &p->gpu_sampling);
	record_visit_counts(v, r->m, &record_process_sampling, counts,
			    record_count_sampling(&p->gpu_sampling, counts),
			    (struct record_ledger_owner){r->owner, MODEL_NONE, "PC sampling"});
	for (uint32_t i = 0; i < p->gpu_sampling.n_yardsticks; i++)
		record_visit(v, r, &record_yardstick_kernel, &p->gpu_sampling.yardsticks[i], i);
}

static void visit_process(const struct record *r, struct record_visitor *v)
{
	const struct model_process *p = &r->m->processes[r->owner];
	struct words_count counts[RECORD_COUNTS_MOST];
	record_visit(v, r, &record_process, p, r->owner);
	if (p->is_live)
		record_visit(v, r, &record_live, p, 0);
	if (p->off_ns || p->n_stops)
		record_visit(v, r, &record_off, p, 0);
	visit_texts(r, v, &record_event, p->events, p->n_events);
	visit_texts(r, v, &record_note, p->notes, p->n_notes);
	record_put_ledger(v, r, &p->ledger);
	record_visit_counts(v, r->m, &record_process_counts, counts,
			    record_count_ledger(&p->ledger, counts),
			    (struct record_ledger_owner){r->owner, MODEL_NONE, NULL});
	visit_gpu(r, v);
	if (p->spawned_job)
		record_visit(v, r, &record_spawned, p, 0);
	if (p->quota > 0)
		record_visit(v, r, &record_quota, p, 0);
}

static bool visit_processes(const struct model *m, struct record_visitor *v)
{
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct record r = {.m = m, .whose = "process", .owner = i};
		visit_process(&r, v);
	}
	return true;
}

static const struct record_kind *const run_kinds[] = {
	&record_run, &record_title, &record_extent, &record_filter, &record_closes,
	&record_gpu_closes, &record_part_note, &record_run_counts, &record_unmeasured};
const struct record_part record_part_run = {KINDS(run_kinds), visit_run};
static const struct record_kind *const process_kinds[] = {
	&record_process, &record_live, &record_off, &record_spawned, &record_quota, &record_event,
	&record_note, &record_process_counts, &record_backend, &record_backend_counts,
	&record_process_sampling, &record_yardstick_kernel};
const struct record_part record_part_processes = {KINDS(process_kinds), visit_processes};
