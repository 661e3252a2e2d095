/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load_job_share(): parts share the checks of cells and time lines, which are most of a file. Each
 * part has the records and trees of all files. Test: tests/unit/prof_parts/test_parts.c.
 */
#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/safe/fnv.h"
#include "hpcprof-lite/load/load_job.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

/* What the reader of a thread's values found. */
struct found {
	uint64_t n_trace_records, first_trace_ns, last_trace_ns;
	uint64_t is_odd; /* something in the file is damaged: whoever needs it looks itself */
};

static uint64_t hash_more(uint64_t h, uint64_t v)
{
	return fnv64(h, &v, sizeof v);
}

static uint64_t n_bytes_of(const struct load_part *parts, size_t n)
{
	uint64_t all = 0;
	for (size_t i = 0; i < n; i++)
		all += parts[i].n_bytes;
	return all;
}

/* Of what the parts have to agree on. */
static uint64_t hash_files(const struct load_job *job)
{
	uint64_t h = hash_more(FNV64_START, job->files.n);
	for (size_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		h = fnv64(h, f->path, strlen(f->path) + 1);
		h = hash_more(h, f->is_live);
		for (size_t k = 0; k < f->threads.n; k++) {
			const struct load_thread *t = &f->threads.at[k];
			h = hash_more(h, (uint64_t)t->record.number << 32 | t->n_nodes);
			h = hash_more(h, n_bytes_of(t->cells.at, t->cells.n));
			h = hash_more(h, n_bytes_of(t->trace.at, t->trace.n));
		}
	}
	return h;
}

struct checking {
	struct load_job *job;
	struct found *found; /* by thread */
	size_t *first;       /* by file: its first thread */
};

static void check_own(void *arg, size_t file, unsigned worker)
{
	struct checking *w = arg;
	struct load_file *f = &w->job->files.at[file];
	(void)worker;
	if (!load_is_own(w->job, file))
		return;
	const bool is_odd = !load_check_values(f);
	load_release(f, LOAD_ALL);
	for (size_t k = 0; k < f->threads.n; k++)
		w->found[w->first[file] + k] = (struct found){
			f->threads.at[k].n_trace_records, f->threads.at[k].first_trace_ns,
			f->threads.at[k].last_trace_ns, is_odd};
}

/* Takes over what other parts found, or looks itself. */
static void take_over(void *arg, size_t file, unsigned worker)
{
	struct checking *w = arg;
	struct load_file *f = &w->job->files.at[file];
	const struct found *found = w->found + w->first[file];
	(void)worker;
	if (load_is_own(w->job, file))
		return;
	if (f->threads.n && found[0].is_odd) {
		load_check_values(f);
		load_release(f, LOAD_ALL);
		return;
	}
	for (size_t k = 0; k < f->threads.n; k++) {
		f->threads.at[k].n_trace_records = found[k].n_trace_records;
		f->threads.at[k].first_trace_ns = found[k].first_trace_ns;
		f->threads.at[k].last_trace_ns = found[k].last_trace_ns;
	}
}

static bool prepare(struct checking *w)
{
	const size_t n = w->job->files.n;
	w->first = calloc(n + 1, sizeof *w->first);
	for (size_t i = 0; w->first && i < n; i++)
		w->first[i + 1] = w->first[i] + w->job->files.at[i].threads.n;
	w->found = w->first ? calloc(w->first[n] + 1, sizeof *w->found) : NULL;
	return w->found;
}

/* By part: its first thread. NULL if memory is short. */
static uint64_t *share_out(struct checking *w, struct comm *c, bool gathers)
{
	struct load_job *job = w->job;
	uint64_t *weights = calloc(job->files.n + 1, sizeof *weights),
		 *files = calloc((size_t)c->n_parts + 1, sizeof *files),
		 *threads = calloc((size_t)c->n_parts + 1, sizeof *threads);
	const bool ok = weights && files && threads;
	for (size_t i = 0; ok && i < job->files.n; i++)
		weights[i] = job->files.at[i].map.n_bytes + 1;
	if (ok)
		comm_cut(c, gathers, weights, job->files.n, files);
	for (int i = 0; ok && i <= c->n_parts; i++)
		threads[i] = w->first[files[i]];
	free(weights);
	job->first_file = files;
	job->part = c->part;
	if (ok)
		return threads;
	free(threads);
	return NULL;
}

enum status load_job_share(struct load_job *job, struct comm *c, bool gathers, unsigned n_workers)
{
	struct checking w = {.job = job};
	uint64_t *threads = prepare(&w) ? share_out(&w, c, gathers) : NULL;
	const enum status s = comm_agree(c, threads ? STATUS_OK : STATUS_NO_MEMORY);
	if (!threads)
		log_error(NULL, "out of memory");
	if (s == STATUS_OK) {
		const bool is_same = comm_is_same(c, (int64_t)hash_files(job));
		if (!is_same)
			load_job_read_all(job);
		pool_run(job->files.n, n_workers, check_own, &w);
		if (is_same)
			comm_fill(c, w.found, sizeof *w.found, threads);
		pool_run(job->files.n, n_workers, take_over, &w);
		for (size_t i = 0; i < job->files.n; i++)
			load_warn_of_damage(&job->files.at[i]);
	}
	free(w.found);
	free(w.first);
	free(threads);
	return s;
}

void load_job_read_all(struct load_job *job)
{
	free(job->first_file);
	job->first_file = NULL;
}
