/* SPDX-License-Identifier: BSD-3-Clause */
/* See attribute.h. Test: tests/unit/prof/test_order.c, tests/unit/prof/test_ledger.c. */
#include "hpcprof-lite/attribute/attribute.h"

#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/base/sorted.h"
#include "common/safe/fnv.h"
#include "hpcprof-lite/attribute/activity/activity.h"
#include "hpcprof-lite/attribute/activity/activity_metrics.h"
#include "hpcprof-lite/attribute/activity/phases.h"
#include "hpcprof-lite/attribute/describe/describe.h"
#include "hpcprof-lite/attribute/describe/ledger.h"
#include "hpcprof-lite/attribute/describe/process_roles.h"
#include "hpcprof-lite/attribute/expand/expand.h"
#include "hpcprof-lite/attribute/expand/omp_regions.h"
#include "hpcprof-lite/attribute/expand/order.h"
#include "hpcprof-lite/attribute/gpu/energy/gpu_energy.h"
#include "hpcprof-lite/attribute/gpu/gpu_attribute.h"
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle.h"
#include "hpcprof-lite/attribute/merge/forward_paths.h"
#include "hpcprof-lite/attribute/merge/jit_names.h"
#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/attribute/merge/nvtx_labels.h"
#include "hpcprof-lite/attribute/merge/python_frames.h"
#include "hpcprof-lite/attribute/merge/share_trees.h"
#include "hpcprof-lite/attribute/merge/wait_objects.h"
#include "hpcprof-lite/attribute/mpi/mpi_attribute.h"
#include "hpcprof-lite/attribute/mpi/mpi_clocks.h"
#include "hpcprof-lite/attribute/nccl/nccl_attribute.h"
#include "hpcprof-lite/attribute/nvtx/nvtx_attribute.h"
#include "hpcprof-lite/attribute/nvtx/nvtx_events.h"
#include "hpcprof-lite/attribute/nvtx/nvtx_others.h"
#include "hpcprof-lite/attribute/sum/sum.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/load/structures.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct thread_work {
	uint32_t file, thread;
	unsigned worker;  /* whose tree node_to refers to */
	uint32_t profile;
};

/* By node of a tree: node of the whole. */
struct node_map {
	uint32_t *at; /* NULL: the same */
	size_t n;
};

struct pipeline {
	struct load_job *job; /* the model's */
	const struct attribute_options *o;
	struct model *m;
	unsigned n_workers;
	struct merge_modules modules;
	struct python_part python;
	struct jit_part jit;
	struct wait_part waits;
	struct nvtx_labels ranges;
	struct forward_paths *forward; /* by file; NULL: with the internals of PyTorch */
	uint32_t **module_of;       /* by file, then module id of the file */
	VEC(struct thread_work) threads; /* in the order of profiles, those of queues left out */
	uint32_t *first_thread;     /* by file, and the end: of its threads in the list above */
	struct merge_tree *trees;   /* by worker; the first becomes the whole */
	struct node_map *to_whole;  /* by worker */
	struct expand expand;
	struct gpu_part gpu;
	struct mpi_part mpi;
	/* by profile, which is their `thread`: blames, and energy of operations */
	VEC(struct sum_extra) blames, energies;
	atomic_size_t n_done;
	atomic_bool failed;
};

/* ---- merge ---- */

static bool unify_modules(struct pipeline *p)
{
	p->module_of = calloc(p->job->files.n, sizeof *p->module_of);
	if (!p->module_of)
		return false;
	for (size_t i = 0; i < p->job->files.n; i++) {
		struct load_file *f = &p->job->files.at[i];
		p->module_of[i] = calloc(f->modules.n + 1, sizeof **p->module_of);
		if (!p->module_of[i])
			return false;
		for (size_t k = 0; k < f->modules.n; k++)
			if (f->modules.at[k].record &&
			    (p->module_of[i][k] = merge_add_module(
				     &p->modules, &f->modules.at[k])) == UINT32_MAX)
				return false;
		load_release(f, LOAD_ALL);
	}
	return true;
}

