/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_samples.h. Test: tests/unit/prof_gpu/test_gpu_samples.c. */
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples.h"

#include "common/base/capped.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_sampling.h"
#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>
#include <string.h>

enum { MERGE_FROM = 1 << 18 }; /* samples */

/* How sure it is that a sample belongs to the context where it counts. */
enum certainty { EXACT, APPORTIONED, UNATTRIBUTED };

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

static uint32_t code_of(const struct load_gpu *g, uint32_t function)
{
	const struct load_gpu_function *f = load_gpu_find(&g->functions, function);
	return f ? f->record->code : 0;
}

/* ---- gathering ---- */

static int compare_samples(const void *pa, const void *pb)
{
	const struct gpu_sample *a = pa, *b = pb;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->stall > b->stall) - (a->stall < b->stall);
}

/* Sorts, and makes one of equal ones. */
static void merge_samples(struct gpu_samples_run *r)
{
	size_t kept = 0;
	if (r->samples.n)
		qsort(r->samples.at, r->samples.n, sizeof *r->samples.at, compare_samples);
	for (size_t i = 0; i < r->samples.n; i++) {
		if (kept && compare_samples(&r->samples.at[kept - 1], &r->samples.at[i]) == 0)
			capped_grow(&r->samples.at[kept - 1].count, r->samples.at[i].count);
		else
			r->samples.at[kept++] = r->samples.at[i];
	}
	r->samples.n = kept;
}

static void set_place(const struct gpu_samples_run *r, uint32_t thread, uint32_t node,
		      struct gpu_sample *to)
{
	struct gpu_cell place = {.thread = 0};
	gpu_join_place(r->s->join, thread, node, &place);
	to->thread = place.thread;
	to->node = place.node;
}

/* A launch's samples are where its operation is; those of a graph are of all of its kernels, and
 * those that were summed up of all that was launched there: then their function tells. */
static void set_owner(const struct gpu_samples_run *r, const struct load_gpu_part *part,
		      const struct msr_gpu_pc *p, struct gpu_sample *to)
{
	struct gpu_join *j = r->s->join;
	to->cell = to->thread = GPU_SAMPLE_NO_CELL;
	to->node = 0;
	if (!p->id && part->stride >= sizeof(struct msr_gpu_pc_at)) {
		const struct msr_gpu_pc_at *at = (const struct msr_gpu_pc_at *)p;
		set_place(r, at->thread, at->node, to);
	}
	uint32_t launch =
		p->id ? gpu_launches_find(&j->launches, p->id & MSR_GPU_ID_MAX) : GPU_LAUNCH_NONE;
	if (launch == GPU_LAUNCH_NONE)
		return;
	const struct load_gpu_part *from;
	const struct msr_gpu_launch *l = gpu_launches_get(&j->launches, launch, &from);
	uint64_t cell = map_get(&j->wanted, p->id & MSR_GPU_ID_MAX, 0);
	if (msr_gpu_launch_kind(l) == MSR_GPU_GRAPH)
		set_place(r, from->thread, msr_gpu_launch_node(l), to);
	else if (cell != MAP_NONE)
		to->cell = (uint32_t)cell;
}

/* Memory is for twice as many as are distinct, not for as many as there are. */
static bool gather_samples(struct gpu_samples_run *r)
{
	size_t most = MERGE_FROM;
	for (size_t k = 0; k < r->g->pcs.n; k++) {
		const struct load_gpu_part *part = &r->g->pcs.at[k];
		for (uint64_t i = 0; i < part->n; i++) {
			const struct msr_gpu_pc *p = load_gpu_at(part, i);
			if (r->samples.n == most) {
				merge_samples(r);
				most = 2 * r->samples.n > MERGE_FROM ? 2 * r->samples.n
								     : MERGE_FROM;
			}
			struct gpu_sample *at = vec_push(&r->samples);
			if (!at)
				return false;
			*at = (struct gpu_sample){.function = p->function,
						  .offset = p->offset,
						  .count = p->count,
						  .stall = p->stall};
			set_owner(r, part, p, at);
		}
		load_release(r->s->join->file, part->n * part->stride);
	}
	merge_samples(r);
	return true;
}

