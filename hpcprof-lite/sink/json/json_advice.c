/* SPDX-License-Identifier: BSD-3-Clause */
/* What would make GPU work faster; see json.h. Test: tests/cli/gpu/advice_golden.sh. */
#include "hpcprof-lite/sink/json/json.h"
#include "hpcprof-lite/view/advice/view_advice.h"

static void put_id(struct json *j, const char *key, uint32_t id)
{
	if (id == MODEL_NONE)
		json_null(j, key);
	else
		json_u64(j, key, id);
}

static void put_facts(struct json *j, const struct view_advice *a)
{
	json_begin(j, "evidence", '[');
	for (unsigned i = 0; i < a->n_facts; i++) {
		json_begin(j, NULL, '{');
		json_text(j, "what", a->facts[i].what);
		json_text(j, "unit", model_unit_name(a->facts[i].unit));
		json_real(j, "value", a->facts[i].value);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_places(struct json *j, const struct view_advice *a)
{
	json_begin(j, "places", '[');
	for (unsigned i = 0; i < a->n_places; i++) {
		json_begin(j, NULL, '{');
		json_u64(j, "context", a->places[i].context);
		json_real(j, "share", a->places[i].share);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_row(struct json *j, const struct view_advice *a)
{
	json_begin(j, NULL, '{');
	json_text(j, "kind", view_advice_key(a->kind));
	json_text(j, "title", view_advice_title(a->kind));
	json_text(j, "cure", view_advice_cure(a->kind));
	json_text(j, "assumption", view_advice_assumption(a->kind));
	put_id(j, "function", a->function);
	put_id(j, "device", a->device);
	json_real(j, "seconds", a->seconds);
	json_real(j, "saved_seconds", view_advice_saved(a));
	json_real(j, "factor_low", a->factor.low);
	json_real(j, "factor", a->factor.likely);
	json_real(j, "factor_high", a->factor.high);
	put_facts(j, a);
	put_places(j, a);
	json_end(j, '}');
}

bool json_put_advice(struct json *j, const struct model *m)
{
	struct view_gpu g;
	struct view_advices a;
	if (!m->has_gpu)
		return true;
	if (!view_gpu_open(m, &g))
		return false;
	bool ok = view_advice_make(m, &g, &a);
	view_gpu_close(&g);
	if (!ok)
		return false;
	if (a.rows.n) {
		json_begin(j, "advice", '{');
		json_real(j, "whole_seconds", a.whole);
		json_begin(j, "rows", '[');
		for (size_t i = 0; i < a.rows.n; i++)
			put_row(j, &a.rows.at[i]);
		json_end(j, ']');
		json_end(j, '}');
	}
	view_advice_free(&a);
	return true;
}