static bool list_threads(struct pipeline *p)
{
	p->first_thread = calloc(p->job->files.n + 1, sizeof *p->first_thread);
	if (!p->first_thread)
		return false;
	for (uint32_t i = 0; i < p->job->files.n; i++) {
		p->first_thread[i] = (uint32_t)p->threads.n;
		for (uint32_t k = 0; k < p->job->files.at[i].threads.n; k++) {
			struct thread_work *w = vec_push(&p->threads);
			if (!w)
				return false;
			*w = (struct thread_work){.file = i, .thread = k};
		}
	}
	p->first_thread[p->job->files.n] = (uint32_t)p->threads.n;
	return true;
}

static struct load_thread *thread_of(const struct pipeline *p, size_t i)
{
	return &p->job->files.at[p->threads.at[i].file].threads.at[p->threads.at[i].thread];
}

/* Others may still be at work on the file. */
static bool is_last_of_file(const struct pipeline *p, size_t i)
{
	return i + 1 == p->threads.n || p->threads.at[i + 1].file != p->threads.at[i].file;
}

static void merge_job(void *arg, size_t i, unsigned worker)
{
	struct pipeline *p = arg;
	const uint32_t file = p->threads.at[i].file;
	const struct merge_names names = {python_of_file(&p->python, file),
					  wait_objects_of_file(&p->waits, file),
					  nvtx_labels_of_file(&p->ranges, file),
					  p->forward ? &p->forward[file] : NULL};
	p->threads.at[i].worker = worker;
	if (!p->job->files.at[file].is_outline && !atomic_load(&p->failed) &&
	    !merge_thread(&p->trees[worker], thread_of(p, i), p->module_of[file], &names))
		atomic_store(&p->failed, true);
	load_release(&p->job->files.at[file],
		     is_last_of_file(p, i) ? LOAD_ALL
					   : thread_of(p, i)->n_nodes * sizeof(struct msr_node));
	log_progress("merging threads", atomic_fetch_add(&p->n_done, 1) + 1, p->threads.n);
}

static bool find_forward_paths(struct pipeline *p)
{
	if (p->o->internals)
		return true;
	p->forward = calloc(p->job->files.n + 1, sizeof *p->forward);
	bool ok = p->forward;
	for (size_t i = 0; ok && i < p->job->files.n; i++)
		ok = forward_paths_find(&p->forward[i], &p->job->files.at[i]);
	return ok;
}

/* The trees of all parts become one. Ends a step of all parts. */
static bool join_parts(struct pipeline *p, bool ok)
{
	uint32_t *to_whole;
	ok = share_trees(p->o->comm, ok, &p->trees[0], &to_whole);
	for (unsigned i = 1; ok && i < p->n_workers; i++)
		for (size_t k = 0; k < p->to_whole[i].n; k++)
			p->to_whole[i].at[k] = to_whole[p->to_whole[i].at[k]];
	p->to_whole[0].at = to_whole;
	return ok;
}

static bool merge_threads(struct pipeline *p)
{
	p->trees = calloc(p->n_workers, sizeof *p->trees);
	p->to_whole = calloc(p->n_workers, sizeof *p->to_whole);
	if (!p->trees || !p->to_whole)
		return false;
	for (unsigned i = 0; i < p->n_workers; i++)
		if (!merge_init(&p->trees[i]))
			return false;
	pool_run(p->threads.n, p->n_workers, merge_job, p);
	log_progress(NULL, 0, 0);
	for (unsigned i = 1; i < p->n_workers && !atomic_load(&p->failed); i++) {
		log_progress("joining trees", i, p->n_workers - 1);
		struct node_map *map = &p->to_whole[i];
		map->n = p->trees[i].nodes.n;
		map->at = malloc(map->n * sizeof *map->at);
		if (!map->at || !merge_trees(&p->trees[0], &p->trees[i], map->at))
			return false;
		merge_free(&p->trees[i]);
	}
	return !atomic_load(&p->failed);
}

static bool merge_all(struct pipeline *p)
{
	bool ok = merge_threads(p);
	if (p->job->is_split)
		ok = join_parts(p, ok);
	if (ok)
		map_free(&p->trees[0].index);
	return ok;
}

/* ---- expand and order ---- */

static bool is_python(const struct pipeline *p, uint32_t module)
{
	return p->modules.list.at[module].flags & (PYTHON_MODULE | MSR_MODULE_PYTHON);
}

