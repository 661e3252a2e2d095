/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See gpu_attribute.h. gpu_describe.c describes devices and queues in the model. Tests:
 * tests/unit/prof_gpu/test_gpu_model.c, tests/cli/prof/prof_gpu.sh.
 */
#include "hpcprof-lite/attribute/gpu/gpu_attribute.h"

#include "common/base/pool.h"
#include "hpcprof-lite/attribute/expand/share_contexts.h"
#include "hpcprof-lite/attribute/gpu/gpu_ledger.h"
#include "hpcprof-lite/attribute/gpu/gpu_share.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples.h"
#include "hpcprof-lite/load/structures.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- join ---- */

/* True if this part joins the operations of the file. */
static bool has_join(const struct gpu_part *g, size_t file)
{
	return g->job->files.at[file].gpu.is_present && load_is_found(g->job, file);
}

struct joining {
	struct gpu_part *g;
	atomic_bool failed;
};

static void join_one(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct joining *w = arg;
	struct load_file *f = &w->g->job->files.at[i];
	if (!has_join(w->g, i) || atomic_load(&w->failed))
		return;
	if (gpu_join_run(&w->g->files[i].join, f))
		gpu_ledger_make(&w->g->files[i].join);
	else
		atomic_store(&w->failed, true);
}

bool gpu_join_all(struct gpu_part *g, struct load_job *job, unsigned n_workers)
{
	g->job = job;
	for (size_t i = 0; i < job->files.n; i++)
		g->is_present |= job->files.at[i].gpu.is_present;
	if (!g->is_present)
		return true;
	g->files = calloc(job->files.n, sizeof *g->files);
	if (!g->files || !gpu_metrics_init(&g->metrics, job))
		return false;
	struct joining w = {.g = g};
	pool_run_shown("joining GPU operations of files", job->files.n, n_workers, join_one, &w);
	return !atomic_load(&w.failed);
}

/* ---- code objects as modules ---- */

struct code_record {
	struct msr_module
		record; /* as for a loaded binary; the hash of the content is the build id */
};

/*
 * The path of the kept content, absolute if possible. Content that was not kept is named by its
 * hash. The caller owns it.
 */
static char *code_path(const struct load_file *f, const struct load_gpu_code *c)
{
	char *path = NULL, *directory = NULL, *real = NULL;
	int n;
	if (c->record->kind == MSR_GPU_CODE_BUILTIN)
		return strdup("<built into the GPU's run time>");
	if (!c->name[0]) {
		n = asprintf(&path, "<code object %016llx%016llx>",
			     (unsigned long long)c->record->hash[0],
			     (unsigned long long)c->record->hash[1]);
		return n < 0 ? NULL : path;
	}
	directory = strdup(f->path ? f->path : "");
	char *slash = directory ? strrchr(directory, '/') : NULL;
	if (slash)
		slash[slash == directory] = 0;
	if (directory && f->path)
		real = realpath(slash ? directory : ".", NULL);
	n = directory
		    ? asprintf(&path, "%s%sgpubins/%s", real ? real : "", real ? "/" : "", c->name)
		    : -1;
	free(directory);
	free(real);
	return n < 0 ? NULL : path;
}

static struct code_record *make_record(struct model *m, const struct load_gpu_code *c)
{
	struct code_record *r = calloc(1, sizeof *r);
	if (!model_own(m, r))
		return NULL;
	r->record.flags = LOAD_MODULE_GPU;
	r->record.file_bytes = c->record->content_bytes;
	r->record.build_id_bytes = 16;
	for (unsigned i = 0; i < 16; i++)
		r->record.build_id[i] = (uint8_t)(c->record->hash[i / 8] >> (56 - 8 * (i % 8)));
	return r;
}

/*
 * Equal contents of several processes become one module. Its path is the first path that holds the
 * content, or the first path at all.
 */
