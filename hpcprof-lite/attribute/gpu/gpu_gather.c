/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each part found of the GPUs and PC samples in its files, for the outputs of the first part.
 * See gpu_share.h. Tests: tests/unit/prof_parts/test_parts_gpu.c, tests/cli/parts/parts_golden.sh.
 */
#include "hpcprof-lite/attribute/gpu/gpu_share.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

/* ---- PC samples ---- */

/* Of a file; its yardsticks and blames follow. */
struct found {
	struct model_gpu_sampling sampling;
	uint64_t n_blames;
};

struct packed {
	VEC(uint8_t) bytes;
};

static bool put(struct packed *to, const void *from, size_t n)
{
	uint8_t *at = n ? vec_extend(&to->bytes, n) : NULL;
	if (at)
		memcpy(at, from, n);
	return at || !n;
}

static bool pack(const struct gpu_part *g, struct packed *to)
{
	bool ok = true;
	for (size_t i = 0; ok && i < g->job->files.n; i++) {
		const struct gpu_file *f = &g->files[i];
		const struct found head = {f->sampling, f->blames.list.n};
		if (load_is_own(g->job, i))
			ok = put(to, &head, sizeof head) &&
			     put(to, f->yardsticks,
				 f->sampling.n_yardsticks * sizeof *f->yardsticks) &&
			     put(to, f->blames.list.at,
				 f->blames.list.n * sizeof *f->blames.list.at);
	}
	return ok;
}

static const uint8_t *get(const uint8_t *from, void *to, size_t n)
{
	if (n)
		memcpy(to, from, n);
	return from + n;
}

/* NULL: memory is short. */
static const uint8_t *take_file(struct gpu_file *f, const uint8_t *from)
{
	struct found head;
	from = get(from, &head, sizeof head);
	const size_t n_yardsticks = head.sampling.n_yardsticks;
	f->sampling = head.sampling;
	f->sampling.yardsticks = f->yardsticks =
		n_yardsticks ? malloc(n_yardsticks * sizeof *f->yardsticks) : NULL;
	if ((n_yardsticks && !f->yardsticks) ||
	    (head.n_blames && !vec_extend(&f->blames.list, head.n_blames)))
		return NULL;
	from = get(from, f->yardsticks, n_yardsticks * sizeof *f->yardsticks);
	return get(from, f->blames.list.at, head.n_blames * sizeof *f->blames.list.at);
}

static bool take_part(struct gpu_part *g, int part, const uint8_t *from)
{
	const uint64_t *first = g->job->first_file + part;
	for (uint64_t i = first[0]; from && i < first[1]; i++)
		from = take_file(&g->files[i], from);
	return from;
}

static bool agree(struct comm *c, bool ok)
{
	return comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
}

bool gpu_share_found(struct gpu_part *g, bool ok)
{
	struct comm *c = g->job->comm;
	struct packed own = {0};
	uint8_t *room = NULL;
	uint64_t most = 0, *sizes = calloc((size_t)c->n_parts, sizeof *sizes);
	ok = agree(c, ok && sizes && (c->part == 0 || pack(g, &own)));
	if (ok) {
		sizes[c->part] = own.bytes.n;
		comm_add(c, sizes, (size_t)c->n_parts);
		for (int i = 0; i < c->n_parts; i++)
			most = sizes[i] > most ? sizes[i] : most;
		room = c->part == 0 ? malloc(most + 1) : NULL;
		ok = agree(c, c->part != 0 || room);
	}
	bool taken = ok;
	for (int i = 1; ok && i < c->n_parts; i++) {
		comm_pass(c, i, 0, own.bytes.at, room, sizes[i]);
		taken = taken && (c->part != 0 || take_part(g, i, room));
	}
	vec_free(&own.bytes);
	free(room);
	free(sizes);
	return taken;
}

/* ---- idle time ---- */

/* Devices are in the order of the files, so each part has those of a row. */
static void share_devices(const struct gpu_part *g, const struct model *m, uint64_t *first,
			   struct gpu_idle *idle)
{
	for (int i = 0; i <= g->job->comm->n_parts; i++)
		while (first[i] < m->n_gpu_devices &&
		       m->gpu_devices[first[i]].first_process < g->job->first_file[i])
			first[i]++;
	comm_fill(g->job->comm, idle->devices, sizeof *idle->devices, first);
}

/* All parts get the same metrics and sums. */
static void add_idle(struct comm *c, struct gpu_idle *idle)
{
	struct model_gpu_waits *w = &idle->waits;
	uint64_t n[GPU_IDLE_METRICS + 3] = {w->all_ns, w->blamed_ns, w->idle_ns};
	for (unsigned i = 0; i < GPU_IDLE_METRICS; i++)
		n[3 + i] = idle->occurs[i];
	comm_add(c, n, sizeof n / sizeof *n);
	*w = (struct model_gpu_waits){n[0], n[1], n[2], n[0] - n[1] - n[2]};
	for (unsigned i = 0; i < GPU_IDLE_METRICS; i++)
		idle->occurs[i] = n[3 + i] != 0;
}

bool gpu_share_idle(const struct gpu_part *g, const struct model *m, bool ok, struct gpu_idle *idle)
{
	struct comm *c = g->job->comm;
	if (!g->job->is_split || !g->is_present)
		return ok;
	uint64_t *first = calloc((size_t)c->n_parts + 1, sizeof *first);
	ok = agree(c, ok && first);
	if (ok) {
		share_devices(g, m, first, idle);
		add_idle(c, idle);
	}
	free(first);
	return ok;
}
