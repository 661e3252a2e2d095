/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges the modules and call paths of all files into one tree. See attribute_steps.h. */
#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/attribute/attribute_steps.h"
#include "hpcprof-lite/attribute/merge/share_trees.h"
#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>

/* ---- modules and threads ---- */

static bool unify_modules(struct topic_run *r)
{
	r->module_of = calloc(r->job->files.n, sizeof *r->module_of);
	if (!r->module_of)
		return false;
	for (size_t i = 0; i < r->job->files.n; i++) {
		struct load_file *f = &r->job->files.at[i];
		r->module_of[i] = calloc(f->modules.n + 1, sizeof **r->module_of);
		if (!r->module_of[i])
			return false;
		for (size_t k = 0; k < f->modules.n; k++)
			if (f->modules.at[k].record &&
			    (r->module_of[i][k] =
				     merge_add_module(r->modules, &f->modules.at[k])) == UINT32_MAX)
				return false;
		load_release(f, LOAD_ALL);
	}
	return true;
}

static bool list_threads(struct topic_run *r)
{
	r->first_thread = calloc(r->job->files.n + 1, sizeof *r->first_thread);
	if (!r->first_thread)
		return false;
	for (uint32_t i = 0; i < r->job->files.n; i++) {
		r->first_thread[i] = (uint32_t)r->threads.n;
		for (uint32_t k = 0; k < r->job->files.at[i].threads.n; k++) {
			struct topic_thread *t = vec_push(&r->threads);
			if (!t)
				return false;
			*t = (struct topic_thread){.file = i, .thread = k};
		}
	}
	r->first_thread[r->job->files.n] = (uint32_t)r->threads.n;
	return true;
}

bool attribute_unify(struct attribution *a)
{
	return unify_modules(&a->run) && list_threads(&a->run);
}

/* ---- call paths ---- */

static struct merge_names names_of(const struct topic_run *r, size_t file)
{
	struct merge_names names = {0};
	for (size_t i = 0; r->topics[i]; i++)
		if (r->topics[i]->take_file)
			r->topics[i]->take_file(r->states[i], file, &names);
	return names;
}

static void merge_job(void *arg, size_t i, unsigned worker)
{
	struct attribution *a = arg;
	struct topic_run *r = &a->run;
	const uint32_t file = r->threads.at[i].file;
	const struct merge_names names = names_of(r, file);
	r->threads.at[i].worker = worker;
	if (!r->job->files.at[file].is_outline && !atomic_load(&a->failed) &&
	    !merge_thread(&a->trees[worker], topic_thread(r, i), r->module_of[file], &names))
		atomic_store(&a->failed, true);
	load_release(&r->job->files.at[file],
		     topic_is_last_of_file(r, i)
			     ? LOAD_ALL
			     : topic_thread(r, i)->n_nodes * sizeof(struct msr_node));
	log_progress("merging threads", atomic_fetch_add(&a->n_done, 1) + 1, r->threads.n);
}

/* Merges the trees of the workers into one. */
static bool join_trees(struct attribution *a)
{
	const unsigned n = a->run.n_workers;
	for (unsigned i = 1; i < n && !atomic_load(&a->failed); i++) {
		log_progress("joining trees", i, n - 1);
		struct topic_nodes *map = &a->run.to_whole[i];
		map->n = a->trees[i].nodes.n;
		map->at = malloc(map->n * sizeof *map->at);
		if (!map->at || !merge_trees(&a->trees[0], &a->trees[i], map->at))
			return false;
		merge_free(&a->trees[i]);
	}
	return !atomic_load(&a->failed);
}

static bool merge_threads(struct attribution *a)
{
	const unsigned n = a->run.n_workers;
	a->trees = calloc(n, sizeof *a->trees);
	a->run.to_whole = calloc(n, sizeof *a->run.to_whole);
	if (!a->trees || !a->run.to_whole)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!merge_init(&a->trees[i]))
			return false;
	pool_run(a->run.threads.n, n, merge_job, a);
	log_progress(NULL, 0, 0);
	return join_trees(a);
}

/* Merges the trees of all parts into one. Ends a step of all parts. */
static bool join_parts(struct attribution *a, bool ok)
{
	struct topic_nodes *maps = a->run.to_whole;
	uint32_t *to_whole;
	ok = share_trees(a->run.comm, ok, &a->trees[0], &to_whole);
	for (unsigned i = 1; ok && i < a->run.n_workers; i++)
		for (size_t k = 0; k < maps[i].n; k++)
			maps[i].at[k] = to_whole[maps[i].at[k]];
	if (maps)
		maps[0].at = to_whole;
	else
		free(to_whole);
	return ok;
}

bool attribute_merge(struct attribution *a)
{
	bool ok = merge_threads(a);
	if (a->run.job->is_split)
		ok = join_parts(a, ok);
	if (ok)
		map_free(&a->trees[0].index);
	return ok;
}

void attribute_free_trees(struct attribution *a)
{
	for (unsigned i = 0; a->trees && i < a->run.n_workers; i++)
		merge_free(&a->trees[i]);
	free(a->trees);
	for (unsigned i = 0; a->run.to_whole && i < a->run.n_workers; i++)
		free(a->run.to_whole[i].at);
	free(a->run.to_whole);
}