static void add_launcher(struct gpu_launcher *to, const struct gpu_launcher *from)
{
	to->weight += from->weight;
	to->busy_ns += from->busy_ns;
	to->window_ns += from->window_ns;
	to->n_ops += from->n_ops;
}

static bool gather_launchers(struct gpu_samples_run *r)
{
	const struct gpu_join *j = r->s->join;
	size_t kept = 0;
	for (size_t i = 0; i < j->cells.n; i++) {
		const struct gpu_cell *c = &j->cells.at[i];
		uint32_t function = gpu_join_function(r->g, c->shape);
		if (c->kind != MSR_GPU_KERNEL || !function)
			continue;
		struct gpu_launcher *at = vec_push(&r->launchers);
		if (!at)
			return false;
		uint64_t known_ns = c->cover.serialized_ns + c->cover.gap_ns;
		*at = (struct gpu_launcher){.function = function,
					    .code = code_of(r->g, function),
					    .thread = c->thread,
					    .context = r->s->context_of[i],
					    .node = c->node,
					    .is_placed = c->place != GPU_NO_LAUNCH,
					    .weight = c->busy_ns > known_ns ? c->busy_ns - known_ns
									    : 0,
					    .busy_ns = c->busy_ns,
					    .window_ns = c->cover.serialized_ns,
					    .n_ops = c->n_ops};
	}
	if (r->launchers.n)
		qsort(r->launchers.at, r->launchers.n, sizeof *r->launchers.at,
		      gpu_samples_compare_launchers);
	for (size_t i = 0; i < r->launchers.n; i++) {
		struct gpu_launcher *l = &r->launchers.at[i];
		if (kept && gpu_samples_compare_launchers(&r->launchers.at[kept - 1], l) == 0)
			add_launcher(&r->launchers.at[kept - 1], l);
		else
			r->launchers.at[kept++] = *l;
	}
	r->launchers.n = kept;
	return true;
}

/* ---- calls inside of GPU code ---- */

static bool find_codes(struct gpu_samples_run *r)
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

/* NULL: nothing is known of the function's code. */
static const struct gpu_code_place *code_at(const struct gpu_samples_run *r, uint32_t function)
{
	return function < r->g->functions.n && r->codes[function].scope != STRUCTURE_NONE
		       ? &r->codes[function]
		       : NULL;
}