static bool add_module(struct gpu_part *g, struct merge_modules *modules, struct model *m,
		       struct map *by_hash, uint32_t file, uint32_t id)
{
	const struct load_gpu_code *c = &g->job->files.at[file].gpu.codes.at[id];
	char *path = code_path(&g->job->files.at[file], c);
	if (!model_own(m, path))
		return false;
	uint64_t index = map_put(by_hash, c->record->hash[0],
				 c->record->hash[1] ^
					 (uint64_t)(c->record->kind == MSR_GPU_CODE_BUILTIN) << 63,
				 modules->list.n);
	if (index == MAP_NONE)
		return false;
	g->files[file].module_of[id] = (uint32_t)index;
	if (index < modules->list.n) {
		struct merge_module *old = &modules->list.at[index];
		bool is_kept = path[0] != '<', was_kept = old->path[0] != '<';
		if (is_kept != was_kept ? is_kept : strcmp(path, old->path) < 0)
			old->path = path;
		return true;
	}
	struct code_record *r = make_record(m, c);
	struct merge_module *new = r ? vec_push(&modules->list) : NULL;
	if (new)
		*new = (struct merge_module){&r->record, path, LOAD_MODULE_GPU};
	return new != NULL;
}

bool gpu_add_modules(struct gpu_part *g, struct merge_modules *modules, struct model *m)
{
	struct map by_hash = {0};
	bool ok = true;
	g->n_cpu_modules = (uint32_t)modules->list.n;
	for (uint32_t i = 0; ok && g->is_present && i < g->job->files.n; i++) {
		const struct load_gpu *in = &g->job->files.at[i].gpu;
		ok = (g->files[i].module_of = malloc((in->codes.n + 1) * sizeof(uint32_t))) != NULL;
		for (uint32_t id = 0; ok && id < in->codes.n; id++) {
			g->files[i].module_of[id] = MODEL_NONE;
			if (in->codes.at[id].record)
				ok = add_module(g, modules, m, &by_hash, i, id);
		}
	}
	map_free(&by_hash);
	return ok;
}

static void need_function(const struct gpu_file *f, const struct load_gpu *in, uint32_t function,
			  bool *needed)
{
	struct expand_kernel k = gpu_samples_function(in, f->module_of, function);
	if (k.module != MODEL_NONE)
		needed[k.module] = true;
}

static void need_modules(const struct gpu_part *g, bool *needed)
{
	for (size_t i = 0; g->is_present && i < g->job->files.n; i++) {
		const struct gpu_file *f = &g->files[i];
		const struct load_gpu *in = &g->job->files.at[i].gpu;
		if (!load_is_found(g->job, i))
			continue;
		for (size_t c = 0; c < f->join.cells.n; c++)
			need_function(f, in, gpu_join_function(in, f->join.cells.at[c].shape),
				      needed);
		for (size_t k = 0; k < in->pcs.n; k++)
			for (uint64_t s = 0; s < in->pcs.at[k].n; s++)
				need_function(
					f, in,
					((const struct msr_gpu_pc *)load_gpu_at(&in->pcs.at[k], s))
						->function,
					needed);
	}
}

bool gpu_need_modules(const struct gpu_part *g, bool *needed, size_t n)
{
	need_modules(g, needed);
	return !g->is_present || !g->job->is_split || gpu_share_needed(g, true, needed, n);
}

/* ---- contexts and values ---- */

struct hanging {
	struct gpu_part *g;
	struct expand_run *run;
	uint32_t (*node_context)(const void *arg, uint32_t file, uint32_t thread, uint32_t node);
	const void *arg;
	bool has_causes;
};

static uint32_t hang_cell(const struct hanging *h, uint32_t file, const struct gpu_cell *c)
{
	const struct gpu_file *f = &h->g->files[file];
	const struct load_gpu *in = &h->g->job->files.at[file].gpu;
	uint32_t parent = c->place == GPU_ON_PATH
				  ? h->node_context(h->arg, file, c->thread, c->node)
				  : expand_gpu_entry(h->run, c->place == GPU_NO_PATH
								     ? MODEL_ENTRY_GPU_NO_PATH
								     : MODEL_ENTRY_GPU_NO_LAUNCH);
	if (c->kind == GPU_CELL_REFUSED)
		return expand_gpu_refused(h->run, parent, c->detail, c->site);
	uint32_t at = expand_gpu_placeholder(h->run, parent, c->kind, c->detail);
	if (c->kind != MSR_GPU_KERNEL)
		return at;
	if (c->site) {
		const struct gpu_site *site = &f->join.graph.sites.at[c->site];
		at = expand_gpu_graph_node(h->run, at,
					   h->node_context(h->arg, file, site->thread, site->node));
	}
	struct expand_kernel k =
		gpu_samples_function(in, f->module_of, gpu_join_function(in, c->shape));
	return expand_gpu_kernel(h->run, at, &k);
}

