/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds samples to the tree and to the account of PC sampling. See gpu_samples_run.h. Test:
 * tests/unit/prof_gpu/test_gpu_samples.c.
 */
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h"

/* Adds c->n samples of p's kind at a context. */
static bool add_at(struct gpu_samples_run *r, const struct gpu_sample *p,
		   const struct gpu_counted *c, uint32_t context)
{
	const struct gpu_metrics *m = r->s->metrics;
	struct sum_extra x = {
		.thread = c->thread, .context = context, .n_samples = c->n, .sum = c->n};
	uint32_t stall = gpu_samples_metric_of(r, p),
		 metrics[4] = {stall, MODEL_NONE, MODEL_NONE, MODEL_NONE};
	if (!gpu_samples_is_second(r, p)) {
		metrics[1] = GPU_SAMPLES;
		if (stall != MODEL_NONE &&
		    !(gpu_metrics_stall_flags(m, stall) & MSR_GPU_STALL_ISSUED))
			metrics[2] = GPU_STALLED;
		if (c->certainty == GPU_SHARED)
			metrics[3] = GPU_APPORTIONED;
	}
	for (unsigned i = 0; i < 4; i++) {
		x.metric = metrics[i];
		if (x.metric != MODEL_NONE && !gpu_metrics_add(r->s->metrics, r->s->extras, &x))
			return false;
	}
	return true;
}

/* Adds the samples to the account of PC sampling and to those of the kernel. */
static bool account(struct gpu_samples_run *r, const struct gpu_sample *p,
		    const struct gpu_counted *c)
{
	struct model_gpu_sampling *s = r->s->sampling;
	struct gpu_metrics *m = r->s->metrics;
	uint64_t *const of_account[] = {&s->in_tree_exact, &s->in_tree_apportioned,
					&s->in_tree_unattributed};
	uint64_t *const of_metrics[] = {&m->n_exact, &m->n_apportioned, &m->n_unattributed};
	if (gpu_samples_is_second(r, p)) {
		s->in_tree_not_issued += c->n;
		return true;
	}
	*of_account[c->certainty] += c->n;
	*of_metrics[c->certainty] += c->n;
	uint64_t at = map_put(&r->kernel_index, c->thread, c->kernel, r->kernels.n);
	if (at == MAP_NONE || (at == r->kernels.n && !vec_push(&r->kernels)))
		return false;
	r->kernels.at[at] =
		(struct gpu_kernel_samples){c->thread, c->kernel, r->kernels.at[at].n + c->n};
	return true;
}

/* Samples to share out over the call paths from the kernel to their function. */
struct dealing {
	struct gpu_samples_run *r;
	const struct gpu_sample *p;
	const struct gpu_counted *c;
	const struct gpu_route *route;
	const struct gpu_code_place *code;
};

static bool give_to_path(void *arg, size_t i, uint64_t part)
{
	const struct dealing *d = arg;
	struct expand_run *e = d->r->s->expand;
	const struct gpu_call_path *path = &d->route->paths.at[i];
	struct gpu_counted c = *d->c;
	/* Start above the kernel: the kernel itself is the frame of the first call. */
	uint32_t at = expand_gpu_parent(e, c.kernel);
	for (uint32_t k = 0; k < path->n; k++)
		at = expand_gpu_frame(e, at, d->code->module, path->calls[k]);
	c.n = part;
	uint32_t context =
		expand_gpu_frame(e, at, d->code->module, d->code->entry + d->p->offset);
	return add_at(d->r, d->p, &c, context) &&
	       gpu_samples_blame(d->r, &(struct gpu_stalled){d->p, d->code, part, c.thread,
							     context, at, true});
}

/*
 * Sets *route to the calls from the kernel to the sample; NULL: the sample is in the kernel, or no
 * code is known. False if memory is short.
 */
static bool find_route(struct gpu_samples_run *r, const struct gpu_code_place *code,
		       const struct gpu_code_place *kernel, uint64_t offset,
		       struct gpu_route **route)
{
	*route = NULL;
	if (!code || !kernel || code->module != kernel->module)
		return true;
	uint32_t scope = gpu_calls_function_at(expand_gpu_structure(r->s->expand, code->module),
					       code->entry + offset);
	if (scope == STRUCTURE_NONE || scope == kernel->scope)
		return true;
	*route = gpu_samples_route(r, code->module, kernel->scope, scope);
	return *route != NULL;
}

static bool count_instruction(struct gpu_samples_run *r, const struct gpu_sample *p,
			      const struct gpu_code_place *code, uint64_t n)
{
	const uint32_t stall = gpu_samples_metric_of(r, p);
	struct gpu_instruction i = {code->module, GPU_SAMPLES, code->entry + p->offset, n};
	if (!gpu_samples_is_second(r, p) && !gpu_metrics_add_instruction(r->s->metrics, &i))
		return false;
	i.metric = stall;
	return stall == MODEL_NONE || gpu_metrics_add_instruction(r->s->metrics, &i);
}

bool gpu_samples_count(struct gpu_samples_run *r, const struct gpu_sample *p,
		       const struct gpu_counted *counted)
{
	const struct gpu_code_place *code = gpu_samples_code(r, p->function),
				    *kernel = gpu_samples_code(r, counted->launched);
	struct gpu_counted c = *counted;
	struct gpu_route *route;
	if ((code && !count_instruction(r, p, code, c.n)) ||
	    !find_route(r, code, kernel, p->offset, &route))
		return false;
	if (c.certainty == GPU_EXACT && route && route->paths.n > 1) {
		c.certainty = GPU_SHARED;
		r->s->sampling->apportioned_by_calls += gpu_samples_is_second(r, p) ? 0 : c.n;
	}
	if (!account(r, p, &c))
		return false;
	if (route && route->paths.n)
		return gpu_shares_deal(&route->shares, c.n, give_to_path,
				       &(struct dealing){r, p, &c, route, code});
	struct expand_kernel f = gpu_samples_function(r->g, r->s->module_of, p->function);
	uint32_t context = expand_gpu_place(r->s->expand, c.kernel, &f, p->offset);
	return add_at(r, p, &c, context) &&
	       gpu_samples_blame(r, &(struct gpu_stalled){p, code, c.n, c.thread, context, c.kernel,
							  false});
}
