/* SPDX-License-Identifier: BSD-3-Clause */
/* See omp_regions.h. Test: tests/unit/prof/test_omp_regions.c. */
#include "hpcprof-lite/attribute/expand/omp_regions.h"

#include "hpcprof-lite/attribute/expand/expand_run.h"

#include <stdlib.h>

/* ---- addresses ---- */

static uint32_t module_of_address(const struct load_file *f, const uint32_t *module_of,
				  msr_addr addr)
{
	const uint16_t id = msr_addr_module(addr);
	return id != MSR_MODULE_NONE && id < f->modules.n && f->modules.at[id].record
		       ? module_of[id]
		       : MODEL_NONE;
}

static bool collect_regions(void *none, struct topic_run *run)
{
	const struct load_job *job = run->job;
	uint32_t *const *module_of = run->module_of;
	(void)none;
	for (size_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		for (size_t k = 0; k < f->regions.n; k++) {
			const struct load_region *r = &f->regions.at[k];
			struct omp_region *new = vec_push(&run->expand->regions);
			if (!new)
				return false;
			*new = (struct omp_region){
				.sums = {.process = (uint32_t)i,
					 .n_threads = r->n_threads,
					 .schedule = r->schedule,
					 .instances = r->instances,
					 .elapsed_ns = r->elapsed_ns,
					 .n_timed = r->n_timed,
					 .busy_ns = r->busy_ns,
					 .max_ns = r->max_ns,
					 .min_ns = r->min_ns},
				.call_module = module_of_address(f, module_of[i], r->call),
				.function_module = module_of_address(f, module_of[i], r->function),
				.call_addr = msr_addr_link(r->call),
				.function_addr = msr_addr_link(r->function)};
		}
	}
	return true;
}

static bool need_modules(const void *none, const struct topic_run *run, bool *needed, size_t n)
{
	const struct expand *e = run->expand;
	(void)none;
	(void)n;
	for (size_t i = 0; i < e->regions.n; i++) {
		const struct omp_region *r = &e->regions.at[i];
		if (r->call_module != MODEL_NONE)
			needed[r->call_module] = true;
		if (r->function_module != MODEL_NONE)
			needed[r->function_module] = true;
	}
	return true;
}

/* ---- functions and lines ---- */

struct place {
	uint32_t function, file, line;
};

/* The function that the compiler made. is_inner: the innermost function that is inlined there. */
static uint32_t find_function(struct expand_run *r, uint32_t module, uint32_t scope, bool is_inner)
{
	const struct structure *s = r->modules[module].structure;
	struct structure_scope at = {.kind = STRUCTURE_LOOP, .parent = scope};
	do
		at = structure_get_scope(s, at.parent);
	while (at.parent != STRUCTURE_NONE && (!is_inner || at.kind == STRUCTURE_LOOP));
	return expand_find_function(r, module, &at, false);
}

static struct place find_place(struct expand_run *r, uint32_t module, uint64_t addr, bool is_inner)
{
	struct place found = {.function = MODEL_NONE, .file = MODEL_NONE};
	struct structure_place place;
	if (module == MODEL_NONE || r->modules[module].is_python || r->modules[module].is_jit)
		return found;
	const struct structure *s = r->modules[module].structure;
	if (!s || !structure_lookup(s, addr, &place) || place.scope == STRUCTURE_NONE) {
		found.function = expand_find_unknown(r, module, false);
		return found;
	}
	found.function = find_function(r, module, place.scope, is_inner);
	if (place.file != STRUCTURE_NONE && place.line) {
		found.file = expand_find_file(r, module, place.file);
		found.line = place.line;
	}
	return found;
}

void omp_regions_enter(struct expand_run *r)
{
	for (size_t i = 0; i < r->e->regions.n && !r->failed; i++) {
		struct omp_region *region = &r->e->regions.at[i];
		const struct place call =
			find_place(r, region->call_module, region->call_addr, true);
		const struct place function =
			find_place(r, region->function_module, region->function_addr, false);
		region->sums.function = function.function;
		region->sums.call_function = call.function;
		region->sums.file = call.file;
		region->sums.line = call.line;
		region->sums.call_addr = call.function == MODEL_NONE ? 0 : region->call_addr;
	}
}

/* ---- the model ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Compares everything that makes two regions the same. */
static int compare_identity(const void *pa, const void *pb)
{
	const struct model_omp_region *a = pa, *b = pb;
	const uint32_t ka[] = {a->process, a->function, a->call_function,
			       a->file,    a->line,     a->n_threads},
		       kb[] = {b->process, b->function, b->call_function,
			       b->file,    b->line,     b->n_threads};
	int c = 0;
	for (unsigned i = 0; i < sizeof ka / sizeof *ka && c == 0; i++)
		c = compare_u64(ka[i], kb[i]);
	return c || a->line ? c : compare_u64(a->call_addr, b->call_addr);
}

static int compare_for_model(const void *pa, const void *pb)
{
	const struct model_omp_region *a = pa, *b = pb;
	int c = compare_u64(a->process, b->process);
	if (c == 0)
		c = compare_u64(b->elapsed_ns, a->elapsed_ns);
	return c ? c : compare_identity(pa, pb);
}

static void add(uint64_t *to, uint64_t n)
{
	*to = n > UINT64_MAX - *to ? UINT64_MAX : *to + n;
}

static void add_region(struct model_omp_region *to, const struct model_omp_region *r)
{
	to->schedule = msr_omp_schedule_of_both(to->schedule, r->schedule);
	to->call_addr = r->call_addr < to->call_addr ? r->call_addr : to->call_addr;
	add(&to->instances, r->instances);
	add(&to->elapsed_ns, r->elapsed_ns);
	add(&to->n_timed, r->n_timed);
	add(&to->busy_ns, r->busy_ns);
	add(&to->max_ns, r->max_ns);
	add(&to->min_ns, r->min_ns);
}

bool omp_regions_put(struct model *m, const struct expand *e, const uint32_t *function_rank,
		     const uint32_t *file_rank)
{
	const size_t n = e->regions.n;
	if (!n)
		return true;
	struct model_omp_region *out = model_own(m, calloc(n, sizeof *out));
	if (!out)
		return false;
	for (size_t i = 0; i < n; i++) {
		out[i] = e->regions.at[i].sums;
		if (out[i].function != MODEL_NONE)
			out[i].function = function_rank[out[i].function];
		if (out[i].call_function != MODEL_NONE)
			out[i].call_function = function_rank[out[i].call_function];
		if (out[i].file != MODEL_NONE)
			out[i].file = file_rank[out[i].file];
	}
	qsort(out, n, sizeof *out, compare_identity);
	size_t last = 0;
	for (size_t i = 1; i < n; i++)
		if (compare_identity(&out[last], &out[i]) == 0)
			add_region(&out[last], &out[i]);
		else
			out[++last] = out[i];
	qsort(out, last + 1, sizeof *out, compare_for_model);
	m->omp_regions = out;
	m->n_omp_regions = (uint32_t)(last + 1);
	return true;
}

const struct topic_ops topic_omp = {.steps = {[TOPIC_JOIN] = collect_regions},
				    .need = need_modules};