static bool is_jit(const struct pipeline *p, uint32_t module)
{
	return p->modules.list.at[module].flags & JIT_MODULE;
}

static bool describe_modules(struct pipeline *p, struct order_module *out, struct expand_module *in)
{
	size_t n = p->modules.list.n;
	bool *needed = calloc(n + 1, sizeof *needed);
	const struct structure **structures = calloc(n + 1, sizeof *structures);
	enum model_structure *states = calloc(n + 1, sizeof *states);
	struct attribute_frame *frames = calloc(p->trees[0].nodes.n + 1, sizeof *frames);
	size_t n_frames = 0;
	bool ok = needed && structures && states && frames;
	if (ok) {
		for (size_t i = 0; i < p->trees[0].nodes.n; i++) {
			const struct merge_node *node = &p->trees[0].nodes.at[i];
			if (node->module >= n)
				continue;
			needed[node->module] = !is_python(p, node->module) &&
					       !is_jit(p, node->module);
			frames[n_frames++] =
				(struct attribute_frame){node->module, node->link_addr};
		}
		omp_regions_need(&p->expand, needed);
		ok = gpu_need_modules(&p->gpu, needed, n);
	}
	if (ok) {
		if (p->o->find_structures)
			p->o->find_structures(p->o->arg, &p->modules, needed, frames,
					      n_frames, structures, states);
		for (size_t i = 0; i < n; i++) {
			const struct merge_module *m = &p->modules.list.at[i];
			in[i] = (struct expand_module){m->path, structures[i],
						       is_python(p, (uint32_t)i),
						       is_jit(p, (uint32_t)i)};
			out[i] = (struct order_module){
				m->path,
				m->record->build_id,
				m->record->build_id_bytes,
				m->record->file_bytes,
				in[i].is_python || in[i].is_jit ? MODEL_STRUCTURE_LINES : states[i],
				(m->flags & LOAD_MODULE_GPU) != 0,
				in[i].is_python};
		}
	}
	free(frames);
	free(needed);
	free(structures);
	free(states);
	return ok;
}

/* The node's context in the expanded tree. */
static uint32_t node_context(const void *arg, uint32_t file, uint32_t thread, uint32_t node)
{
	const struct pipeline *p = arg;
	size_t i = p->first_thread[file] + thread;
	uint32_t merged = thread_of(p, i)->node_to[node];
	const uint32_t *to_whole = p->to_whole[p->threads.at[i].worker].at;
	return p->expand.context_of[to_whole ? to_whole[merged] : merged];
}

static bool make_contexts(struct pipeline *p)
{
	uint32_t n = (uint32_t)p->modules.list.n;
	struct order_module *out = calloc((size_t)n + 1, sizeof *out);
	struct expand_module *in = calloc((size_t)n + 1, sizeof *in);
	p->expand.strings = &p->m->private_->strings;
	p->expand.python = p->python.functions.at;
	p->expand.n_python = p->python.functions.n;
	log_progress("functions and lines", 0, 0);
	p->expand.jit = p->jit.places.at;
	p->expand.n_jit = p->jit.places.n;
	bool ok = out && in && omp_regions_collect(&p->expand, p->job, p->module_of) &&
		  describe_modules(p, out, in) &&
		  expand_tree(&p->expand, &p->trees[0], in, n, !p->o->internals) &&
		  gpu_expand(&p->gpu, &p->expand, in, n, node_context, p) &&
		  order_contexts(p->m, &p->expand, p->trees[0].nodes.n, out, n);
	log_progress(NULL, 0, 0);
	free(out);
	free(in);
	/* of both only context_of is needed from here on, and memory is the measure of this
	 * program */
	merge_free(&p->trees[0]);
	expand_shrink(&p->expand);
	return ok;
}

/* ---- time lines: node ids of the files become contexts ---- */

static void make_contexts_of(const struct pipeline *p, size_t i, uint32_t *node_to, uint32_t n)
{
	const uint32_t *to_whole = p->to_whole[p->threads.at[i].worker].at;
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t node = node_to[k];
		if (node != LOAD_DAMAGED) /* the same value as MODEL_NONE */
			node_to[k] = p->expand.context_of[to_whole ? to_whole[node] : node];
	}
}

