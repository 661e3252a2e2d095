/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges and marks of NVTX. Test: tests/cli/nvtx/nvtx_lines.sh. */
#include "hpcprof-lite/sink/sqlite/sqlite_write.h"
#include "hpcprof-lite/sink/words.h"

/* NULL: not known. */
static void put(struct sqlite_writer *w, uint64_t n, bool is_known)
{
	if (is_known)
		sqlite_int(w, n);
	else
		sqlite_id(w, MODEL_NONE);
}

static void put_value(struct sqlite_writer *w, double value, bool is_known)
{
	if (is_known)
		sqlite_real(w, value);
	else
		sqlite_id(w, MODEL_NONE);
}

static void put_range(struct sqlite_writer *w, uint32_t i)
{
	const struct model_nvtx *x = w->m->nvtx;
	const struct model_nvtx_range *r = &x->ranges[i];
	const bool is_pushed = x->has_sums && model_nvtx_is_pushed(r),
		   has_values = x->has_sums && r->n_values;
	sqlite_int(w, i);
	sqlite_text(w, r->name);
	sqlite_text(w, r->domain);
	sqlite_text(w, r->category);
	sqlite_text(w, r->source);
	sqlite_word(w, words_nvtx(r));
	put(w, r->n, x->has_sums);
	put(w, r->n_open, x->has_sums);
	put(w, r->ns, x->has_sums);
	put(w, r->least_ns, x->has_sums);
	put(w, r->most_ns, x->has_sums);
	put(w, r->cpu_ns, is_pushed && x->has_cpu);
	put(w, r->gpu_ns, is_pushed && x->has_gpu);
	put(w, r->gpu_others_ns, x->has_sums && r->has_gpu_others);
	put(w, r->n_values, x->has_sums);
	put_value(w, r->value_sum, has_values);
	put_value(w, r->value_least, has_values);
	put_value(w, r->value_most, has_values);
	sqlite_row(w);
}

static void put_track(struct sqlite_writer *w, const struct model_nvtx_track *t)
{
	for (size_t i = 0; i < t->n && w->status == STATUS_OK; i++) {
		sqlite_id(w, t->profile);
		sqlite_int(w, t->lane);
		sqlite_id(w, t->events[i].range);
		sqlite_int(w, t->events[i].enter_ns);
		sqlite_int(w, t->events[i].leave_ns);
		sqlite_row(w);
	}
}

void sqlite_put_nvtx(struct sqlite_writer *w)
{
	const struct model_nvtx *x = w->m->nvtx;
	if (!x)
		return;
	sqlite_begin(w, "nvtx_range", 18);
	for (uint32_t i = 0; i < x->n_ranges && w->status == STATUS_OK; i++)
		put_range(w, i);
	sqlite_end(w);
	sqlite_begin(w, "nvtx_event", 5);
	for (uint32_t i = 0; i < x->n_tracks; i++)
		put_track(w, &x->tracks[i]);
	sqlite_end(w);
}
