/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_energy.h. Test: tests/unit/prof_gpu/test_gpu_energy.c. */
#include "hpcprof-lite/attribute/gpu/energy/gpu_energy.h"

#include <stdlib.h>

static int compare_u64s(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
	return (a > b) - (a < b);
}

static uint64_t median(uint64_t *all, size_t n)
{
	if (n)
		qsort(all, n, sizeof *all, compare_u64s);
	return n ? all[n / 2] : 0;
}

/* Finds how often the meter changes and how late changes are seen. Both limit the accuracy. */
static bool find_accuracy(const struct model_meter *meter, struct model_energy *sum)
{
	size_t n = 0;
	uint64_t covered_ns = 0, *late_ns = calloc(meter->n_changes + 1, sizeof *late_ns);
	for (size_t i = 1; late_ns && i < meter->n_changes; i++) {
		const struct model_energy_change *c = &meter->changes[i];
		if (c->begins)
			continue;
		covered_ns += c->time_ns - c[-1].time_ns;
		late_ns[n++] = c->time_ns > c->unchanged_ns ? c->time_ns - c->unchanged_ns : 0;
	}
	sum->n_changes = meter->n_changes;
	sum->step_ns = n ? covered_ns / n : 0;
	bool ok = late_ns != NULL;
	sum->late_ns = ok ? median(late_ns, n) : 0;
	free(late_ns);
	return ok;
}

/* The error: in each series, the energy of the step at each end may belong to the time outside. */
static uint64_t error_of(const struct model_meter *meter, const struct model_energy *sum)
{
	size_t n_series = 1;
	for (size_t i = 1; i < meter->n_changes; i++)
		n_series += meter->changes[i].begins;
	double error = sum->covered_ns ? 2 * (double)n_series * (double)sum->total_uj *
						 (double)sum->step_ns / (double)sum->covered_ns
				       : 0;
	return gpu_energy_round(error < (double)sum->total_uj ? error : (double)sum->total_uj);
}

/* Sums a host's meter. We do not know which operations used its energy. */
static void sum_host(const struct model_meter *meter, uint64_t from_ns, uint64_t until_ns,
		     struct model_energy *sum)
{
	double total = 0;
	for (size_t i = 1; i < meter->n_changes; i++) {
		const struct model_energy_change *b = &meter->changes[i], *a = b - 1;
		uint64_t start = a->time_ns > from_ns ? a->time_ns : from_ns,
			 end = b->time_ns < until_ns ? b->time_ns : until_ns;
		if (b->begins || end <= start)
			continue;
		total += (double)(b->energy_uj - a->energy_uj) * (double)(end - start) /
			 (double)(b->time_ns - a->time_ns);
		sum->covered_ns += end - start;
	}
	sum->total_uj = sum->unknown_uj = gpu_energy_round(total);
}

