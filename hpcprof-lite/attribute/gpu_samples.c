/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_samples.h. Test: tests/unit/test_gpu_samples.c. */
#include "hpcprof-lite/attribute/gpu_samples.h"

#include "hpcprof-lite/attribute/gpu_calls.h"
#include "hpcprof-lite/attribute/gpu_sampling.h"
#include "hpcprof-lite/attribute/gpu_shares.h"

#include <stdlib.h>
#include <string.h>

#define NO_CELL UINT32_MAX

/* Equal samples: one owner (cell, NO_CELL: to be shared out), function, offset, stall. */
struct sample {
	uint32_t cell, function;
	uint64_t offset, count;
	uint16_t stall;
};

/* A context in which a kernel ran, with its share. */
struct launcher {
	uint32_t function, code;
	uint32_t thread, context;
	uint64_t weight;       /* time in which samples did not know their launch */
	uint64_t busy_ns, window_ns; /* all its time, and that in serialized ranges */
	uint64_t n_ops;
};

/* How sure it is that a sample belongs to the context where it counts. */
enum certainty { EXACT, APPORTIONED, UNATTRIBUTED };

/* Samples by the kernel below which they stand. */
struct kernel_samples {
	uint32_t thread, context;
	uint64_t n;
};

/* How a device function was reached from a kernel. */
struct route {
	gpu_call_paths paths;
	struct gpu_shares shares; /* over the paths; nothing when there is none */
};

/* Where a function of the file lies; scope STRUCTURE_NONE: nothing is known of its code. */
struct code {
	uint32_t module, scope;
	uint64_t entry;
};

struct module_calls {
	uint32_t module;
	struct gpu_calls calls;
};

struct run {
	const struct gpu_sampled *s;
	const struct load_gpu *g;
	VEC(struct sample) samples;
	VEC(struct launcher) launchers; /* by function */
	uint64_t *n_apportioned;        /* by function id of the kernel: over its launchers */
	struct map kernel_index;        /* (thread, context) -> kernels */
	VEC(struct kernel_samples) kernels;
	uint32_t *metric_of_stall;      /* by id */
	struct code *codes;             /* by function id */
	struct map count_index;         /* (module, address) -> counts */
	VEC(struct gpu_call_counts) counts; /* samples at each address */
	VEC(struct module_calls) modules;
	struct map route_index;         /* (kernel's scope, function's scope; module) -> routes */
	VEC(struct route) routes;
};

struct expand_kernel gpu_samples_function(const struct load_gpu *g, const uint32_t *module_of, uint32_t function)
{
	const struct load_gpu_function *f = load_gpu_find(&g->functions, function);
	if (!f)
		return (struct expand_kernel){MODEL_NONE, "", ""};
	const struct load_gpu_code *code = load_gpu_find(&g->codes, f->record->code);
	return (struct expand_kernel){code ? module_of[f->record->code] : MODEL_NONE, f->name, f->source_name};
}

static uint32_t code_of(const struct load_gpu *g, uint32_t function)
{
	const struct load_gpu_function *f = load_gpu_find(&g->functions, function);
	return f ? f->record->code : 0;
}

/* ---- gathering ---- */

static int compare_samples(const void *pa, const void *pb)
{
	const struct sample *a = pa, *b = pb;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->stall > b->stall) - (a->stall < b->stall);
}

static bool gather_samples(struct run *r)
{
	size_t kept = 0;
	for (size_t k = 0; k < r->g->pcs.n; k++)
		for (uint64_t i = 0; i < r->g->pcs.at[k].n; i++) {
			const struct msr_gpu_pc *p = load_gpu_at(&r->g->pcs.at[k], i);
			uint64_t cell = p->id ? map_get(&r->s->join->wanted, p->id & MSR_GPU_ID_MAX, 0) : MAP_NONE;
			struct sample *at = vec_push(&r->samples);
			if (!at)
				return false;
			*at = (struct sample){cell == MAP_NONE ? NO_CELL : (uint32_t)cell, p->function, p->offset, p->count, p->stall};
		}
	if (r->samples.n)
		qsort(r->samples.at, r->samples.n, sizeof *r->samples.at, compare_samples);
	for (size_t i = 0; i < r->samples.n; i++) {
		if (kept && compare_samples(&r->samples.at[kept - 1], &r->samples.at[i]) == 0)
			r->samples.at[kept - 1].count += r->samples.at[i].count;
		else
			r->samples.at[kept++] = r->samples.at[i];
	}
	r->samples.n = kept;
	return true;
}

