/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges and marks of NVTX, if there are any. Test: tests/cli/nvtx/nvtx_lines.sh. */
#include "hpcprof-lite/sink/json/json.h"

static void put_sums(struct json *j, const struct model_nvtx *x, const struct model_nvtx_range *r)
{
	json_u64(j, "n", r->n);
	json_u64(j, "not_ended", r->n_open);
	json_u64(j, "ns", r->ns);
	json_u64(j, "least_ns", r->least_ns);
	json_u64(j, "most_ns", r->most_ns);
	if (model_nvtx_is_pushed(r) && x->has_cpu)
		json_u64(j, "cpu_ns", r->cpu_ns);
	if (model_nvtx_is_pushed(r) && x->has_gpu)
		json_u64(j, "gpu_ns", r->gpu_ns);
	if (r->has_gpu_others)
		json_u64(j, "gpu_others_ns", r->gpu_others_ns);
	json_u64(j, "values", r->n_values);
	if (!r->n_values)
		return;
	json_real(j, "value_sum", r->value_sum);
	json_real(j, "value_least", r->value_least);
	json_real(j, "value_most", r->value_most);
}

static void put_ranges(struct json *j, const struct model_nvtx *x)
{
	json_begin(j, "ranges", '[');
	for (uint32_t i = 0; i < x->n_ranges; i++) {
		const struct model_nvtx_range *r = &x->ranges[i];
		json_begin(j, NULL, '{');
		json_text(j, "name", r->name);
		json_text(j, "domain", r->domain);
		json_text(j, "category", r->category);
		json_text(j, "source", r->source);
		json_text(j, "kind", words_nvtx(r));
		if (x->has_sums)
			put_sums(j, x, r);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_track(struct json *j, const struct model *m, const struct model_nvtx_track *t)
{
	json_begin(j, NULL, '{');
	json_u64(j, "profile", t->profile);
	json_u64(j, "lane", t->lane);
	json_begin(j, "events", '[');
	for (size_t i = 0; i < t->n; i++) {
		json_begin(j, NULL, '[');
		json_u64(j, NULL, t->events[i].range);
		json_time(j, NULL, m, t->events[i].enter_ns);
		json_time(j, NULL, m, t->events[i].leave_ns);
		json_end(j, ']');
	}
	json_end(j, ']');
	json_end(j, '}');
}

void json_put_nvtx(struct json *j, const struct model *m)
{
	const struct model_nvtx *x = m->nvtx;
	if (!x)
		return;
	json_begin(j, "nvtx", '{');
	json_u64(j, "lost", x->n_lost);
	put_ranges(j, x);
	json_begin(j, "tracks", '[');
	for (uint32_t i = 0; i < x->n_tracks; i++)
		put_track(j, m, &x->tracks[i]);
	json_end(j, ']');
	json_end(j, '}');
}
