/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_energy.h. Test: tests/unit/prof_gpu/test_gpu_energy.c. */
#include "hpcprof-lite/attribute/gpu/energy/gpu_energy.h"

#include <stdlib.h>
#include <string.h>

typedef struct gpu_energy_reading reading;

static uint64_t host_of(const struct model *m, const reading *r)
{
	return m->processes[r->process].host_id;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/*
 * Compares by meter, those of devices first. Readings of a host's meter are also sorted by process.
 */
static int compare_meters(const struct model *m, const reading *a, const reading *b)
{
	if (a->device != b->device)
		return compare_u64(a->device, b->device);
	int by_name = strcmp(a->meter, b->meter);
	if (by_name || a->device != MODEL_NONE)
		return by_name;
	int by_host = compare_u64(host_of(m, a), host_of(m, b));
	return by_host ? by_host : compare_u64(a->process, b->process);
}

static int compare_readings(const void *pa, const void *pb, void *m)
{
	const reading *a = pa, *b = pb;
	int by_meter = compare_meters(m, a, b);
	if (by_meter)
		return by_meter;
	int by_time = compare_u64(a->change.time_ns, b->change.time_ns);
	return by_time ? by_time : compare_u64(a->process, b->process);
}

/*
 * Finds where the series of each reading ends: at the last reading of its process before the next
 * reading that begins a series.
 */
static bool find_ends(const reading *r, size_t n, uint32_t n_processes, uint64_t *end_ns)
{
	uint64_t *end_of = calloc((size_t)n_processes + 1, sizeof *end_of); /* 0: none */
	if (!end_of)
		return false;
	for (size_t i = n; i-- > 0;) {
		uint64_t *end = &end_of[r[i].process];
		if (!*end)
			*end = r[i].change.time_ns;
		end_ns[i] = *end;
		if (r[i].change.begins)
			*end = 0;
	}
	free(end_of);
	return true;
}

/*
 * Joins the changes of one meter from the readings of all processes. Returns their number. A meter
 * may restart while nobody reads it.
 */
static size_t join(const reading *r, size_t n, const uint64_t *end_ns,
		   struct model_energy_change *to)
{
	size_t n_to = 0;
	uint64_t known_until_ns = 0;
	for (size_t i = 0; i < n; i++) {
		struct model_energy_change c = r[i].change;
		struct model_energy_change *last = n_to ? &to[n_to - 1] : NULL;
		bool is_again = last && c.begins && c.energy_uj < last->energy_uj &&
				known_until_ns < c.time_ns,
		     is_new = !last || (c.time_ns > last->time_ns &&
					(c.energy_uj > last->energy_uj || is_again));
		if (is_new) {
			c.begins = !last || known_until_ns < c.time_ns;
			if (last && c.unchanged_ns < last->time_ns)
				c.unchanged_ns = last->time_ns;
			to[n_to++] = c;
		}
		known_until_ns = end_ns[i] > known_until_ns ? end_ns[i] : known_until_ns;
	}
	return n_to;
}

/*
 * True if `a` was read for longer. Of the meters of one host, only the one that was read longest is
 * kept.
 */
static bool is_longer(const struct model_meter *a, const struct model_meter *b)
{
	return a->changes[a->n_changes - 1].time_ns - a->changes[0].time_ns >
	       b->changes[b->n_changes - 1].time_ns - b->changes[0].time_ns;
}

static bool is_same_host(const struct model *m, const struct model_meter *a,
			 const struct model_meter *b)
{
	return a->device == MODEL_NONE && b->device == MODEL_NONE && !strcmp(a->name, b->name) &&
	       m->processes[a->process].host_id == m->processes[b->process].host_id;
}

static uint32_t first_process(const reading *r, size_t n)
{
	uint32_t first = r[0].process;
	for (size_t i = 1; i < n; i++)
		first = r[i].process < first ? r[i].process : first;
	return first;
}

bool gpu_energy_make_meters(struct model *m, gpu_energy_readings *r)
{
	struct model_meter *meters = calloc(r->n + 1, sizeof *meters);
	struct model_energy_change *changes = calloc(r->n + 1, sizeof *changes);
	uint64_t *end_ns = calloc(r->n + 1, sizeof *end_ns);
	bool ok = end_ns != NULL;
	ok = model_own(m, meters) && ok;
	ok = model_own(m, changes) && ok;
	m->meters = m->private_->meters = ok ? meters : NULL;
	if (ok && r->n)
		qsort_r(r->at, r->n, sizeof *r->at, compare_readings, m);
	for (size_t i = 0, n; ok && i < r->n; i += n) {
		for (n = 1; i + n < r->n && !compare_meters(m, &r->at[i], &r->at[i + n]);)
			n++;
		ok = find_ends(&r->at[i], n, m->n_processes, end_ns);
		struct model_meter new = {.name = r->at[i].meter,
					  .device = r->at[i].device,
					  .process = first_process(&r->at[i], n),
					  .changes = changes};
		new.n_changes = ok ? join(&r->at[i], n, end_ns, changes) : 0;
		changes += new.n_changes;
		struct model_meter *last = m->n_meters ? &meters[m->n_meters - 1] : NULL;
		if (!ok || !new.n_changes)
			continue;
		if (!last || !is_same_host(m, last, &new))
			meters[m->n_meters++] = new;
		else if (is_longer(&new, last))
			*last = new;
	}
	free(end_ns);
	return ok;
}
