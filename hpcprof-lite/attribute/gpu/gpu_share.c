/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_share.h. Test: tests/unit/prof_parts/test_parts_gpu.c. */
#include "hpcprof-lite/attribute/gpu/gpu_share.h"

#include "hpcprof-lite/attribute/gpu/gpu_ledger.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

static bool agree(struct comm *c, bool ok)
{
	return comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
}

/* ---- modules ---- */

bool gpu_share_needed(const struct gpu_part *g, bool ok, bool *needed, size_t n)
{
	struct comm *c = g->job->comm;
	uint64_t *sums = ok ? calloc(n + 1, sizeof *sums) : NULL;
	for (size_t i = 0; sums && i < n; i++)
		sums[i] = needed[i];
	ok = agree(c, sums);
	if (ok)
		comm_add(c, sums, n);
	for (size_t i = 0; ok && i < n; i++)
		needed[i] = sums[i] != 0;
	free(sums);
	return ok;
}

/* ---- time lines ---- */

/* A lane of a time line; the first lanes of a line come first. */
struct shared_lane {
	uint32_t file, queue;
	uint64_t n; /* operations in the lane */
	uint64_t busy_ns, first_ns, last_ns; /* of the whole line */
};

struct shared_lanes {
	VEC(struct shared_lane) list;
};

static bool list_lanes(const struct gpu_part *g, struct shared_lanes *to)
{
	for (uint32_t i = 0; i < g->job->files.n; i++) {
		const struct gpu_join *j = &g->files[i].join;
		for (size_t k = 0; load_is_own(g->job, i) && k < j->lines.n; k++) {
			const struct gpu_line *l = &j->lines.at[k];
			for (uint32_t lane = 0; lane < l->n_lanes; lane++) {
				struct shared_lane *new = vec_push(&to->list);
				if (!new)
					return false;
				*new = (struct shared_lane){.file = i,
							    .queue = l->queue,
							    .n = l->lane_n[lane],
							    .busy_ns = l->busy_ns,
							    .first_ns = l->first_ns,
							    .last_ns = l->last_ns};
			}
		}
	}
	return true;
}

/* Adds a line whose items are in another part. */
static bool take_line(struct gpu_part *g, const struct shared_lane *lanes, uint32_t n)
{
	struct gpu_line *line = vec_push(&g->files[lanes->file].join.lines);
	if (!line)
		return false;
	*line = (struct gpu_line){.queue = lanes->queue,
				  .lane_n = malloc(n * sizeof *line->lane_n),
				  .n_lanes = n,
				  .busy_ns = lanes->busy_ns,
				  .first_ns = lanes->first_ns,
				  .last_ns = lanes->last_ns};
	for (uint32_t i = 0; line->lane_n && i < n; i++)
		line->lane_n[i] = lanes[i].n;
	return line->lane_n;
}

static bool take_lanes(struct gpu_part *g, const struct shared_lane *all, uint64_t n)
{
	bool ok = true;
	uint32_t n_lanes;
	for (uint64_t i = 0; ok && i < n; i += n_lanes) {
		for (n_lanes = 1; i + n_lanes < n && all[i + n_lanes].file == all[i].file &&
				  all[i + n_lanes].queue == all[i].queue;)
			n_lanes++;
		ok = load_is_found(g->job, all[i].file) || take_line(g, &all[i], n_lanes);
	}
	return ok;
}

/* Ends a step. */
static bool share_lanes(struct gpu_part *g, bool ok)
{
	struct comm *c = g->job->comm;
	struct shared_lanes own = {0};
	ok = ok && list_lanes(g, &own);
	uint64_t *first = ok ? calloc((size_t)c->n_parts + 1, sizeof *first) : NULL;
	struct shared_lane *all = comm_join(c, own.list.at, own.list.n, sizeof *all, first);
	ok = all && take_lanes(g, all, first[c->n_parts]);
	vec_free(&own.list);
	free(first);
	free(all);
	return ok;
}

/* ---- files and metrics ---- */

/*
 * Shares the last moment and the damage of each file. Some damage is found only when records are
 * joined.
 */
