/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges and marks of NVTX; see record.h. Test: tests/cli/nvtx/nvtx_lines.sh. */
#include "hpcprof-lite/record/record_build.h"
#include "hpcprof-lite/record/words.h"

static const struct model_nvtx_range *range_of(const struct record *r)
{
	return r->at;
}

static bool has_sums(const struct record *r)
{
	return r->m->nvtx->has_sums;
}

static bool has_cpu(const struct record *r)
{
	return has_sums(r) && model_nvtx_is_pushed(range_of(r)) && r->m->nvtx->has_cpu;
}

static bool has_gpu(const struct record *r)
{
	return has_sums(r) && model_nvtx_is_pushed(range_of(r)) && r->m->nvtx->has_gpu;
}

static bool has_gpu_others(const struct record *r)
{
	return has_sums(r) && range_of(r)->has_gpu_others;
}

static bool has_values(const struct record *r)
{
	return has_sums(r) && range_of(r)->n_values;
}

#define SUM(kind_, member, name_, is_known_, meaning_)                                             \
	{.name = (name_), .meaning = (meaning_), .kind = (kind_), .is_optional = true,             \
	 .is_known = (is_known_), FIELD_AT(model_nvtx_range, member)}
static const struct field range_fields[] = {
	KEY,
	TEXT(model_nvtx_range, name, "name", NULL),
	TEXT(model_nvtx_range, domain, "domain", NULL),
	TEXT(model_nvtx_range, category, "category", NULL),
	TEXT(model_nvtx_range, source, "source", "file:line that the program gave"),
	WORD(model_nvtx_range, kind, words_nvtx, "pushed, started, mark"),
	SUM(FIELD_COUNT, n, "n", has_sums, "Ranges that ended, or marks"),
	SUM(FIELD_COUNT, n_open, "not_ended", has_sums, NULL),
	SUM(FIELD_COUNT, ns, "ns", has_sums, NULL),
	SUM(FIELD_COUNT, least_ns, "least_ns", has_sums, NULL),
	SUM(FIELD_COUNT, most_ns, "most_ns", has_sums, NULL),
	SUM(FIELD_COUNT, cpu_ns, "cpu_ns", has_cpu, "Of samples of CPUTIME inside"),
	SUM(FIELD_COUNT, gpu_ns, "gpu_ns", has_gpu, "Of GPU work launched inside"),
	SUM(FIELD_COUNT, gpu_others_ns, "gpu_others_ns", has_gpu_others,
	    "Of GPU work that other threads, in no range, launched meanwhile"),
	{.name = "values", .meaning = "Those with a number as payload", .kind = FIELD_COUNT,
	 .is_optional = true, .is_known = has_sums, .sinks = RECORD_TEXT | RECORD_JSON,
	 FIELD_AT(model_nvtx_range, n_values)},
	{.name = "n_values", .meaning = "Those with a number as payload", .kind = FIELD_COUNT,
	 .is_known = has_sums, .sinks = RECORD_SQL, FIELD_AT(model_nvtx_range, n_values)},
	SUM(FIELD_REAL, value_sum, "value_sum", has_values, NULL),
	SUM(FIELD_REAL, value_least, "value_least", has_values, NULL),
	SUM(FIELD_REAL, value_most, "value_most", has_values, NULL),
};

static const struct field nvtx_fields[] = {
	COUNT(model_nvtx, n_lost, "lost", "Ranges and marks without a record"),
};
static const struct record_kind record_nvtx = {
	.name = "nvtx-ledger", .table = "nvtx_ledger", .json = "nvtx", .parent = &record_run,
	.meaning = "Ranges and marks of NVTX, if there are any", .form = RECORD_OBJECT,
	.sinks = RECORD_ALL, FIELDS(nvtx_fields)};
static const struct record_kind record_range = {
	.name = "nvtx-range", .table = "nvtx_range", .json = "ranges", .parent = &record_nvtx,
	.meaning = "Ranges or marks of one name, in all threads", .sinks = RECORD_ALL,
	FIELDS(range_fields), .is_wanted = record_always};

/* An event with its track. */
struct event_row {
	struct model_nvtx_event e;
	uint32_t profile, lane;
};
static const struct field track_fields[] = {
	ID(model_nvtx_track, profile, "profile", NULL),
	COUNT(model_nvtx_track, lane, "lane", "In a lane, ranges nest"),
};
static const struct record_kind record_track = {
	.name = "nvtx-track", .json = "tracks", .parent = &record_nvtx,
	.meaning = "Single ranges and marks of a thread", .sinks = RECORD_JSON,
	FIELDS(track_fields), .is_wanted = record_always};

static const struct field event_fields[] = {
	{.name = "profile", .kind = FIELD_ID, .of = "profile", .sinks = RECORD_TEXT | RECORD_SQL,
	 FIELD_AT(event_row, profile)},
	{.name = "lane", .meaning = "In a lane, ranges nest", .kind = FIELD_COUNT,
	 .sinks = RECORD_TEXT | RECORD_SQL, FIELD_AT(event_row, lane)},
	{.name = "range", .kind = FIELD_ID, .of = "nvtx_range", FIELD_AT(event_row, e.range)},
	MEMBER(FIELD_TIME, event_row, e.enter_ns, "enter_ns", NULL),
	MEMBER(FIELD_TIME, event_row, e.leave_ns, "leave_ns", "Marks leave when they enter"),
};
static const struct record_kind record_event = {
	.name = "nvtx-event", .table = "nvtx_event", .json = "events", .parent = &record_track,
	.meaning = "A range or mark, by profile, lane and time", .form = RECORD_TUPLES,
	.sinks = RECORD_ALL, FIELDS(event_fields), .is_wanted = record_always};

static bool visit_all(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	const struct model_nvtx *x = m->nvtx;
	if (!x)
		return true;
	record_visit(v, &r, &record_nvtx, x, 0);
	for (uint32_t i = 0; i < x->n_ranges; i++)
		record_visit(v, &r, &record_range, &x->ranges[i], i);
	for (uint32_t i = 0; i < x->n_tracks; i++) {
		const struct model_nvtx_track *t = &x->tracks[i];
		record_visit(v, &r, &record_track, t, i);
		for (size_t k = 0; k < t->n && !v->is_done; k++) {
			const struct event_row row = {t->events[k], t->profile, t->lane};
			record_visit(v, &r, &record_event, &row, 0);
		}
	}
	return true;
}

static const struct record_kind *const kinds[] = {
	&record_nvtx, &record_range, &record_track, &record_event};
const struct record_part record_part_nvtx = {KINDS(kinds), visit_all};