/* Only differences in what the file says may decide the order: contexts are numbered as they were met. */
static int compare_launchers(const void *pa, const void *pb)
{
	const struct launcher *a = pa, *b = pb;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

static void add_launcher(struct launcher *to, const struct launcher *from)
{
	to->weight += from->weight;
	to->busy_ns += from->busy_ns;
	to->window_ns += from->window_ns;
	to->n_ops += from->n_ops;
}

static bool gather_launchers(struct run *r)
{
	const struct gpu_join *j = r->s->join;
	size_t kept = 0;
	for (size_t i = 0; i < j->cells.n; i++) {
		const struct gpu_cell *c = &j->cells.at[i];
		uint32_t function = gpu_join_function(r->g, c->shape);
		if (c->kind != MSR_GPU_KERNEL || !function)
			continue;
		struct launcher *at = vec_push(&r->launchers);
		if (!at)
			return false;
		uint64_t known_ns = c->cover.serialized_ns + c->cover.gap_ns;
		*at = (struct launcher){.function = function, .code = code_of(r->g, function), .thread = c->thread, .context = r->s->context_of[i],
			.weight = c->busy_ns > known_ns ? c->busy_ns - known_ns : 0, .busy_ns = c->busy_ns, .window_ns = c->cover.serialized_ns, .n_ops = c->n_ops};
	}
	if (r->launchers.n)
		qsort(r->launchers.at, r->launchers.n, sizeof *r->launchers.at, compare_launchers);
	for (size_t i = 0; i < r->launchers.n; i++) {
		struct launcher *l = &r->launchers.at[i];
		if (kept && compare_launchers(&r->launchers.at[kept - 1], l) == 0)
			add_launcher(&r->launchers.at[kept - 1], l);
		else
			r->launchers.at[kept++] = *l;
	}
	r->launchers.n = kept;
	return true;
}

/* ---- calls inside of GPU code ---- */

static bool find_codes(struct run *r)
{
	r->codes = malloc((r->g->functions.n + 1) * sizeof *r->codes);
	for (uint32_t i = 0; r->codes && i < r->g->functions.n; i++) {
		struct expand_kernel f = gpu_samples_function(r->g, r->s->module_of, i);
		const struct structure *s = expand_gpu_structure(r->s->expand, f.module);
		struct code *c = &r->codes[i];
		*c = (struct code){.module = f.module, .scope = s ? structure_find_function(s, f.name, NULL) : STRUCTURE_NONE};
		if (c->scope != STRUCTURE_NONE)
			c->entry = structure_get_scope(s, c->scope).entry;
	}
	return r->codes != NULL;
}

/* NULL: nothing is known of the function's code. */
static const struct code *code_at(const struct run *r, uint32_t function)
{
	return function < r->g->functions.n && r->codes[function].scope != STRUCTURE_NONE ? &r->codes[function] : NULL;
}

/* Samples at each address: call sites are weighed by them. */
static bool count_addresses(struct run *r)
{
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct sample *p = &r->samples.at[i];
		uint32_t stall = p->stall < r->g->stalls.n ? r->metric_of_stall[p->stall] : MODEL_NONE;
		const struct code *code = code_at(r, p->function);
		if (gpu_metrics_stall_flags(r->s->metrics, stall) & MSR_GPU_STALL_ONLY_NOT_ISSUED || !code)
			continue;
		uint64_t at = map_put(&r->count_index, code->module, code->entry + p->offset, r->counts.n);
		if (at == MAP_NONE || (at == r->counts.n && !vec_push(&r->counts)))
			return false;
		r->counts.at[at].n += p->count;
		r->counts.at[at].n_issues += gpu_metrics_counts_issues(r->s->metrics, stall) ? p->count : 0;
	}
	return true;
}