/* Samples at each address: call sites are weighed by them. */
static bool count_addresses(struct gpu_samples_run *r)
{
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct gpu_sample *p = &r->samples.at[i];
		uint32_t stall =
			p->stall < r->g->stalls.n ? r->metric_of_stall[p->stall] : MODEL_NONE;
		const struct gpu_code_place *code = code_at(r, p->function);
		if (gpu_metrics_stall_flags(r->s->metrics, stall) & MSR_GPU_STALL_ONLY_NOT_ISSUED ||
		    !code)
			continue;
		uint64_t at = map_put(&r->count_index, code->module, code->entry + p->offset,
				      r->counts.n);
		if (at == MAP_NONE || (at == r->counts.n && !vec_push(&r->counts)))
			return false;
		r->counts.at[at].n += p->count;
		r->counts.at[at].n_issues +=
			gpu_metrics_counts_issues(r->s->metrics, stall) ? p->count : 0;
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
	return at == MAP_NONE ? (struct gpu_call_counts){0, 0} : c->r->counts.at[at];
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

/* The route from one function scope to another, found once. NULL: no memory. */
static struct gpu_route *find_route(struct gpu_samples_run *r, uint32_t module, uint32_t kernel,
				    uint32_t function)
{
	uint64_t index =
		map_put(&r->route_index, (uint64_t)kernel << 32 | function, module, r->routes.n);
	if (index == MAP_NONE)
		return NULL;
	if (index < r->routes.n)
		return &r->routes.at[index];
	struct gpu_route *new = vec_push(&r->routes);
	return new && fill_route(r, new, module, kernel, function) ? new : NULL;
}

/* ---- counting ---- */

/* Adds `count` samples of p's kind at a context. */
static bool add_at(struct gpu_samples_run *r, const struct gpu_sample *p, uint32_t thread,
		   uint32_t context, uint64_t count, enum certainty certainty)
{
	struct sum_extra x = {
		.thread = thread, .context = context, .n_samples = count, .sum = count};
	uint32_t stall = gpu_samples_metric_of(r, p),
		 metrics[4] = {stall, MODEL_NONE, MODEL_NONE, MODEL_NONE};
	if (!gpu_samples_is_second(r, p)) {
		metrics[1] = GPU_SAMPLES;
		metrics[2] =
			stall != MODEL_NONE && !(gpu_metrics_stall_flags(r->s->metrics, stall) &
						 MSR_GPU_STALL_ISSUED)
				? GPU_STALLED
				: MODEL_NONE;
		metrics[3] = certainty == APPORTIONED ? GPU_APPORTIONED : MODEL_NONE;
	}
	for (unsigned i = 0; i < 4; i++) {
		x.metric = metrics[i];
		if (x.metric != MODEL_NONE && !gpu_metrics_add(r->s->metrics, r->s->extras, &x))
			return false;
	}
	return true;
}

/* In the ledger, and at the kernel below which they stand. */
static bool account(struct gpu_samples_run *r, const struct gpu_sample *p, uint32_t thread,
		    uint32_t kernel, uint64_t count, enum certainty certainty)
{
	struct model_gpu_sampling *s = r->s->sampling;
	struct gpu_metrics *m = r->s->metrics;
	if (gpu_samples_is_second(r, p)) {
		s->in_tree_not_issued += count;
		return true;
	}
	*(certainty == EXACT         ? &s->in_tree_exact
	  : certainty == APPORTIONED ? &s->in_tree_apportioned
				     : &s->in_tree_unattributed) += count;
	*(certainty == EXACT         ? &m->n_exact
	  : certainty == APPORTIONED ? &m->n_apportioned
				     : &m->n_unattributed) += count;
	uint64_t at = map_put(&r->kernel_index, thread, kernel, r->kernels.n);
	if (at == MAP_NONE || (at == r->kernels.n && !vec_push(&r->kernels)))
		return false;
	r->kernels.at[at] =
		(struct gpu_kernel_samples){thread, kernel, r->kernels.at[at].n + count};
	return true;
}

/* Samples that are being dealt out over the ways to their function. */
struct dealing {
	struct gpu_samples_run *r;
	const struct gpu_sample *p;
	const struct gpu_route *route;
	uint32_t thread, kernel, module;
	uint64_t link_addr;
	enum certainty certainty;
};

static bool give_to_path(void *arg, size_t i, uint64_t part)
{
	const struct dealing *d = arg;
	const struct gpu_call_path *path = &d->route->paths.at[i];
	uint32_t at = d->kernel; /* the placeholder: its child is the kernel, whose frame is the
				    first call's */
	for (uint32_t k = 0; k < path->n; k++)
		at = expand_gpu_frame(d->r->s->expand, at, d->module, path->calls[k]);
	return add_at(d->r, d->p, d->thread,
		      expand_gpu_frame(d->r->s->expand, at, d->module, d->link_addr), part,
		      d->certainty);
}

/*
 * Counts `count` samples at their place below the kernel context: in the kernel itself, or where
 * calls lead from it to the function that was sampled. `launched`: the kernel's function id.
 * `certainty`: that the kernel's context is the right one.
 */
static bool count_at(struct gpu_samples_run *r, const struct gpu_sample *p, uint32_t thread,
		     uint32_t kernel, uint32_t launched, uint64_t count, enum certainty certainty)
{
	const struct gpu_code_place *code = code_at(r, p->function),
				    *kernel_code = code_at(r, launched);
	struct gpu_route *route = NULL;
	if (code && kernel_code && code->module == kernel_code->module) {
		uint32_t at = gpu_calls_function_at(
			expand_gpu_structure(r->s->expand, code->module), code->entry + p->offset);
		if (at != STRUCTURE_NONE && at != kernel_code->scope &&
		    !(route = find_route(r, code->module, kernel_code->scope, at)))
			return false;
	}
	if (certainty == EXACT && route && route->paths.n > 1) {
		certainty = APPORTIONED;
		r->s->sampling->apportioned_by_calls += gpu_samples_is_second(r, p) ? 0 : count;
	}
	if (!account(r, p, thread, kernel, count, certainty))
		return false;
	if (!route || !route->paths.n) {
		struct expand_kernel f = gpu_samples_function(r->g, r->s->module_of, p->function);
		return add_at(r, p, thread, expand_gpu_place(r->s->expand, kernel, &f, p->offset),
			      count, certainty);
	}
	struct dealing d = {r,
			    p,
			    route,
			    thread,
			    expand_gpu_parent(r->s->expand, kernel),
			    code->module,
			    code->entry + p->offset,
			    certainty};
	return gpu_shares_deal(&route->shares, count, give_to_path, &d);
}

/* A kernel context for samples that have none: `f` itself as a kernel below `parent`. */
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
	return count_at(r, p, c->thread, r->s->context_of[p->cell],
			launched ? launched : p->function, p->count, EXACT);
}

