/* SPDX-License-Identifier: BSD-3-Clause */
/* The row of energy in the table of topics. It needs time lines. Tests: as gpu_energy.h. */
#include "hpcprof-lite/attribute/gpu/energy/gpu_energy.h"
#include "hpcprof-lite/attribute/sum/sum.h"

/* The state is a sum_extras by profile: the energy of operations. */
static bool add_energy(sum_extras *to, const struct gpu_energy_share *e, uint32_t metric,
		       uint64_t sum)
{
	struct sum_extra *x = sum ? vec_push(to) : NULL;
	if (x)
		*x = (struct sum_extra){e->profile, e->context, metric, e->n, sum};
	return x || !sum;
}

static bool keep_energy(struct model *m, const struct gpu_energy *energy, sum_extras *to)
{
	uint32_t metric_of[GPU_ENERGY_METRICS];
	struct model_meter *meters = m->private_->meters;
	bool ok = gpu_energy_add_metrics(m, energy, metric_of);
	for (uint32_t i = 0; i < m->n_meters; i++)
		meters[i].sum = energy->sums[i];
	for (size_t i = 0; ok && i < energy->shares.n; i++) {
		const struct gpu_energy_share *e = &energy->shares.at[i];
		ok = add_energy(to, e, metric_of[GPU_ENERGY_OPERATIONS], e->uj) &&
		     add_energy(to, e, metric_of[GPU_ENERGY_SHARED], e->shared_uj) &&
		     add_energy(to, e, metric_of[GPU_ENERGY_TIME], e->read_ns);
	}
	return ok;
}

static bool find_energy(void *state, struct topic_run *r)
{
	struct gpu_energy energy;
	bool ok = gpu_energy_find(r->m, 0, UINT64_MAX, &energy);
	ok = topic_share_occurs(r, ok, energy.occurs, GPU_ENERGY_METRICS) &&
	     keep_energy(r->m, &energy, state);
	gpu_energy_free(&energy);
	return ok;
}

static const struct sum_extra *values(const void *state, const struct topic_thread *t, size_t *n)
{
	return sum_extras_of(state, t->profile, n);
}

static void close_energy(void *state)
{
	sum_extras *energies = state;
	vec_free(energies);
}

const struct topic_ops topic_gpu_energy = {.state_bytes = sizeof(sum_extras),
					   .steps = {[TOPIC_ATTRIBUTE] = find_energy},
					   .values = values,
					   .close = close_energy};