struct address_counts {
	const struct run *r;
	uint32_t module;
};

static struct gpu_call_counts counts_at(const void *arg, uint64_t link_addr)
{
	const struct address_counts *c = arg;
	uint64_t at = map_get(&c->r->count_index, c->module, link_addr);
	return at == MAP_NONE ? (struct gpu_call_counts){0, 0} : c->r->counts.at[at];
}

static const struct gpu_calls *calls_of(struct run *r, uint32_t module)
{
	for (size_t i = 0; i < r->modules.n; i++)
		if (r->modules.at[i].module == module)
			return &r->modules.at[i].calls;
	struct module_calls *new = vec_push(&r->modules);
	if (!new)
		return NULL;
	new->module = module;
	return gpu_calls_read(&new->calls, expand_gpu_structure(r->s->expand, module), counts_at, &(struct address_counts){r, module}) ? &new->calls : NULL;
}

static bool fill_route(struct run *r, struct route *route, uint32_t module, uint32_t kernel, uint32_t function)
{
	const struct gpu_calls *calls = calls_of(r, module);
	if (!calls || !gpu_calls_find(calls, kernel, function, &route->paths))
		return false;
	uint64_t weights[GPU_CALLS_MOST_PATHS];
	for (size_t i = 0; i < route->paths.n; i++)
		weights[i] = route->paths.at[i].weight;
	return !route->paths.n || gpu_shares_begin(&route->shares, weights, route->paths.n, GPU_SHARES_ROOT_TWO);
}

/* The route from one function scope to another, found once. NULL: no memory. */
static struct route *find_route(struct run *r, uint32_t module, uint32_t kernel, uint32_t function)
{
	uint64_t index = map_put(&r->route_index, (uint64_t)kernel << 32 | function, module, r->routes.n);
	if (index == MAP_NONE)
		return NULL;
	if (index < r->routes.n)
		return &r->routes.at[index];
	struct route *new = vec_push(&r->routes);
	return new && fill_route(r, new, module, kernel, function) ? new : NULL;
}

/* ---- counting ---- */

static uint32_t metric_of(const struct run *r, const struct sample *p)
{
	return p->stall < r->g->stalls.n ? r->metric_of_stall[p->stall] : MODEL_NONE;
}

/* It counts a second time what another reason counts already. */
static bool is_second(const struct run *r, const struct sample *p)
{
	return gpu_metrics_stall_flags(r->s->metrics, metric_of(r, p)) & MSR_GPU_STALL_ONLY_NOT_ISSUED;
}