/* Sets *leads: known calls lead from a kernel to a function of the file. False when memory is
 * short. */
static bool leads_to(struct gpu_samples_run *r, uint32_t kernel, uint32_t function, bool *leads)
{
	const struct gpu_code_place *code = code_at(r, function), *kernel_code = code_at(r, kernel);
	*leads = false;
	if (!code || !kernel_code || code->module != kernel_code->module)
		return true;
	const struct gpu_route *route =
		find_route(r, code->module, kernel_code->scope, code->scope);
	*leads = route && route->paths.n;
	return route != NULL;
}

/* Appends those who launched function `launched` to the *n launchers of `to`. False when memory is
 * short, as below. */
static bool copy_launchers(struct gpu_samples_run *r, uint32_t launched, struct gpu_launcher *to,
			   size_t *n)
{
	size_t n_more, begin = gpu_samples_launchers_of(r, launched, &n_more);
	if (n_more)
		memcpy(to + *n, r->launchers.at + begin, n_more * sizeof *to);
	*n += n_more;
	return true;
}

/* A kernel of the same name of another code object: where two hold it, the vendor's record of the
 * kernel does not say which one ran. */
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
	const struct gpu_code_place *code = code_at(r, function);
	struct structure_resources resources;
	return code &&
	       structure_get_resources(expand_gpu_structure(r->s->expand, code->module),
				       code->scope, &resources) &&
	       resources.is_kernel;
}

/*
 * A device function belongs to those from whose kernel calls lead to it; where no call is known, to
 * all kernels of its code object. A kernel is called by nobody: its launch was lost, or has no end
 * yet, or another kernel launched it.
 */
static bool copy_callers(struct gpu_samples_run *r, uint32_t function, struct gpu_launcher *to,
			 size_t *n)
{
	uint32_t code = is_kernel(r, function) ? 0 : code_of(r->g, function);
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

/* Who had no time in which samples do not know their launch cannot have any, where others had:
 * those launched in windows and gaps alone, or on a context that was not sampled. */
static size_t drop_idle(struct gpu_launcher *list, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (list[i].weight)
			list[kept++] = list[i];
	return kept ? kept : n;
}

/* Those who launched where the samples are from. */
static size_t keep_place(const struct gpu_sample *p, struct gpu_launcher *list, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (list[i].is_placed && list[i].thread == p->thread && list[i].node == p->node)
			list[kept++] = list[i];
	return kept;
}

/* Those who may have had the function run, at p's place where that is asked for; *list is the
 * caller's. */
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
	bool by_launches,
		is_owned; /* is_owned: all of them are of the launches that the samples know */
};

static bool give_to_launcher(void *arg, size_t i, uint64_t part)
{
	const struct sharing *s = arg;
	const struct gpu_launcher *l = &s->list[i];
	if (s->n > 1 && !gpu_samples_is_second(s->r, s->p)) {
		*gpu_samples_apportioned_of(s->r, l->function) += s->is_owned ? 0 : part;
		s->r->s->sampling->apportioned_by_launches += s->by_launches ? part : 0;
	}
	return count_at(s->r, s->p, l->thread, l->context, l->function, part,
			s->n == 1 ? EXACT : APPORTIONED);
}

