/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts each sample at its launch, or shares it out over the launchers that it may belong to. See
 * gpu_samples_run.h. Test: tests/unit/prof_gpu/test_gpu_samples.c.
 */
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h"

#include <stdlib.h>
#include <string.h>

/* Makes a kernel context for samples without one: their function, as a kernel below `parent`. */
static uint32_t kernel_below(struct gpu_samples_run *r, uint32_t parent, uint32_t function)
{
	struct expand_kernel f = gpu_samples_function(r->g, r->s->module_of, function);
	return expand_gpu_kernel(
		r->s->expand, expand_gpu_placeholder(r->s->expand, parent, MSR_GPU_KERNEL, 0), &f);
}

static bool count_exact(struct gpu_samples_run *r, const struct gpu_sample *p)
{
	const struct gpu_cell *c = &r->s->join->cells.at[p->cell];
	uint32_t launched = gpu_join_function(r->g, c->shape);
	return gpu_samples_count(r, p,
				 &(struct gpu_counted){c->thread, r->s->context_of[p->cell],
						       launched ? launched : p->function, p->count,
						       GPU_EXACT});
}

/* Sets *leads if known calls lead from the kernel to the function. False if memory is short. */
static bool leads_to(struct gpu_samples_run *r, uint32_t kernel, uint32_t function, bool *leads)
{
	const struct gpu_code_place *code = gpu_samples_code(r, function),
				    *kernel_code = gpu_samples_code(r, kernel);
	*leads = false;
	if (!code || !kernel_code || code->module != kernel_code->module)
		return true;
	const struct gpu_route *route =
		gpu_samples_route(r, code->module, kernel_code->scope, code->scope);
	*leads = route && route->paths.n;
	return route != NULL;
}

/*
 * Appends the launchers of function `launched` to the *n launchers of `to`. False if memory is
 * short, as in the next functions; they share a type.
 */
static bool copy_launchers(struct gpu_samples_run *r, uint32_t launched, struct gpu_launcher *to,
			   size_t *n)
{
	size_t n_more, begin = gpu_samples_launchers_of(r, launched, &n_more);
	if (n_more)
		memcpy(to + *n, r->launchers.at + begin, n_more * sizeof *to);
	*n += n_more;
	return true;
}

/*
 * Appends the launchers of kernels with the same name in other code objects, because the vendor's
 * record does not say which of these kernels ran.
 */
static bool copy_namesakes(struct gpu_samples_run *r, uint32_t function, struct gpu_launcher *to,
			   size_t *n)
{
	const struct load_gpu_function *f = load_gpu_find(&r->g->functions, function);
	for (uint32_t i = 0; f && f->name[0] && i < r->g->functions.n; i++) {
		const struct load_gpu_function *other = load_gpu_find(&r->g->functions, i);
		if (other && other != f && strcmp(other->name, f->name) == 0)
			copy_launchers(r, i, to, n);
	}
	return true;
}

static bool is_kernel(const struct gpu_samples_run *r, uint32_t function)
{
	const struct gpu_code_place *code = gpu_samples_code(r, function);
	struct structure_resources resources;
	return code &&
	       structure_get_resources(expand_gpu_structure(r->s->expand, code->module),
				       code->scope, &resources) &&
	       resources.is_kernel;
}

/*
 * Appends the launchers of kernels that call a device function. If no call is known, appends those
 * of all kernels in its code object. If `function` is itself a kernel, it has no callers: its
 * launch was lost or is still running.
 */
static bool copy_callers(struct gpu_samples_run *r, uint32_t function, struct gpu_launcher *to,
			 size_t *n)
{
	uint32_t code = is_kernel(r, function) ? 0 : gpu_samples_code_of(r->g, function);
	for (unsigned any = 0; code && any < 2 && !*n; any++)
		for (size_t i = 0; i < r->launchers.n; i++) {
			bool leads = any;
			if (r->launchers.at[i].code != code)
				continue;
			if (!any && !leads_to(r, r->launchers.at[i].function, function, &leads))
				return false;
			if (leads)
				to[(*n)++] = r->launchers.at[i];
		}
	return true;
}

/*
 * Keeps launchers whose kernels ran while samples carried no launch id. If there are none, keeps
 * all.
 */
static size_t drop_idle(struct gpu_launcher *list, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (list[i].weight)
			list[kept++] = list[i];
	return kept ? kept : n;
}

/* Keeps launchers at the place of the samples. */
static size_t keep_place(const struct gpu_sample *p, struct gpu_launcher *list, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (list[i].is_placed && list[i].thread == p->thread && list[i].node == p->node)
			list[kept++] = list[i];
	return kept;
}

/*
 * Lists the launchers that may have run p's function. is_owned: only those at p's place. The caller
 * frees *list, even if this returns false.
 */