/* Adds `count` samples of p's kind at a context. */
static bool add_at(struct run *r, const struct sample *p, uint32_t thread, uint32_t context, uint64_t count, enum certainty certainty)
{
	struct sum_extra x = {.thread = thread, .context = context, .n_samples = count, .sum = count};
	uint32_t stall = metric_of(r, p), metrics[4] = {stall, MODEL_NONE, MODEL_NONE, MODEL_NONE};
	if (!is_second(r, p)) {
		metrics[1] = GPU_SAMPLES;
		metrics[2] = stall != MODEL_NONE && !(gpu_metrics_stall_flags(r->s->metrics, stall) & MSR_GPU_STALL_ISSUED) ? GPU_STALLED : MODEL_NONE;
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
static bool account(struct run *r, const struct sample *p, uint32_t thread, uint32_t kernel, uint64_t count, enum certainty certainty)
{
	struct model_gpu_sampling *s = r->s->sampling;
	struct gpu_metrics *m = r->s->metrics;
	if (is_second(r, p)) {
		s->in_tree_not_issued += count;
		return true;
	}
	*(certainty == EXACT ? &s->in_tree_exact : certainty == APPORTIONED ? &s->in_tree_apportioned : &s->in_tree_unattributed) += count;
	*(certainty == EXACT ? &m->n_exact : certainty == APPORTIONED ? &m->n_apportioned : &m->n_unattributed) += count;
	uint64_t at = map_put(&r->kernel_index, thread, kernel, r->kernels.n);
	if (at == MAP_NONE || (at == r->kernels.n && !vec_push(&r->kernels)))
		return false;
	r->kernels.at[at] = (struct kernel_samples){thread, kernel, r->kernels.at[at].n + count};
	return true;
}

/* Samples that are being dealt out over the ways to their function. */
struct dealing {
	struct run *r;
	const struct sample *p;
	const struct route *route;
	uint32_t thread, kernel, module;
	uint64_t link_addr;
	enum certainty certainty;
};

static bool give_to_path(void *arg, size_t i, uint64_t part)
{
	const struct dealing *d = arg;
	const struct gpu_call_path *path = &d->route->paths.at[i];
	uint32_t at = d->kernel; /* the placeholder: its child is the kernel, whose frame is the first call's */
	for (uint32_t k = 0; k < path->n; k++)
		at = expand_gpu_frame(d->r->s->expand, at, d->module, path->calls[k]);
	return add_at(d->r, d->p, d->thread, expand_gpu_frame(d->r->s->expand, at, d->module, d->link_addr), part, d->certainty);
}

/*
 * Counts `count` samples at their place below the kernel context: in the kernel itself, or where calls lead from it to the function that was sampled.
 * `launched`: the kernel's function id. `certainty`: that the kernel's context is the right one.
 */
static bool count_at(struct run *r, const struct sample *p, uint32_t thread, uint32_t kernel, uint32_t launched, uint64_t count, enum certainty certainty)
{
	const struct code *code = code_at(r, p->function), *kernel_code = code_at(r, launched);
	struct route *route = NULL;
	if (code && kernel_code && code->module == kernel_code->module) {
		uint32_t at = gpu_calls_function_at(expand_gpu_structure(r->s->expand, code->module), code->entry + p->offset);
		if (at != STRUCTURE_NONE && at != kernel_code->scope && !(route = find_route(r, code->module, kernel_code->scope, at)))
			return false;
	}
	if (certainty == EXACT && route && route->paths.n > 1) {
		certainty = APPORTIONED;
		r->s->sampling->apportioned_by_calls += is_second(r, p) ? 0 : count;
	}
	if (!account(r, p, thread, kernel, count, certainty))
		return false;
	if (!route || !route->paths.n) {
		struct expand_kernel f = gpu_samples_function(r->g, r->s->module_of, p->function);
		return add_at(r, p, thread, expand_gpu_place(r->s->expand, kernel, &f, p->offset), count, certainty);
	}
	struct dealing d = {r, p, route, thread, expand_gpu_parent(r->s->expand, kernel), code->module, code->entry + p->offset, certainty};
	return gpu_shares_deal(&route->shares, count, give_to_path, &d);
}

/* A kernel context for samples that have none: `f` itself as a kernel below `parent`. */
static uint32_t kernel_below(struct run *r, uint32_t parent, uint32_t function)
{
	struct expand_kernel f = gpu_samples_function(r->g, r->s->module_of, function);
	return expand_gpu_kernel(r->s->expand, expand_gpu_placeholder(r->s->expand, parent, MSR_GPU_KERNEL, 0), &f);
}

static bool count_exact(struct run *r, const struct sample *p)
{
	const struct gpu_cell *c = &r->s->join->cells.at[p->cell];
	uint32_t launched = gpu_join_function(r->g, c->shape);
	return count_at(r, p, c->thread, r->s->context_of[p->cell], launched ? launched : p->function, p->count, EXACT);
}

/* Whether calls lead from a kernel to a function of the file. False when memory is short, or nothing is known of them. */
static bool leads_to(struct run *r, uint32_t kernel, uint32_t function, bool *leads)
{
	const struct code *code = code_at(r, function), *kernel_code = code_at(r, kernel);
	if (!code || !kernel_code || code->module != kernel_code->module)
		return false;
	const struct route *route = find_route(r, code->module, kernel_code->scope, code->scope);
	*leads = route && route->paths.n;
	return route != NULL;
}

/* Appends those who launched function `launched`. */
static size_t copy_launchers(const struct run *r, uint32_t launched, struct launcher *to)
{
	size_t begin = 0, high = r->launchers.n, n = 0;
	while (begin < high) {
		size_t middle = begin + (high - begin) / 2;
		if (r->launchers.at[middle].function < launched)
			begin = middle + 1;
		else
			high = middle;
	}
	while (begin + n < r->launchers.n && r->launchers.at[begin + n].function == launched)
		n++;
	if (n)
		memcpy(to, r->launchers.at + begin, n * sizeof *to);
	return n;
}

/* A kernel of the same name of another code object: where two hold it, the vendor's record of the kernel does not say which one ran. */
static size_t copy_namesakes(const struct run *r, uint32_t function, struct launcher *to)
{
	const struct load_gpu_function *f = load_gpu_find(&r->g->functions, function);
	size_t n = 0;
	for (uint32_t i = 0; f && f->name[0] && i < r->g->functions.n; i++) {
		const struct load_gpu_function *other = load_gpu_find(&r->g->functions, i);
		if (other && other != f && strcmp(other->name, f->name) == 0)
			n += copy_launchers(r, i, to + n);
	}
	return n;
}

/* A device function belongs to those from whose kernel calls lead to it; where no call is known, to all kernels of its code object. */
static size_t copy_callers(struct run *r, uint32_t function, struct launcher *to)
{
	uint32_t code = code_of(r->g, function);
	size_t n = 0;
	for (unsigned any = 0; code && any < 2 && !n; any++)
		for (size_t i = 0; i < r->launchers.n; i++) {
			bool leads = any;
			if (r->launchers.at[i].code == code && (any || leads_to(r, r->launchers.at[i].function, function, &leads)) && leads)
				to[n++] = r->launchers.at[i];
		}
	return n;
}

/* Those who may have had the function run; *list is the caller's. */
static bool find_launchers(struct run *r, uint32_t function, struct launcher **list, size_t *n)
{
	*list = malloc((r->launchers.n ? r->launchers.n : 1) * sizeof **list);
	*n = *list ? copy_launchers(r, function, *list) : 0;
	if (*list && !*n)
		*n = copy_namesakes(r, function, *list);
	if (*list && !*n)
		*n = copy_callers(r, function, *list);
	return *list != NULL;
}

struct sharing {
	struct run *r;
	const struct sample *p;
	const struct launcher *list;
	size_t n;
	bool by_launches;
};

/* A damaged file may name functions that are not defined: they count as one. */
static uint64_t *apportioned_of(const struct run *r, uint32_t function)
{
	return &r->n_apportioned[function < r->g->functions.n ? function : 0];
}

static bool give_to_launcher(void *arg, size_t i, uint64_t part)
{
	const struct sharing *s = arg;
	const struct launcher *l = &s->list[i];
	if (s->n > 1 && !is_second(s->r, s->p)) {
		*apportioned_of(s->r, l->function) += part;
		s->r->s->sampling->apportioned_by_launches += s->by_launches ? part : 0;
	}
	return count_at(s->r, s->p, l->thread, l->context, l->function, part, s->n == 1 ? EXACT : APPORTIONED);
}

/* By the time in which samples did not know their launch; where there is none, by all of it; where no times are known, by launches. Returns which it was. */
static bool weigh_launchers(const struct launcher *list, size_t n, uint64_t *weights)
{
	uint64_t unknown_ns = 0, busy_ns = 0;
	for (size_t i = 0; i < n; i++) {
		unknown_ns += list[i].weight;
		busy_ns += list[i].busy_ns;
	}
	for (size_t i = 0; i < n; i++)
		weights[i] = unknown_ns ? list[i].weight : busy_ns ? list[i].busy_ns : list[i].n_ops;
	return !busy_ns;
}

static bool share_out(struct run *r, const struct sample *p, size_t n_samples, const struct launcher *list, size_t n)
{
	uint64_t *weights = malloc(n * sizeof *weights);
	struct gpu_shares shares = {0};
	bool by_launches = weights && weigh_launchers(list, n, weights), ok = weights && gpu_shares_begin(&shares, weights, n, GPU_SHARES_GOLDEN);
	for (size_t k = 0; ok && k < n_samples; k++)
		ok = gpu_shares_deal(&shares, p[k].count, give_to_launcher, &(struct sharing){r, &p[k], list, n, by_launches});
	gpu_shares_end(&shares);
	free(weights);
	return ok;
}

/* Samples p[0 .. n-1] of one function without a known launch. */
static bool apportion(struct run *r, const struct sample *p, size_t n)
{
	struct launcher *list;
	size_t n_launchers;
	bool ok = find_launchers(r, p->function, &list, &n_launchers);
	if (ok && n_launchers) {
		ok = share_out(r, p, n, list, n_launchers);
	} else if (ok) {
		uint32_t nowhere = kernel_below(r, expand_gpu_entry(r->s->expand, MODEL_ENTRY_GPU_NO_LAUNCH), p->function);
		for (size_t k = 0; ok && k < n; k++)
			ok = count_at(r, &p[k], 0, nowhere, p->function, p[k].count, UNATTRIBUTED);
	}
	free(list);
	return ok;
}

static bool count_all(struct run *r)
{
	for (size_t i = 0, end; i < r->samples.n; i = end) {
		const struct sample *p = &r->samples.at[i];
		end = i + 1;
		if (p->cell != NO_CELL) {
			if (!count_exact(r, p))
				return false;
			continue;
		}
		while (end < r->samples.n && r->samples.at[end].cell == NO_CELL && r->samples.at[end].function == p->function)
			end++;
		if (!apportion(r, p, end - i))
			return false;
	}
	return true;
}

/* ---- the yardstick: samples that know their launch against the apportioning ---- */

/* One such sample, of the launcher with this index in run.launchers. */
struct known {
	uint32_t launcher;
	struct gpu_yard_sample sample;
};

static int compare_known(const void *pa, const void *pb)
{
	const struct known *a = pa, *b = pb;
	return (a->launcher > b->launcher) - (a->launcher < b->launcher);
}

typedef VEC(struct known) knowns;

static bool gather_known(struct run *r, knowns *list)
{
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct sample *p = &r->samples.at[i];
		if (p->cell == NO_CELL || is_second(r, p))
			continue;
		const struct gpu_cell *c = &r->s->join->cells.at[p->cell];
		struct launcher key = {.function = gpu_join_function(r->g, c->shape), .thread = c->thread, .context = r->s->context_of[p->cell]};
		const struct launcher *l = r->launchers.n ? bsearch(&key, r->launchers.at, r->launchers.n, sizeof key, compare_launchers) : NULL;
		struct known *at = l ? vec_push(list) : NULL;
		if (!l)
			continue;
		if (!at)
			return false;
		*at = (struct known){(uint32_t)(l - r->launchers.at), {.function = p->function, .offset = p->offset, .count = p->count}};
	}
	if (list->n)
		qsort(list->at, list->n, sizeof *list->at, compare_known);
	return true;
}

/* The samples of a function that do not know their launch: a stretch of the sorted list. */
static size_t find_unknown(const struct run *r, uint32_t function, size_t *n)
{
	size_t low = 0, high = r->samples.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sample *p = &r->samples.at[middle];
		if (p->function < function || (p->function == function && p->cell != NO_CELL))
			low = middle + 1;
		else
			high = middle;
	}
	for (*n = 0; low + *n < r->samples.n && r->samples.at[low + *n].function == function; (*n)++)
		;
	return low;
}