static void timeline_job(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct pipeline *p = arg;
	struct load_thread *t = thread_of(p, i);
	if (p->job->files.at[p->threads.at[i].file].is_outline)
		return;
	make_contexts_of(p, i, t->node_to, t->n_nodes);
	if (t->shown_to)
		make_contexts_of(p, i, t->shown_to, t->n_nodes);
	if (!describe_timeline(p->m, &p->job->files.at[p->threads.at[i].file], t,
			       &p->m->private_->timelines[p->threads.at[i].profile]))
		atomic_store(&p->failed, true);
}

/* ---- parts ---- */

static uint64_t hash_more(uint64_t h, uint64_t v)
{
	return fnv64(h, &v, sizeof v);
}

static uint64_t hash_contexts(const struct model *m)
{
	uint64_t h = hash_more(FNV64_START, m->n_contexts);
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		h = hash_more(h, (uint64_t)c->parent << 32 | c->kind);
		h = hash_more(h, (uint64_t)c->function << 32 | c->line);
	}
	return h;
}

uint64_t attribute_hash(const struct model *m)
{
	uint64_t h = hash_more(hash_contexts(m), m->n_metrics);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		h = hash_more(h, (uint64_t)p->process << 32 | p->thread);
		h = hash_more(h, p->n_trace_records);
	}
	return h;
}

/* Ends a step of all parts. They need the same of what `hash` is made of. */
static bool agree_on(const struct pipeline *p, bool ok, uint64_t (*hash)(const struct model *m))
{
	return p->o->comm ? comm_agree_on(p->o->comm, ok ? STATUS_OK : STATUS_NO_MEMORY,
					  ok ? hash(p->m) : 0) == STATUS_OK
			  : ok;
}

/* A metric occurs if it does so in some part. Ends a step of all parts. */
static bool share_occurs(const struct pipeline *p, bool ok, bool *occurs, size_t n)
{
	struct comm *c = p->o->comm;
	int64_t *most = calloc(n, sizeof *most);
	for (size_t i = 0; most && i < n; i++)
		most[i] = occurs[i];
	ok = ok && most;
	if (c)
		ok = comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	if (c && ok)
		comm_most(c, most, n);
	for (size_t i = 0; ok && i < n; i++)
		occurs[i] = most[i];
	free(most);
	return ok;
}

struct activities {
	struct pipeline *p;
	atomic_bool occurs[MODEL_N_ACTIVITIES];
};

/* Marks the activities of contexts where the thread has time. */
static void activity_job(void *arg, size_t i, unsigned worker)
{
	struct activities *a = arg;
	const struct pipeline *p = a->p;
	const struct thread_work *w = &p->threads.at[i];
	struct load_file *f = &p->job->files.at[w->file];
	const struct load_thread *t = thread_of(p, i);
	bool is_time[MSR_MAX_METRICS];
	(void)worker;
	if (!load_is_own(p->job, w->file))
		return;
	describe_is_time(p->m, f, is_time);
	for (size_t k = 0; k < t->cells.n; k++) {
		const struct msr_cell *cells = (const void *)t->cells.at[k].content;
		for (size_t c = 0; c < t->cells.at[k].n_bytes / sizeof *cells; c++) {
			if (!load_cell_is_sound(f, t, &cells[c]) || !cells[c].sum ||
			    !is_time[cells[c].metric])
				continue;
			atomic_bool *occurs =
				&a->occurs[p->m->contexts[node_context(p, w->file, w->thread,
								       cells[c].node)]
						   .activity];
			/* relaxed: pool_run() joins its threads before anyone reads */
			if (!atomic_load_explicit(occurs, memory_order_relaxed))
				atomic_store_explicit(occurs, true, memory_order_relaxed);
		}
	}
	if (is_last_of_file(p, i))
		load_release(f, LOAD_ALL);
}

static bool add_activities(struct pipeline *p)
{
	struct activities a = {.p = p};
	bool occurs[MODEL_N_ACTIVITIES];
	if (!agree_on(p, activity_find(p->m), hash_contexts))
		return false;
	activity_mark_time(p->m);
	pool_run(p->threads.n, p->n_workers, activity_job, &a);
	for (unsigned i = 0; i < MODEL_N_ACTIVITIES; i++)
		occurs[i] = atomic_load(&a.occurs[i]);
	return share_occurs(p, true, occurs, MODEL_N_ACTIVITIES) &&
	       activity_add_metrics(p->m, occurs);
}

