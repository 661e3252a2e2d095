/* SPDX-License-Identifier: BSD-3-Clause */
/* What matters most, as the report shows it; see record.h. Test:
 * tests/cli/parallel/findings.sh. */
#include "hpcprof-lite/record/record_build.h"
#include "hpcprof-lite/view/findings/findings.h"

static struct value subject(const struct record *r)
{
	const char *text = ((const struct finding *)r->at)->subject;
	return value_text(*text ? text : NULL);
}

#define WORDS(member, meaning) TEXT(finding, member, #member, meaning)
#define SECONDS(member, name, meaning) REAL(finding, member, name, meaning)
static const struct field finding_fields[] = {
	KEY,
	WORDS(key, "One word for the cause: findings.md has them all"),
	WORDS(title, NULL),
	GET(FIELD_TEXT, "subject", subject, "Which region, rank, kernel or file"),
	SECONDS(cost, "cost_sec", "Elapsed time that it costs"),
	SECONDS(low, "low_sec", "Elapsed time that a cure could give back: at least"),
	SECONDS(likely, "likely_sec", "... likely; 0: it is about the measurement"),
	SECONDS(high, "high_sec", "... at most"),
	WORDS(cure, NULL),
	ID(finding, process, "process", "That it is about; none: several"),
	ID(finding, function, "function", NULL),
};

static struct value unit(const struct record *r)
{
	return value_text(model_unit_name(((const struct view_fact *)r->at)->unit));
}

static const struct field fact_fields[] = {
	OWNER("finding", "finding"),
	TEXT(view_fact, what, "what", NULL),
	GET(FIELD_TEXT, "unit", unit, NULL),
	REAL(view_fact, value, "value", NULL),
};
static const struct field place_fields[] = {
	OWNER("finding", "finding"),
	ID(view_place, context, "context", NULL),
	REAL(view_place, share, "share", "Of what the finding costs"),
};

static const struct record_kind record_finding = {
	.name = "finding", .table = "finding", .json = "findings", .parent = &record_run,
	.meaning = "What matters most, the first one first", .sinks = RECORD_ALL,
	FIELDS(finding_fields)};
static const struct record_kind record_fact = {
	.name = "finding-fact", .table = "finding_fact", .json = "evidence",
	.parent = &record_finding, .meaning = "Evidence of a finding", .sinks = RECORD_ALL,
	FIELDS(fact_fields)};
static const struct record_kind record_place = {
	.name = "finding-place", .table = "finding_place", .json = "places",
	.parent = &record_finding, .meaning = "Where a finding is", .sinks = RECORD_ALL,
	FIELDS(place_fields)};

static bool visit_findings(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	struct findings f;
	if (!findings_make(m, &f))
		return false;
	for (uint32_t i = 0; i < f.list.n; i++) {
		const struct finding *x = &f.list.at[i];
		const struct record of = {.m = m, .owner = i};
		record_visit(v, &r, &record_finding, x, i);
		for (uint32_t k = 0; k < x->n_facts; k++)
			record_visit(v, &of, &record_fact, &x->facts[k], k);
		for (uint32_t k = 0; k < x->n_places; k++)
			record_visit(v, &of, &record_place, &x->places[k], k);
	}
	findings_free(&f);
	return true;
}

static const struct record_kind *const kinds[] = {&record_finding, &record_fact, &record_place};
const struct record_part record_part_findings = {KINDS(kinds), visit_findings};