/* Lists of one kernel for the yardstick; freed by the caller, also after false. */
static bool list_kernel(struct run *r, size_t begin, size_t end, const struct known *list, size_t n, struct gpu_yard_input *in, struct gpu_yard_context **contexts)
{
	uint32_t function = r->launchers.at[begin].function;
	size_t n_unknown, first = find_unknown(r, function, &n_unknown);
	*contexts = malloc((end - begin) * sizeof **contexts);
	*in = (struct gpu_yard_input){.contexts = *contexts, .n_contexts = end - begin, .function = function, .known = malloc((n ? n : 1) * sizeof *in->known),
		.unknown = malloc((n_unknown ? n_unknown : 1) * sizeof *in->unknown)};
	if (!*contexts || !in->known || !in->unknown)
		return false;
	for (size_t i = begin; i < end; i++)
		(*contexts)[i - begin] = (struct gpu_yard_context){r->launchers.at[i].window_ns, r->launchers.at[i].weight};
	for (size_t i = 0; i < n; i++) {
		in->known[in->n_known] = list[i].sample;
		in->known[in->n_known++].context = list[i].launcher - (uint32_t)begin;
	}
	for (size_t i = 0; i < n_unknown; i++) {
		const struct sample *p = &r->samples.at[first + i];
		if (!is_second(r, p))
			in->unknown[in->n_unknown++] = (struct gpu_yard_sample){.function = function, .offset = p->offset, .count = p->count};
	}
	return true;
}