static void number_profiles(struct pipeline *p, const uint32_t *n_queues)
{
	uint32_t profile = 0;
	for (uint32_t i = 0; i < p->job->files.n; i++) {
		gpu_set_first_profile(&p->gpu, i, profile);
		for (uint32_t k = 0; k < p->job->files.at[i].threads.n; k++)
			p->threads.at[p->first_thread[i] + k].profile = profile++;
		profile += n_queues[i];
	}
}

static bool make_profiles(struct pipeline *p)
{
	size_t n = p->job->files.n;
	uint64_t *last_moments = calloc(n + 1, sizeof *last_moments);
	uint32_t *n_queues = calloc(n + 1, sizeof *n_queues);
	bool ok = last_moments && n_queues;
	for (uint32_t i = 0; ok && i < n; i++) {
		last_moments[i] = gpu_last_moment(&p->gpu, i);
		n_queues[i] = gpu_n_profiles(&p->gpu, i);
	}
	ok = ok && describe_metrics(p->m, p->job) && add_activities(p) &&
	     gpu_settle(&p->gpu, p->m, p->expand.final_of) &&
	     mpi_describe_metrics(&p->mpi, p->job, p->m) &&
	     describe_processes(p->m, p->job, last_moments) && process_roles_find(p->m, p->job) &&
	     describe_profiles(p->m, p->job, n_queues, p->n_workers);
	if (ok)
		number_profiles(p, n_queues);
	ok = ok && gpu_describe(&p->gpu, p->m);
	free(last_moments);
	free(n_queues);
	if (!ok)
		return false;
	pool_run_shown("time lines", p->threads.n, p->n_workers, timeline_job, p);
	return !atomic_load(&p->failed);
}

/* ---- MPI ---- */

static uint32_t profile_of(const void *arg, uint32_t file, uint32_t thread)
{
	const struct pipeline *p = arg;
	return p->threads.at[p->first_thread[file] + thread].profile;
}

/* A call without a path counts at the entry of its thread, which is the first sound node. */
static uint32_t final_context(const void *arg, uint32_t file, uint32_t thread, uint32_t node)
{
	const struct pipeline *p = arg;
	const struct model_timeline *line =
		&p->m->private_->timelines[profile_of(arg, file, thread)];
	if (node)
		return node < line->n_nodes ? line->context_of[node] : MODEL_NONE;
	for (uint32_t i = 1; i < line->n_nodes; i++)
		if (line->context_of[i] != MODEL_NONE)
			return line->context_of[i];
	return 0;
}

/* What is in no file of cctdb, which is all that several parts write. */
static bool attribute_for_reports(struct pipeline *p)
{
	const struct nvtx_where where = {p, profile_of, final_context};
	return p->o->comm || (phases_attribute(p->m, p->job, final_context, p) &&
			      nvtx_events_attribute(p->job, &where, p->m) &&
			      nvtx_others_attribute(p->job, &where, p->m));
}

static bool attribute_mpi(struct pipeline *p)
{
	const struct mpi_where where = {p, profile_of, final_context};
	return mpi_attribute(&p->mpi, p->job, p->m, &where);
}

/* ---- idle time of GPUs: from the time lines, so that is the last ---- */

static bool keep_idle(struct pipeline *p, struct gpu_idle *idle)
{
	uint32_t metric_of[GPU_IDLE_METRICS];
	struct model_gpu_idle *devices = idle->devices;
	idle->devices = NULL;
	if ((devices && !model_own(p->m, devices)) ||
	    !gpu_idle_add_metrics(p->m, idle, metric_of))
		return false;
	p->m->gpu_idle = devices;
	p->m->gpu_waits = idle->waits;
	for (size_t i = 0; i < idle->blames.n; i++) {
		const struct gpu_blame *b = &idle->blames.at[i];
		struct sum_extra *x = vec_push(&p->blames);
		if (!x)
			return false;
		*x = (struct sum_extra){b->profile, b->context, metric_of[b->metric], b->n, b->ns};
	}
	return true;
}