static bool find_launchers(struct gpu_samples_run *r, const struct gpu_sample *p, bool is_owned,
			   struct gpu_launcher **list, size_t *n)
{
	bool (*const ways[])(struct gpu_samples_run *, uint32_t, struct gpu_launcher *,
			     size_t *) = {copy_launchers, copy_namesakes, copy_callers};
	*n = 0;
	*list = malloc((r->launchers.n ? r->launchers.n : 1) * sizeof **list);
	bool ok = *list != NULL;
	for (unsigned i = 0; ok && !*n && i < sizeof ways / sizeof *ways; i++) {
		ok = ways[i](r, p->function, *list, n);
		*n = is_owned ? keep_place(p, *list, *n) : *n;
	}
	if (ok && !is_owned)
		*n = drop_idle(*list, *n);
	return ok;
}

struct sharing {
	struct gpu_samples_run *r;
	const struct gpu_sample *p;
	const struct gpu_launcher *list;
	size_t n;
	bool by_launches;
	bool is_owned; /* the place of the launch is known */
};

static bool give_to_launcher(void *arg, size_t i, uint64_t part)
{
	const struct sharing *s = arg;
	const struct gpu_launcher *l = &s->list[i];
	if (s->n > 1 && !gpu_samples_is_second(s->r, s->p)) {
		*gpu_samples_apportioned_of(s->r, l->function) += s->is_owned ? 0 : part;
		s->r->s->sampling->apportioned_by_launches += s->by_launches ? part : 0;
	}
	return gpu_samples_count(s->r, s->p,
				 &(struct gpu_counted){l->thread, l->context, l->function, part,
						       s->n == 1 ? GPU_EXACT : GPU_SHARED});
}

/* The kernel's time while samples carried their launch (is_owned), or while they did not. */
static uint64_t time_of(const struct gpu_launcher *l, bool is_owned)
{
	return is_owned ? l->window_ns : l->weight;
}

/*
 * Sets the weights from time_of(). If that is 0 for all launchers, uses the whole time of the
 * kernel. If no times are known, uses the number of launches and returns true.
 */
static bool weigh_launchers(const struct gpu_launcher *list, size_t n, bool is_owned,
			    uint64_t *weights)
{
	uint64_t sampled_ns = 0, busy_ns = 0;
	for (size_t i = 0; i < n; i++) {
		sampled_ns += time_of(&list[i], is_owned);
		busy_ns += list[i].busy_ns;
	}
	for (size_t i = 0; i < n; i++)
		weights[i] = sampled_ns ? time_of(&list[i], is_owned)
			     : busy_ns  ? list[i].busy_ns
					: list[i].n_ops;
	return !busy_ns;
}

static bool share_out(struct gpu_samples_run *r, const struct gpu_sample *p, size_t n_samples,
		      const struct gpu_launcher *list, size_t n, bool is_owned)
{
	uint64_t *weights = malloc(n * sizeof *weights);
	struct gpu_shares shares = {0};
	bool by_launches = weights && weigh_launchers(list, n, is_owned, weights),
	     ok = weights && gpu_shares_begin(&shares, weights, n, GPU_SHARES_GOLDEN);
	for (size_t k = 0; ok && k < n_samples; k++)
		ok = gpu_shares_deal(&shares, p[k].count, give_to_launcher,
				     &(struct sharing){r, &p[k], list, n, by_launches, is_owned});
	gpu_shares_end(&shares);
	free(weights);
	return ok;
}

/*
 * Apportions samples p[0 .. n-1] of one function. is_owned: they have one place. If nothing was
 * launched at that place, the operation was lost, and the samples are apportioned like all others.
 */
static bool apportion(struct gpu_samples_run *r, const struct gpu_sample *p, size_t n,
		      bool is_owned)
{
	struct gpu_launcher *list;
	size_t n_launchers;
	bool ok = find_launchers(r, p, is_owned, &list, &n_launchers);
	if (ok && n_launchers) {
		ok = share_out(r, p, n, list, n_launchers, is_owned);
	} else if (ok && is_owned) {
		ok = apportion(r, p, n, false);
	} else if (ok) {
		uint32_t nowhere = kernel_below(
			r, expand_gpu_entry(r->s->expand, MODEL_ENTRY_GPU_NO_LAUNCH), p->function);
		for (size_t k = 0; ok && k < n; k++)
			ok = gpu_samples_count(r, &p[k],
					       &(struct gpu_counted){0, nowhere, p->function,
								     p[k].count, GPU_UNATTRIBUTED});
	}
	free(list);
	return ok;
}

static bool is_together(const struct gpu_sample *a, const struct gpu_sample *b)
{
	return b->cell == GPU_SAMPLE_NO_CELL && a->function == b->function &&
	       a->thread == b->thread && a->node == b->node;
}

bool gpu_samples_share_all(struct gpu_samples_run *r)
{
	for (size_t i = 0, end; i < r->samples.n; i = end) {
		const struct gpu_sample *p = &r->samples.at[i];
		end = i + 1;
		if (p->cell != GPU_SAMPLE_NO_CELL) {
			if (!count_exact(r, p))
				return false;
			continue;
		}
		while (end < r->samples.n && is_together(p, &r->samples.at[end]))
			end++;
		if (!apportion(r, p, end - i, gpu_sample_has_owner(p)))
			return false;
	}
	return true;
}
