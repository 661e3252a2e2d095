/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_devices.h. Test: tests/unit/prof_parts/test_parts_gpu.c. */
#include "hpcprof-lite/load/job/load_devices.h"

#include "common/base/map.h"
#include "hpcprof-lite/load/job/load_split.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

struct keeping {
	const struct load_job *job;
	struct map devices;   /* by host and identity: number */
	VEC(uint64_t) last;   /* by number: the last file so far that has it */
	uint64_t *n_crossing; /* by file: number of GPUs that it shares with earlier files */
};

bool load_devices_any(const struct load_job *job)
{
	for (size_t i = 0; i < job->files.n; i++)
		if (job->files.at[i].gpu.devices.n)
			return true;
	return false;
}

/*
 * Marks the files after the last one with this GPU, up to this one. n_crossing holds differences,
 * which are summed later.
 */
static bool add_device(struct keeping *k, uint64_t file, const struct msr_gpu_def_device *d)
{
	uint64_t id[2];
	memcpy(id, d->uuid, sizeof id);
	if (!id[0] && !id[1])
		return true; /* an unknown GPU counts as the process's own */
	const uint64_t host = hash_u64(k->job->files.at[file].header.host_id),
		       number = map_put(&k->devices, id[0] ^ host, id[1], k->last.n);
	if (number == MAP_NONE)
		return false;
	if (number == k->last.n) {
		uint64_t *new = vec_push(&k->last);
		if (new)
			*new = file;
		return new;
	}
	k->n_crossing[k->last.at[number] + 1]++;
	k->n_crossing[file + 1]--;
	k->last.at[number] = file;
	return true;
}

static bool find_crossings(struct keeping *k)
{
	const size_t n = k->job->files.n;
	for (size_t i = 0; i < n; i++) {
		const struct load_gpu *g = &k->job->files.at[i].gpu;
		for (size_t d = 0; d < g->devices.n; d++)
			if (g->devices.at[d].record &&
			    !add_device(k, i, g->devices.at[d].record))
				return false;
	}
	for (size_t i = 0; i < n; i++)
		k->n_crossing[i + 1] += k->n_crossing[i];
	return true;
}

/* The nearest possible first file of a row. No GPU crosses the first file of all, or the end. */
static uint64_t nearest(const struct keeping *k, uint64_t at)
{
	for (uint64_t d = 0;; d++) {
		if (d <= at && !k->n_crossing[at - d])
			return at - d;
		if (at + d <= k->job->files.n && !k->n_crossing[at + d])
			return at + d;
	}
}

bool load_devices_keep(const struct load_job *job, uint64_t *first, bool *fits)
{
	const size_t n = job->files.n;
	struct keeping k = {.job = job, .n_crossing = calloc(n + 2, sizeof *k.n_crossing)};
	uint64_t *weights = calloc(n + 1, sizeof *weights);
	const bool ok = k.n_crossing && weights && find_crossings(&k);
	bool moves = false;
	for (int i = 1; ok && i < job->comm->n_parts; i++) {
		const uint64_t at = nearest(&k, first[i]);
		moves |= at != first[i];
		first[i] = at;
	}
	for (size_t i = 0; ok && i < n; i++)
		weights[i] = job->files.at[i].map.n_bytes + 1;
	*fits = ok && (!moves || load_split_is_even(job->comm, weights, first));
	map_free(&k.devices);
	vec_free(&k.last);
	free(k.n_crossing);
	free(weights);
	return ok;
}