/* The kernel whose launchers are [begin, end), of which n samples are known. Adds to *found where there was something to compare. */
static bool measure_kernel(struct run *r, size_t begin, size_t end, const struct known *list, size_t n, struct model_gpu_yardstick *found, uint32_t *n_found)
{
	struct gpu_yard_input in;
	struct gpu_yard_context *contexts;
	struct gpu_yard yard = {0};
	bool ok = list_kernel(r, begin, end, list, n, &in, &contexts) && gpu_yardstick(&in, &yard);
	if (ok && yard.n_contexts)
		found[(*n_found)++] = (struct model_gpu_yardstick){.context = r->launchers.at[begin].context, .n_contexts = yard.n_contexts, .n_samples = yard.n_samples,
			.n_apportioned = *apportioned_of(r, r->launchers.at[begin].function), .wrong_context = yard.wrong_context, .chance_context = yard.chance_context,
			.wrong_place = yard.wrong_place, .chance_place = yard.chance_place};
	free(contexts);
	free(in.known);
	free(in.unknown);
	return ok;
}

/* Each kernel counts by the samples that were apportioned of it; where none were at all (all ran serialized), by those that were measured. */
static void weigh(struct model_gpu_sampling *s)
{
	uint64_t n_apportioned = 0;
	for (uint32_t i = 0; i < s->n_yardsticks; i++)
		n_apportioned += s->yardsticks[i].n_apportioned;
	for (uint32_t i = 0; i < s->n_yardsticks; i++)
		gpu_sampling_add_yardstick(s, &s->yardsticks[i], (double)(n_apportioned ? s->yardsticks[i].n_apportioned : s->yardsticks[i].n_samples));
}