static bool expand_file(const struct hanging *h, uint32_t file)
{
	struct gpu_file *f = &h->g->files[file];
	size_t n = f->join.cells.n;
	f->context_of = malloc((n + 1) * sizeof *f->context_of);
	if (!f->context_of)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct gpu_cell *c = &f->join.cells.at[i];
		f->context_of[i] = hang_cell(h, file, c);
		if (!gpu_metrics_add_cell(&h->g->metrics, &f->extras,
					  &h->g->job->files.at[file].gpu, c, f->context_of[i]))
			return false;
	}
	if (!gpu_memory_add(&h->g->memory, file, &f->join, f->context_of, &h->g->metrics,
			    &f->extras))
		return false;
	struct gpu_sampled s = {&f->join,       f->context_of, f->module_of, h->run,
				&h->g->metrics, &f->extras,    &f->sampling, &f->yardsticks,
				h->has_causes ? &f->blames : NULL};
	bool ok = gpu_samples_add(&s);
	gpu_blame_close(&f->blames);
	return ok;
}

/* True if some structure lists what instructions wait for. */
static bool have_causes(const struct expand_module *modules, uint32_t n_modules)
{
	for (uint32_t i = 0; i < n_modules; i++)
		if (modules[i].structure && structure_n_waits(modules[i].structure))
			return true;
	return false;
}

bool gpu_expand(struct gpu_part *g, struct expand *e, const struct expand_module *modules,
		uint32_t n_modules,
		uint32_t (*node_context)(const void *arg, uint32_t file, uint32_t thread,
					 uint32_t node),
		const void *arg)
{
	if (!g->is_present)
		return true;
	struct hanging h = {g, expand_gpu_begin(e, modules, n_modules), node_context, arg,
			    have_causes(modules, n_modules)};
	const struct share_base base = share_contexts_begin(e);
	bool ok = h.run != NULL;
	for (uint32_t i = 0; ok && i < g->job->files.n; i++)
		if (has_join(g, i))
			ok = expand_file(&h, i);
	if (g->job->is_split)
		ok = share_contexts(g->job->comm, ok, h.run, &base) && gpu_share_joins(g, true);
	return h.run && expand_gpu_end(h.run) && ok;
}

/* Groups the values by thread. */
static bool sort_extras(struct gpu_file *f, size_t n_threads)
{
	gpu_extras sorted = {0};
	f->first_extra = calloc(n_threads + 2, sizeof *f->first_extra);
	if (!f->first_extra || (f->extras.n && !vec_extend(&sorted, f->extras.n)))
		return false;
	for (size_t i = 0; i < f->extras.n; i++)
		f->first_extra[f->extras.at[i].thread + 2]++;
	for (size_t i = 0; i < n_threads; i++)
		/* one place ahead; filling moves it back */
		f->first_extra[i + 2] += f->first_extra[i + 1];
	for (size_t i = 0; i < f->extras.n; i++)
		sorted.at[f->first_extra[f->extras.at[i].thread + 1]++] = f->extras.at[i];
	vec_free(&f->extras);
	f->extras.at = sorted.at;
	f->extras.n = sorted.n;
	f->extras.capacity = sorted.capacity;
	return true;
}

static int compare_yardsticks(const void *pa, const void *pb)
{
	const struct model_gpu_yardstick *a = pa, *b = pb;
	if (a->n_apportioned != b->n_apportioned)
		return a->n_apportioned < b->n_apportioned ? 1 : -1;
	if (a->n_samples != b->n_samples)
		return a->n_samples < b->n_samples ? 1 : -1;
	return (a->context > b->context) - (a->context < b->context);
}