static bool find_idle(struct pipeline *p)
{
	struct gpu_idle idle;
	struct gpu_idle_of of = {.until_ns = UINT64_MAX, .end_process = p->m->n_processes};
	if (p->job->is_split) { /* a process is a file */
		of.first_process = (uint32_t)p->job->first_file[p->job->part];
		of.end_process = (uint32_t)p->job->first_file[p->job->part + 1];
	}
	bool ok = gpu_idle_find(p->m, &of, p->n_workers, &idle);
	ok = share_occurs(p, ok, idle.occurs, GPU_IDLE_METRICS) && keep_idle(p, &idle);
	gpu_idle_free(&idle);
	return ok;
}

/* ---- energy ---- */

static bool add_energy(struct pipeline *p, const struct gpu_energy_share *e, uint32_t metric,
		       uint64_t sum)
{
	struct sum_extra *x = sum ? vec_push(&p->energies) : NULL;
	if (x)
		*x = (struct sum_extra){e->profile, e->context, metric, e->n, sum};
	return x || !sum;
}

static bool keep_energy(struct pipeline *p, const struct gpu_energy *energy)
{
	uint32_t metric_of[GPU_ENERGY_METRICS];
	struct model_meter *meters = p->m->private_->meters;
	bool ok = gpu_energy_add_metrics(p->m, energy, metric_of);
	for (uint32_t i = 0; i < p->m->n_meters; i++)
		meters[i].sum = energy->sums[i];
	for (size_t i = 0; ok && i < energy->shares.n; i++) {
		const struct gpu_energy_share *e = &energy->shares.at[i];
		ok = add_energy(p, e, metric_of[GPU_ENERGY_OPERATIONS], e->uj) &&
		     add_energy(p, e, metric_of[GPU_ENERGY_SHARED], e->shared_uj) &&
		     add_energy(p, e, metric_of[GPU_ENERGY_TIME], e->read_ns);
	}
	return ok;
}

static bool find_energy(struct pipeline *p)
{
	struct gpu_energy energy;
	bool ok = gpu_energy_find(p->m, 0, UINT64_MAX, &energy);
	ok = share_occurs(p, ok, energy.occurs, GPU_ENERGY_METRICS) && keep_energy(p, &energy);
	gpu_energy_free(&energy);
	return ok;
}

static void list_extras(const struct sum_extra *at, size_t n, uint32_t profile,
			enum sum_list list, struct sum_source *s)
{
	size_t first = sorted_below(at, n, thread, profile),
	       end = sorted_up_to(at, n, thread, profile);
	s->extras[list] = at ? at + first : NULL;
	s->n_extras[list] = end - first;
}

/* By part, and the end: its first profile, if it has no trees and values of others. */
static uint64_t *first_profiles(const struct pipeline *p)
{
	const int n_parts = p->o->comm->n_parts;
	uint64_t *first = calloc((size_t)n_parts + 1, sizeof *first);
	for (int i = 0; first && i <= n_parts; i++) {
		const uint32_t thread = p->first_thread[p->job->first_file[i]];
		first[i] = thread < p->threads.n ? p->threads.at[thread].profile : p->m->n_profiles;
	}
	return first;
}

static bool sum_shared(struct pipeline *p, const struct sum_source *sources, const double *divisors)
{
	struct sum_parts parts = {p->o->comm, NULL};
	uint64_t *first = p->job->is_split ? first_profiles(p) : NULL;
	parts.first_profile = first;
	const bool ok =
		agree_on(p, first || !p->job->is_split, attribute_hash) &&
		sum_up(p->m, sources, divisors, p->m->n_metrics ? &parts : NULL, p->n_workers);
	free(first);
	return ok;
}