static bool measure(struct run *r)
{
	knowns list = {0};
	uint32_t n_found = 0;
	struct model_gpu_yardstick *found = malloc((r->launchers.n + 1) * sizeof *found);
	bool ok = found && gather_known(r, &list);
	for (size_t i = 0, end, k = 0; ok && i < r->launchers.n; i = end) {
		size_t first = k;
		for (end = i + 1; end < r->launchers.n && r->launchers.at[end].function == r->launchers.at[i].function;)
			end++;
		while (k < list.n && list.at[k].launcher < end)
			k++;
		if (end - i > 1 && k > first)
			ok = measure_kernel(r, i, end, list.at + first, k - first, found, &n_found);
	}
	vec_free(&list);
	if (!ok || !n_found) {
		free(found);
		return ok;
	}
	*r->s->yardsticks = found;
	r->s->sampling->yardsticks = found;
	r->s->sampling->n_yardsticks = n_found;
	weigh(r->s->sampling);
	return true;
}

/* ---- GSAMP: what was sampled and what was to be expected, by kernel ---- */

static bool add_metric(const struct run *r, uint32_t metric, uint32_t thread, uint32_t context, uint64_t n)
{
	struct sum_extra x = {.thread = thread, .context = context, .metric = metric, .n_samples = 1, .sum = n};
	return gpu_metrics_add(r->s->metrics, r->s->extras, &x);
}