static bool share_files(struct gpu_part *g, bool ok)
{
	const size_t n = g->job->files.n;
	int64_t *most = calloc(2 * n + 1, sizeof *most);
	for (size_t i = 0; most && i < n; i++) {
		most[2 * i] = (int64_t)g->files[i].join.last_ns;
		most[2 * i + 1] = (int64_t)g->job->files.at[i].bytes_damaged;
	}
	ok = agree(g->job->comm, ok && most);
	if (ok)
		comm_most(g->job->comm, most, 2 * n);
	for (size_t i = 0; ok && i < n; i++) {
		g->files[i].join.last_ns = (uint64_t)most[2 * i];
		g->job->files.at[i].bytes_damaged = (uint64_t)most[2 * i + 1];
	}
	free(most);
	return ok;
}

/* Shares the sums of metrics, which show whether a metric occurs. */
static bool share_sums(struct gpu_part *g, bool ok)
{
	struct gpu_metrics *m = &g->metrics;
	const size_t n = m->n_samples.n, bytes = n * sizeof(uint64_t);
	uint64_t *sums = calloc(2 * n + 2, sizeof *sums);
	if (sums) {
		memcpy(sums, m->n_samples.at, bytes);
		memcpy(sums + n, m->sums.at, bytes);
		sums[2 * n] = m->n_exact;
		sums[2 * n + 1] = m->n_apportioned;
	}
	ok = agree(g->job->comm, ok && sums);
	if (ok) {
		comm_add(g->job->comm, sums, 2 * n + 2);
		memcpy(m->n_samples.at, sums, bytes);
		memcpy(m->sums.at, sums + n, bytes);
		m->n_exact = sums[2 * n];
		m->n_apportioned = sums[2 * n + 1];
	}
	free(sums);
	return ok;
}

/* ---- ledgers: the first part reports on all operations ---- */

struct shared_ledger {
	struct model_gpu_ledger ledger; /* sum over back ends */
	struct model_gpu_sampling sampling;
};

static void put_ledger(const struct gpu_file *f, struct shared_ledger *to)
{
	to->ledger = (struct model_gpu_ledger){.backend = "", .entrance = "", .closes = true};
	for (uint32_t i = 0; i < f->join.n_ledgers; i++)
		gpu_ledger_add(&to->ledger, &f->join.ledgers[i]);
	to->sampling = f->sampling;
}

static void take_ledger(struct gpu_file *f, const struct shared_ledger *from)
{
	f->join.ledgers[0] = from->ledger;
	f->join.ledgers[0].backend = f->join.ledgers[0].entrance = "";
	f->join.n_ledgers = 1;
	f->sampling = from->sampling;
	f->sampling.yardsticks = NULL;
	f->sampling.n_yardsticks = 0;
}

static void send_ledgers(struct gpu_part *g, int part, struct shared_ledger *some)
{
	const struct comm *c = g->job->comm;
	const uint64_t first = g->job->first_file[part], end = g->job->first_file[part + 1];
	for (uint64_t i = first; i < end && c->part == part; i++)
		put_ledger(&g->files[i], &some[i - first]);
	comm_pass(c, part, 0, some, some, (end - first) * sizeof *some);
	for (uint64_t i = first; i < end && c->part == 0; i++)
		take_ledger(&g->files[i], &some[i - first]);
}

static bool gather_ledgers(struct gpu_part *g, bool ok)
{
	struct comm *c = g->job->comm;
	const uint64_t *first = g->job->first_file;
	uint64_t most = 0;
	for (int i = 1; i < c->n_parts; i++)
		most = first[i + 1] - first[i] > most ? first[i + 1] - first[i] : most;
	struct shared_ledger *some = calloc(most + 1, sizeof *some);
	ok = agree(c, ok && some);
	for (int i = 1; ok && i < c->n_parts; i++)
		send_ledgers(g, i, some);
	free(some);
	return ok;
}

static bool share_memory(struct gpu_part *g, bool ok)
{
	struct comm *c = g->job->comm;
	uint64_t *first = ok ? calloc((size_t)c->n_parts + 1, sizeof *first) : NULL;
	struct gpu_memory_row *all = comm_join(c, g->memory.at, g->memory.n, sizeof *all, first);
	vec_free(&g->memory);
	for (uint64_t i = 0; all && i < first[c->n_parts]; i++) {
		struct gpu_memory_row *to = vec_push(&g->memory);
		ok = ok && to;
		if (to)
			*to = all[i];
	}
	ok = ok && all;
	free(first);
	free(all);
	return ok;
}

bool gpu_share_joins(struct gpu_part *g, bool ok)
{
	ok = share_lanes(g, ok);
	ok = share_memory(g, ok);
	ok = share_files(g, ok);
	ok = share_sums(g, ok);
	return gather_ledgers(g, ok);
}