static int compare_cells(const void *pa, const void *pb)
{
	const struct gpu_energy_cell *a = pa, *b = pb;
	if (a->profile != b->profile)
		return a->profile < b->profile ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

/* Rounds the running sums, so that rounding errors do not add up. */
static bool add_shares(struct gpu_energy_device *d, struct gpu_energy *out)
{
	double uj = 0, shared_uj = 0;
	uint64_t before = 0, shared_before = 0;
	if (d->cells.n)
		qsort(d->cells.at, d->cells.n, sizeof *d->cells.at, compare_cells);
	for (size_t i = 0; i < d->cells.n; i++) {
		const struct gpu_energy_cell *c = &d->cells.at[i];
		struct gpu_energy_share *to = vec_push(&out->shares);
		if (!to)
			return false;
		uj += c->uj;
		shared_uj += c->shared_uj;
		uint64_t up_to = gpu_energy_round(uj), shared_up_to = gpu_energy_round(shared_uj);
		*to = (struct gpu_energy_share){.profile = c->profile,
						.context = c->context,
						.n = c->n,
						.uj = up_to - before,
						.shared_uj = shared_up_to - shared_before,
						.read_ns = c->read_ns};
		before = up_to;
		shared_before = shared_up_to;
	}
	d->sum->operations_uj = before;
	d->sum->shared_uj = shared_before;
	d->sum->total_uj = before + d->sum->idle_uj + d->sum->unknown_uj;
	return true;
}

static bool find_of(const struct model *m, uint32_t i, uint64_t from_ns, uint64_t until_ns,
		    struct gpu_energy *out)
{
	const struct model_meter *meter = &m->meters[i];
	struct model_energy *sum = &out->sums[i];
	struct gpu_energy_device d = {.m = m,
				      .device = meter->device,
				      .meter = meter,
				      .from_ns = from_ns,
				      .until_ns = until_ns,
				      .sum = sum};
	bool ok = find_accuracy(meter, sum);
	if (meter->device == MODEL_NONE || !m->private_->gpu_times)
		sum_host(meter, from_ns, until_ns, sum);
	else
		ok = ok && gpu_energy_share(&d) && add_shares(&d, out);
	sum->error_uj = error_of(meter, sum);
	vec_free(&d.cells);
	return ok;
}

static int compare_shares(const void *pa, const void *pb)
{
	const struct gpu_energy_share *a = pa, *b = pb;
	if (a->profile != b->profile)
		return a->profile < b->profile ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

bool gpu_energy_find(const struct model *m, uint64_t from_ns, uint64_t until_ns,
		     struct gpu_energy *out)
{
	*out = (struct gpu_energy){.sums = calloc((size_t)m->n_meters + 1, sizeof *out->sums)};
	bool ok = out->sums != NULL;
	for (uint32_t i = 0; ok && i < m->n_meters; i++)
		ok = find_of(m, i, from_ns, until_ns, out);
	if (ok && out->shares.n)
		qsort(out->shares.at, out->shares.n, sizeof *out->shares.at, compare_shares);
	for (size_t i = 0; i < out->shares.n; i++) {
		const struct gpu_energy_share *s = &out->shares.at[i];
		out->occurs[GPU_ENERGY_OPERATIONS] |= s->uj != 0;
		out->occurs[GPU_ENERGY_SHARED] |= s->shared_uj != 0;
		out->occurs[GPU_ENERGY_TIME] |= s->read_ns != 0;
	}
	return ok;
}

void gpu_energy_free(struct gpu_energy *e)
{
	vec_free(&e->shares);
	free(e->sums);
	*e = (struct gpu_energy){0};
}

/* ---- metrics ---- */

bool gpu_energy_add_metrics(struct model *m, const struct gpu_energy *e,
			    uint32_t index_of[GPU_ENERGY_METRICS])
{
	static const struct model_metric rows[GPU_ENERGY_METRICS] = {
		[GPU_ENERGY_OPERATIONS] = {.role = MODEL_ROLE_ENERGY,
					   .name = "GENERGY (J)",
					   .description = "energy of GPUs while operations ran, "
							  "shared by time (joules)"},
		[GPU_ENERGY_SHARED] = {.role = MODEL_ROLE_ENERGY_SHARED,
				       .name = "GENERGY:SHARED (J)",
				       .description = "the part of it from times in which other "
						      "operations ran, too (joules)"},
		[GPU_ENERGY_TIME] = {.role = MODEL_ROLE_ENERGY_TIME,
				     .name = "GENERGY:TIME (sec)",
				     .description = "time of operations in which their energy was "
						    "read (seconds)"}};
	struct model_metric *metrics = realloc(
		m->private_->metrics, (m->n_metrics + GPU_ENERGY_METRICS + 1) * sizeof *metrics);
	if (!metrics)
		return false;
	m->metrics = m->private_->metrics = metrics;
	for (unsigned k = 0; k < GPU_ENERGY_METRICS; k++) {
		index_of[k] = e->occurs[k] ? m->n_metrics : MODEL_NONE;
		if (!e->occurs[k])
			continue;
		struct model_metric *to = &metrics[m->n_metrics++];
		*to = rows[k];
		to->kind = MODEL_METRIC_GPU_ENERGY;
		to->parent =
			k == GPU_ENERGY_OPERATIONS ? MODEL_NONE : index_of[GPU_ENERGY_OPERATIONS];
		to->divisor = MODEL_NONE;
		to->unit = k == GPU_ENERGY_TIME ? MODEL_SECONDS : MODEL_JOULES;
		to->event = "gpu";
	}
	return true;
}
