/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_idle_sweep.h. Test: tests/unit/prof_gpu/test_gpu_idle.c. */
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.h"

#include <stdlib.h>

void idle_account_add(struct idle_account *a, enum gpu_idle_metric metric, uint32_t profile,
		      uint32_t context, idle_fixed amount)
{
	if (!amount)
		return;
	uint64_t id = map_put(&a->index, (uint64_t)metric << 32 | profile, context, a->entries.n);
	struct idle_entry *e = id == MAP_NONE       ? NULL
			       : id == a->entries.n ? vec_push(&a->entries)
						    : &a->entries.at[id];
	if (!e) {
		a->failed = true;
		return;
	}
	if (id + 1 == a->entries.n && !e->n)
		*e = (struct idle_entry){.profile = profile, .context = context, .metric = metric};
	e->n++;
	e->sum += amount;
}

static int compare_entries(const void *pa, const void *pb)
{
	const struct idle_entry *a = pa, *b = pb;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	if (a->profile != b->profile)
		return a->profile < b->profile ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

/*
 * Rounds the running sum, so that rounding errors do not add up. The last entry gets the remainder
 * of divisions.
 */
bool idle_account_close(struct idle_account *a, const uint64_t total_ns[GPU_IDLE_METRICS],
			struct gpu_idle *out)
{
	idle_fixed sum = 0;
	uint64_t before_ns = 0;
	if (a->entries.n)
		qsort(a->entries.at, a->entries.n, sizeof *a->entries.at, compare_entries);
	for (size_t i = 0; i < a->entries.n; i++) {
		const struct idle_entry *e = &a->entries.at[i];
		bool is_last = i + 1 == a->entries.n || e[1].metric != e->metric;
		sum += e->sum;
		uint64_t up_to_ns =
			is_last ? total_ns[e->metric] : (uint64_t)(sum >> IDLE_FRACTION);
		if (up_to_ns > before_ns) {
			struct gpu_blame *b = vec_push(&out->blames);
			if (!b)
				return false;
			*b = (struct gpu_blame){.profile = e->profile,
						.context = e->context,
						.metric = e->metric,
						.n = e->n,
						.ns = up_to_ns - before_ns};
		}
		before_ns = is_last ? 0 : up_to_ns;
		sum = is_last ? 0 : sum;
	}
	return !a->failed;
}
