/* SPDX-License-Identifier: BSD-3-Clause */
/* view_gpu_share(). See view_gpu.h. Test: tests/unit/prof_parts/test_parts_gpu.c. */
#include "hpcprof-lite/parts/comm.h"
#include "hpcprof-lite/view/view_gpu_making.h"

#include <stdlib.h>

_Static_assert(sizeof(struct view_gpu_sum) == 4 * sizeof(uint64_t), "numbers that can be added");

/* No two parts have a queue or a device. Of copies and sets, the sums count. */
static void add_sums(const struct comm *c, const struct model *m, struct view_gpu *g)
{
	comm_add(c, (uint64_t *)g->queues, (size_t)m->n_gpu_queues * 4);
	comm_add(c, g->device_busy_ns, m->n_gpu_devices);
	comm_add(c, g->device_pieces_ns, m->n_gpu_devices);
	comm_add(c, (uint64_t *)g->copies, (size_t)MSR_N_GPU_DIRECTIONS * 4);
	comm_add(c, (uint64_t *)&g->sets, 4);
}

/* That of a later part. */
static bool add_kernel(struct gpu_making *w, const struct view_gpu_kernel *from)
{
	struct view_gpu_kernel *k = view_gpu_kernel(w, from->function);
	if (!k)
		return false;
	k->n_ops += from->n_ops;
	k->min_ns = from->min_ns < k->min_ns ? from->min_ns : k->min_ns;
	k->max_ns = from->max_ns > k->max_ns ? from->max_ns : k->max_ns;
	if (k->shape == MODEL_NONE)
		k->shape = from->shape;
	k->more_shapes |=
		from->more_shapes || (from->shape != MODEL_NONE && from->shape != k->shape);
	return true;
}

/* Each of the two ends a step, with `ok`. */
static bool join_kernels(struct gpu_making *w, struct comm *c, bool ok, uint64_t *first)
{
	const struct view_gpu *g = w->g;
	struct view_gpu_kernel *all =
		comm_join(c, g->kernels.at, g->kernels.n, sizeof *all, ok ? first : NULL);
	ok = all;
	for (uint64_t i = ok ? first[1] : 0; ok && c->part == 0 && i < first[c->n_parts]; i++)
		ok = add_kernel(w, &all[i]);
	free(all);
	return ok;
}

static bool join_firsts(struct gpu_making *w, struct comm *c, bool ok, uint64_t *first)
{
	struct gpu_first_copy *all =
		comm_join(c, w->firsts.at, w->firsts.n, sizeof *all, ok ? first : NULL);
	ok = all;
	for (uint64_t i = ok ? first[1] : 0; ok && c->part == 0 && i < first[c->n_parts]; i++)
		ok = view_gpu_add_first(w, &all[i]);
	free(all);
	return ok;
}

bool view_gpu_share(const struct model *m, struct view_gpu *g)
{
	struct comm *c = m->share->comm;
	struct gpu_making w = {.m = m,
			       .g = g,
			       .first = (uint32_t)m->share->first_profile[c->part],
			       .end = (uint32_t)m->share->first_profile[c->part + 1]};
	uint64_t *first = calloc((size_t)c->n_parts + 1, sizeof *first);
	bool ok = view_gpu_read(&w) && first;
	ok = join_kernels(&w, c, ok, first);
	ok = join_firsts(&w, c, ok, first);
	ok = comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	if (ok)
		add_sums(c, m, g);
	free(first);
	return view_gpu_end(&w, ok);
}
