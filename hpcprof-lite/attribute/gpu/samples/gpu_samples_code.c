/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the code of GPU functions, and the calls in it that lead from a kernel to a function. See
 * gpu_samples_run.h. Test: tests/unit/prof_gpu/test_gpu_calls.c.
 */
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h"

#include <stdlib.h>

struct expand_kernel gpu_samples_function(const struct load_gpu *g, const uint32_t *module_of,
					  uint32_t function)
{
	const struct load_gpu_function *f = load_gpu_find(&g->functions, function);
	if (!f)
		return (struct expand_kernel){MODEL_NONE, "", ""};
	const struct load_gpu_code *code = load_gpu_find(&g->codes, f->record->code);
	return (struct expand_kernel){code ? module_of[f->record->code] : MODEL_NONE, f->name,
				      f->source_name};
}

uint32_t gpu_samples_code_of(const struct load_gpu *g, uint32_t function)
{
	const struct load_gpu_function *f = load_gpu_find(&g->functions, function);
	return f ? f->record->code : 0;
}

bool gpu_samples_find_codes(struct gpu_samples_run *r)
{
	r->codes = malloc((r->g->functions.n + 1) * sizeof *r->codes);
	for (uint32_t i = 0; r->codes && i < r->g->functions.n; i++) {
		struct expand_kernel f = gpu_samples_function(r->g, r->s->module_of, i);
		const struct structure *s = expand_gpu_structure(r->s->expand, f.module);
		struct gpu_code_place *c = &r->codes[i];
		*c = (struct gpu_code_place){.module = f.module,
					     .scope = s ? structure_find_function(s, f.name, NULL)
							: STRUCTURE_NONE};
		if (c->scope != STRUCTURE_NONE)
			c->entry = structure_get_scope(s, c->scope).entry;
	}
	return r->codes != NULL;
}

const struct gpu_code_place *gpu_samples_code(const struct gpu_samples_run *r, uint32_t function)
{
	return function < r->g->functions.n && r->codes[function].scope != STRUCTURE_NONE
		       ? &r->codes[function]
		       : NULL;
}

bool gpu_samples_count_addresses(struct gpu_samples_run *r)
{
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct gpu_sample *p = &r->samples.at[i];
		uint32_t stall = gpu_samples_metric_of(r, p);
		const struct gpu_code_place *code = gpu_samples_code(r, p->function);
		if (gpu_samples_is_second(r, p) || !code)
			continue;
		uint64_t at = map_put(&r->count_index, code->module, code->entry + p->offset,
				      r->counts.n);
		if (at == MAP_NONE || (at == r->counts.n && !vec_push(&r->counts)))
			return false;
		r->counts.at[at].n += p->count;
		r->counts.at[at].n_issues +=
			gpu_metrics_counts_issues(r->s->metrics, stall) ? p->count : 0;
		r->counts.at[at].n_issued +=
			gpu_metrics_stall_flags(r->s->metrics, stall) & MSR_GPU_STALL_ISSUED
				? p->count
				: 0;
	}
	return true;
}

struct address_counts {
	const struct gpu_samples_run *r;
	uint32_t module;
};

static struct gpu_call_counts counts_at(const void *arg, uint64_t link_addr)
{
	const struct address_counts *c = arg;
	uint64_t at = map_get(&c->r->count_index, c->module, link_addr);
	return at == MAP_NONE ? (struct gpu_call_counts){0} : c->r->counts.at[at];
}

static const struct gpu_calls *calls_of(struct gpu_samples_run *r, uint32_t module)
{
	for (size_t i = 0; i < r->modules.n; i++)
		if (r->modules.at[i].module == module)
			return &r->modules.at[i].calls;
	struct gpu_module_calls *new = vec_push(&r->modules);
	if (!new)
		return NULL;
	new->module = module;
	return gpu_calls_read(&new->calls, expand_gpu_structure(r->s->expand, module), counts_at,
			      &(struct address_counts){r, module})
		       ? &new->calls
		       : NULL;
}

static bool fill_route(struct gpu_samples_run *r, struct gpu_route *route, uint32_t module,
		       uint32_t kernel, uint32_t function)
{
	const struct gpu_calls *calls = calls_of(r, module);
	if (!calls || !gpu_calls_find(calls, kernel, function, &route->paths))
		return false;
	uint64_t weights[GPU_CALLS_MOST_PATHS];
	for (size_t i = 0; i < route->paths.n; i++)
		weights[i] = route->paths.at[i].weight;
	return !route->paths.n ||
	       gpu_shares_begin(&route->shares, weights, route->paths.n, GPU_SHARES_ROOT_TWO);
}

struct gpu_route *gpu_samples_route(struct gpu_samples_run *r, uint32_t module, uint32_t kernel,
				    uint32_t function)
{
	uint64_t index =
		map_put(&r->route_index, (uint64_t)kernel << 32 | function, module, r->routes.n);
	if (index == MAP_NONE)
		return NULL;
	if (index < r->routes.n)
		return &r->routes.at[index];
	struct gpu_route *new = vec_push(&r->routes);
	return new &&fill_route(r, new, module, kernel, function) ? new : NULL;
}