static bool add_expected(struct run *r, bool *any)
{
	const struct gpu_join *j = r->s->join;
	bool ok = true;
	for (size_t i = 0; ok && i < j->cells.n; i++) {
		double expected = j->cells.at[i].cover.expected;
		uint64_t n = expected < 1e15 ? (uint64_t)(expected + 0.5) : 0; /* more says that the file is damaged */
		*any |= n > 0;
		ok = !n || add_metric(r, GPU_SAMPLES_EXPECTED, j->cells.at[i].thread, r->s->context_of[i], n);
	}
	return ok;
}

/* Samples of no known code stand where there is no known launch. */
static bool add_sampled(struct run *r)
{
	const struct model_gpu_sampling *s = r->s->sampling;
	bool has_expected = false, ok = add_expected(r, &has_expected);
	for (size_t i = 0; ok && i < r->kernels.n; i++) {
		const struct kernel_samples *k = &r->kernels.at[i];
		ok = add_metric(r, GPU_SAMPLED, k->thread, k->context, k->n) && (!has_expected || add_metric(r, GPU_UTILISATION, k->thread, k->context, 100 * k->n));
	}
	if (!ok || !s->n_ranges)
		return ok;
	uint32_t nowhere = 0;
	if (s->dropped || s->outside)
		nowhere = expand_gpu_placeholder(r->s->expand, expand_gpu_entry(r->s->expand, MODEL_ENTRY_GPU_NO_LAUNCH), MSR_GPU_KERNEL, 0);
	return add_metric(r, GPU_SAMPLES_DROPPED, 0, nowhere, s->dropped) && add_metric(r, GPU_SAMPLES_OUTSIDE, 0, nowhere, s->outside);
}

/* ---- counters ---- */

static bool add_values(const struct gpu_sampled *s)
{
	const struct load_gpu *g = &s->join->file->gpu;
	for (size_t k = 0; k < g->values.n; k++)
		for (uint64_t i = 0; i < g->values.at[k].n; i++) {
			const struct msr_gpu_value *v = load_gpu_at(&g->values.at[k], i);
			uint64_t cell = v->id ? map_get(&s->join->wanted, v->id & MSR_GPU_ID_MAX, 0) : MAP_NONE;
			struct sum_extra x = {.metric = gpu_metrics_counter(s->metrics, g, v->counter), .n_samples = 1, .sum = v->value};
			if (x.metric == MODEL_NONE) {
				s->join->file->bytes_damaged += sizeof *v;
				continue;
			}
			x.thread = cell == MAP_NONE ? 0 : s->join->cells.at[cell].thread;
			x.context = cell == MAP_NONE ? expand_gpu_entry(s->expand, MODEL_ENTRY_GPU_NO_LAUNCH) : s->context_of[cell];
			if (!gpu_metrics_add(s->metrics, s->extras, &x))
				return false;
		}
	return true;
}

bool gpu_samples_add(const struct gpu_sampled *s)
{
	struct run r = {.s = s, .g = &s->join->file->gpu};
	r.metric_of_stall = malloc((r.g->stalls.n + 1) * sizeof *r.metric_of_stall);
	for (uint32_t i = 0; r.metric_of_stall && i < r.g->stalls.n; i++)
		r.metric_of_stall[i] = gpu_metrics_stall(s->metrics, r.g, i);
	r.n_apportioned = calloc(r.g->functions.n + 1, sizeof *r.n_apportioned);
	bool ok = r.metric_of_stall && r.n_apportioned && gpu_sampling_count(s->sampling, s->join) && gather_samples(&r);
	if (ok && r.samples.n)
		ok = gather_launchers(&r) && find_codes(&r) && count_addresses(&r) && count_all(&r) && measure(&r);
	ok = ok && add_sampled(&r) && add_values(s);
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