static bool sum_all(struct pipeline *p)
{
	struct sum_source *sources = calloc((size_t)p->m->n_profiles + 1, sizeof *sources);
	double *divisors = calloc(p->m->n_metrics + 1, sizeof *divisors);
	bool ok = sources && divisors;
	if (p->o->comm)
		ok = comm_agree(p->o->comm, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	if (ok) {
		for (size_t i = 0; i < p->threads.n; i++) {
			const struct thread_work *w = &p->threads.at[i];
			struct sum_source *s = &sources[w->profile];
			if (p->job->is_split && !load_is_own(p->job, w->file))
				continue; /* its part sums it up */
			*s = (struct sum_source){.file = &p->job->files.at[w->file],
						 .thread = thread_of(p, i)};
			s->extras[SUM_GPU] =
				gpu_extras_of(&p->gpu, w->file, w->thread, &s->n_extras[SUM_GPU]);
			s->extras[SUM_MPI] =
				mpi_extras_of(&p->mpi, w->profile, &s->n_extras[SUM_MPI]);
			list_extras(p->blames.at, p->blames.n, w->profile, SUM_BLAMES, s);
			list_extras(p->energies.at, p->energies.n, w->profile, SUM_ENERGY, s);
		}
		describe_divisors(p->m, divisors);
		ok = p->o->comm ? sum_shared(p, sources, divisors)
				: sum_up(p->m, sources, divisors, NULL, p->n_workers);
	}
	free(sources);
	free(divisors);
	return ok;
}

static void free_pipeline(struct pipeline *p)
{
	for (size_t i = 0; p->module_of && i < p->job->files.n; i++)
		free(p->module_of[i]);
	free(p->module_of);
	for (unsigned i = 0; p->trees && i < p->n_workers; i++)
		merge_free(&p->trees[i]);
	free(p->trees);
	for (unsigned i = 0; p->to_whole && i < p->n_workers; i++)
		free(p->to_whole[i].at);
	free(p->to_whole);
	merge_free_modules(&p->modules);
	for (size_t i = 0; p->forward && i < p->job->files.n; i++)
		forward_paths_free(&p->forward[i]);
	free(p->forward);
	vec_free(&p->threads);
	free(p->first_thread);
	python_free(&p->python);
	jit_free(&p->jit);
	wait_objects_free(&p->waits);
	nvtx_labels_free(&p->ranges);
	gpu_free(&p->gpu);
	mpi_part_free(&p->mpi);
	vec_free(&p->blames);
	vec_free(&p->energies);
	expand_free(&p->expand);
}

static void release_job(void *sources)
{
	load_job_close(sources);
	free(sources);
}

enum status attribute_run(struct load_job *job, const struct attribute_options *o,
			  struct model **out)
{
	struct model *m = model_new();
	struct load_job *own = calloc(1, sizeof *own);
	if (!m || !own) {
		model_free(m);
		free(own);
		log_error(NULL, "out of memory");
		return STATUS_NO_MEMORY;
	}
	*own = *job;
	*job = (struct load_job){0};
	m->private_->sources = own;
	m->private_->release = release_job;
	struct pipeline p = {.job = own,
			     .o = o,
			     .m = m,
			     .n_workers = o->n_workers ? o->n_workers : pool_n_cpus()};
	bool ok = mpi_clocks_align(own, &m->clock_error_ns) && jit_name_all(&p.jit, own, m) &&
		  unify_modules(&p) &&
		  python_unify(&p.python, own, &p.modules, m) &&
		  wait_objects_unify(&p.waits, own, &m->private_->strings) &&
		  (!o->ranges ||
		   nvtx_labels_unify(&p.ranges, own, &m->private_->strings)) &&
		  list_threads(&p) && find_forward_paths(&p) &&
		  merge_all(&p) && gpu_join_all(&p.gpu, own, p.n_workers) &&
		  gpu_add_modules(&p.gpu, &p.modules, m) &&
		  (o->comm || nvtx_attribute(own, &p.gpu, m)) &&
		  make_contexts(&p) && make_profiles(&p) && attribute_for_reports(&p) &&
		  attribute_mpi(&p) && find_idle(&p) && find_energy(&p) &&
		  (o->comm || nccl_attribute(m)) && sum_all(&p) && describe_whole(m, o->comm);
	free_pipeline(&p);
	if (ok) {
		*out = m;
		return STATUS_OK;
	}
	model_free(m);
	if (o->comm && o->comm->failed == STATUS_DIFFERS)
		return STATUS_DIFFERS;
	log_error(NULL, "out of memory");
	return STATUS_NO_MEMORY;
}
