/* SPDX-License-Identifier: BSD-3-Clause */
/* What hardware counters say about each kernel; see json.h. Test: tests/cli/gpu/counters.sh. */
#include "hpcprof-lite/sink/json/json.h"

#include "hpcprof-lite/view/counters/view_counters.h"

static void put_work(struct json *j, const char *key, const double work[VIEW_N_WORKS])
{
	json_begin(j, key, '{');
	for (unsigned w = 0; w < VIEW_N_WORKS; w++)
		if (work[w] > 0)
			json_real(j, view_work_name((enum view_work)w), work[w]);
	json_end(j, '}');
}

static void put_row(struct json *j, const struct view_counters *c,
		    const struct view_counters_row *r)
{
	struct view_bounds b = view_counters_bounds(c, r);
	json_begin(j, NULL, '{');
	json_u64(j, "function", r->function);
	json_real(j, "launches", r->launches);
	json_real(j, "counted", r->counted);
	json_real(j, "seconds", r->seconds);
	if (c->has_bytes) {
		json_real(j, "bytes_read", r->bytes_read);
		json_real(j, "bytes_written", r->bytes_written);
	}
	if (c->has_hits) {
		json_real(j, "l2_hits", r->hits);
		json_real(j, "l2_misses", r->misses);
	}
	if (c->has_work || c->has_tensor)
		put_work(j, "operations", r->work);
	if (b.seconds > 0) {
		json_real(j, "least_seconds", b.seconds);
		json_text(j, "bound_by",
			  b.by == VIEW_BOUND_MEMORY ? "memory" : view_work_name(b.work));
	}
	json_end(j, '}');
}

bool json_put_counters(struct json *j, const struct model *m)
{
	struct view_counters c;
	if (!view_counters_make(m, &c))
		return false;
	if (c.n) {
		json_begin(j, "counters", '{');
		json_real(j, "roof_bytes_per_second", c.roofs.bytes);
		put_work(j, "roof_operations_per_second", c.roofs.operations);
		json_begin(j, "kernels", '[');
		for (size_t i = 0; i < c.n; i++)
			put_row(j, &c, &c.at[i]);
		json_end(j, ']');
		json_end(j, '}');
	}
	view_counters_free(&c);
	return true;
}