/* The time in which samples knew their launch, or in which they did not. */
static uint64_t time_of(const struct gpu_launcher *l, bool is_owned)
{
	return is_owned ? l->window_ns : l->weight;
}

/* By the time in which there were such samples; where there is none, by all of it; where no times
 * are known, by launches. Returns which it was. */
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

/* Samples p[0 .. n-1] of one function, and of one place where they are owned. What nobody launched
 * there may be of a launch whose operation was lost: it is shared out as all others. */
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
			ok = count_at(r, &p[k], 0, nowhere, p->function, p[k].count, UNATTRIBUTED);
	}
	free(list);
	return ok;
}

static bool is_together(const struct gpu_sample *a, const struct gpu_sample *b)
{
	return b->cell == GPU_SAMPLE_NO_CELL && a->function == b->function &&
	       a->thread == b->thread && a->node == b->node;
}

static bool count_all(struct gpu_samples_run *r)
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

/* ---- counters ---- */

static bool add_values(const struct gpu_sampled *s)
{
	const struct load_gpu *g = &s->join->file->gpu;
	for (size_t k = 0; k < g->values.n; k++)
		for (uint64_t i = 0; i < g->values.at[k].n; i++) {
			const struct msr_gpu_value *v = load_gpu_at(&g->values.at[k], i);
			uint64_t cell = v->id ? map_get(&s->join->wanted, v->id & MSR_GPU_ID_MAX, 0)
					      : MAP_NONE;
			struct sum_extra x = {
				.metric = gpu_metrics_counter(s->metrics, g, v->counter),
				.n_samples = 1,
				.sum = v->value};
			if (x.metric == MODEL_NONE) {
				s->join->file->bytes_damaged += sizeof *v;
				continue;
			}
			x.thread = cell == MAP_NONE ? 0 : s->join->cells.at[cell].thread;
			x.context = cell == MAP_NONE
					    ? expand_gpu_entry(s->expand, MODEL_ENTRY_GPU_NO_LAUNCH)
					    : s->context_of[cell];
			if (!gpu_metrics_add(s->metrics, s->extras, &x))
				return false;
		}
	return true;
}

bool gpu_samples_add(const struct gpu_sampled *s)
{
	struct gpu_samples_run r = {.s = s, .g = &s->join->file->gpu};
	r.metric_of_stall = malloc((r.g->stalls.n + 1) * sizeof *r.metric_of_stall);
	for (uint32_t i = 0; r.metric_of_stall && i < r.g->stalls.n; i++)
		r.metric_of_stall[i] = gpu_metrics_stall(s->metrics, r.g, i);
	r.n_apportioned = calloc(r.g->functions.n + 1, sizeof *r.n_apportioned);
	bool ok = r.metric_of_stall && r.n_apportioned &&
		  gpu_sampling_count(s->sampling, s->join) && gather_samples(&r);
	if (ok && r.samples.n)
		ok = gather_launchers(&r) && find_codes(&r) && count_addresses(&r) &&
		     count_all(&r) && gpu_samples_measure(&r);
	ok = ok && gpu_samples_add_sampled(&r) && add_values(s);
	gpu_sampling_settle(s->sampling, s->join->file);
	free(r.n_apportioned);
	map_free(&r.kernel_index);
	vec_free(&r.kernels);
	free(r.metric_of_stall);
	vec_free(&r.samples);
	vec_free(&r.launchers);
	free(r.codes);
	map_free(&r.count_index);
	vec_free(&r.counts);
	for (size_t i = 0; i < r.modules.n; i++)
		gpu_calls_free(&r.modules.at[i].calls);
	vec_free(&r.modules);
	for (size_t i = 0; i < r.routes.n; i++) {
		vec_free(&r.routes.at[i].paths);
		gpu_shares_end(&r.routes.at[i].shares);
	}
	vec_free(&r.routes);
	map_free(&r.route_index);
	return ok;
}