static bool settle_file(struct gpu_part *g, struct model *m, uint32_t file,
			const uint32_t *final_of, const uint32_t *metric_of)
{
	struct gpu_file *f = &g->files[file];
	f->cells = malloc((f->join.cells.n + 1) * sizeof *f->cells);
	if (!model_own(m, f->cells))
		return false;
	for (size_t i = 0; i < f->join.cells.n; i++)
		f->cells[i] = (struct model_gpu_cell){final_of[f->context_of[i]], MODEL_NONE};
	for (uint32_t i = 0; i < f->sampling.n_yardsticks; i++)
		f->yardsticks[i].context = final_of[f->yardsticks[i].context];
	if (f->yardsticks)
		qsort(f->yardsticks, f->sampling.n_yardsticks, sizeof *f->yardsticks,
		      compare_yardsticks);
	for (size_t i = 0; i < f->extras.n; i++) {
		f->extras.at[i].context = final_of[f->extras.at[i].context];
		f->extras.at[i].metric = metric_of[f->extras.at[i].metric];
	}
	gpu_blame_settle(&f->blames, final_of, metric_of);
	return sort_extras(f, g->job->files.at[file].threads.n);
}

static bool settle_instructions(const struct gpu_metrics *g, struct model *m,
				const uint32_t *module_of, const uint32_t *metric_of)
{
	for (size_t i = 0; i < g->instructions.n; i++) {
		const struct gpu_instruction *from = &g->instructions.at[i];
		struct model_instruction *to = vec_push(&m->private_->instructions);
		if (!to)
			return false;
		*to = (struct model_instruction){.link_addr = from->link_addr,
						 .module = module_of[from->module],
						 .metric = metric_of[from->metric],
						 .n_samples = from->n,
						 .value = (double)from->n};
	}
	return true;
}

bool gpu_settle(struct gpu_part *g, struct model *m, const struct expand *e)
{
	if (!g->is_present)
		return true;
	uint32_t *metric_of = NULL;
	bool ok = gpu_metrics_describe(&g->metrics, m, &metric_of) &&
		  settle_instructions(&g->metrics, m, e->module_of, metric_of);
	for (uint32_t i = 0; ok && i < g->job->files.n; i++)
		if (has_join(g, i))
			ok = settle_file(g, m, i, e->final_of, metric_of);
	free(metric_of);
	return ok;
}

const struct sum_extra *gpu_extras_of(const struct gpu_part *g, uint32_t file, uint32_t thread,
				      size_t *n)
{
	*n = 0;
	if (!g->is_present || !g->files[file].first_extra)
		return NULL;
	const struct gpu_file *f = &g->files[file];
	*n = f->first_extra[thread + 1] - f->first_extra[thread];
	return *n ? f->extras.at + f->first_extra[thread] : NULL;
}

/* ---- profiles ---- */

uint32_t gpu_n_profiles(const struct gpu_part *g, uint32_t file)
{
	uint32_t n = 0;
	for (size_t i = 0; g->is_present && i < g->files[file].join.lines.n; i++)
		n += g->files[file].join.lines.at[i].n_lanes;
	return n;
}

void gpu_set_first_profile(struct gpu_part *g, uint32_t file, uint32_t first)
{
	if (!g->is_present)
		return;
	struct gpu_file *f = &g->files[file];
	f->first_profile = first;
	for (size_t i = 0; i < f->join.cells.n && f->cells; i++) {
		const struct gpu_cell *c = &f->join.cells.at[i];
		f->cells[i].launcher = c->is_measured ? first + c->thread : MODEL_NONE;
	}
}

uint64_t gpu_last_moment(const struct gpu_part *g, uint32_t file)
{
	return g->is_present ? g->files[file].join.last_ns : 0;
}

void gpu_free(struct gpu_part *g)
{
	for (size_t i = 0; g->files && i < g->job->files.n; i++) {
		struct gpu_file *f = &g->files[i];
		gpu_join_free(&f->join);
		free(f->module_of);
		free(f->context_of);
		vec_free(&f->extras);
		free(f->yardsticks);
		gpu_blame_free(&f->blames);
		free(f->first_extra);
	}
	free(g->files);
	vec_free(&g->memory);
	gpu_metrics_free(&g->metrics);
}
