/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load_share(): parts share the checks of cells and time lines, which make up most of a file. See
 * load_split.h. Test: tests/unit/prof_parts/test_parts.c.
 */
#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/safe/fnv.h"
#include "hpcprof-lite/load/job/load_devices.h"
#include "hpcprof-lite/load/job/load_split.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What the part that read a thread's values found. */
struct found {
	uint64_t n_trace_records, first_trace_ns, last_trace_ns;
	uint64_t is_odd; /* the file has damage; each part that needs it must check it itself */
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

/* A hash of what the parts have to agree on. */
static uint64_t hash_files(const struct load_job *job)
{
	uint64_t h = hash_more(FNV64_START, job->files.n);
	for (size_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		h = fnv64(h, f->path, strlen(f->path) + 1);
		h = hash_more(h, f->is_live);
		for (size_t k = 0; !f->reader && k < f->threads.n; k++) {
			const struct load_thread *t = &f->threads.at[k];
			h = hash_more(h, (uint64_t)t->number << 32 | t->n_nodes);
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
	const bool is_odd = f->leaves_values && !load_check_values(f);
	load_release(f, LOAD_ALL);
	for (size_t k = 0; k < f->threads.n; k++)
		w->found[w->first[file] + k] = (struct found){
			f->threads.at[k].n_trace_records, f->threads.at[k].first_trace_ns,
			f->threads.at[k].last_trace_ns, is_odd};
}

/* Takes over what other parts found, or checks the file itself. */
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

/*
 * Makes rows of files so that each part gets the files that only it has read. False: there are no
 * such rows.
 */
static bool follow_readers(const struct load_job *job, int n_parts, uint64_t *first)
{
	int part = 0;
	for (size_t i = 0; i < job->files.n; i++) {
		const int reader = job->files.at[i].reader - 1;
		if (reader >= 0 && reader < part)
			return false;
		while (part < reader)
			first[++part] = i;
	}
	while (part < n_parts)
		first[++part] = job->files.n;
	return true;
}

/* Cuts the files into rows of about equal work. False: memory is short. */
static bool cut_rows(const struct load_job *job, uint64_t *first)
{
	uint64_t *weights = calloc(job->files.n + 1, sizeof *weights);
	for (size_t i = 0; weights && i < job->files.n; i++)
		weights[i] = job->files.at[i].map.n_bytes + 1;
	if (weights)
		comm_cut(job->comm, weights, job->files.n, first);
	free(weights);
	return weights;
}

/* Opens a file of which this part has only the outline. False: that failed. */
static bool open_outline(struct load_file *f)
{
	const int reader = f->reader;
	const size_t n_threads = f->threads.n;
	const int32_t rank = f->rank;
	const uint32_t spawned_job = f->spawned_job;
	char *path = f->path;
	f->path = NULL;
	mapfile_close(&f->map);
	load_file_close(f);
	f->leaves_values = true;
	bool ok = load_file_open(path, f) == STATUS_OK;
	if (ok && f->threads.n != n_threads) {
		log_error(path, "changed while it was read");
		ok = false;
	}
	f->reader = reader;
	f->rank = rank;
	f->spawned_job = spawned_job;
	free(path);
	return ok;
}

struct opening {
	struct load_job *job;
	bool all; /* false: only the files of this part's row */
	atomic_bool failed;
};

static void open_more(void *arg, size_t i, unsigned worker)
{
	struct opening *o = arg;
	struct load_file *f = &o->job->files.at[i];
	(void)worker;
	if (f->is_outline && (o->all || load_is_own(o->job, i)) && !open_outline(f))
		atomic_store(&o->failed, true);
	if (o->all)
		f->reader = 0;
}

/* Ends a step. */
static enum status open_outlines(struct load_job *job, bool all, unsigned n_workers)
{
	struct opening o = {.job = job, .all = all};
	pool_run(job->files.n, n_workers, open_more, &o);
	return comm_agree(job->comm, atomic_load(&o.failed) ? STATUS_IO : STATUS_OK);
}

/*
 * Moves the rows of readers so that no GPU is in two rows. *fits: the rows are still even enough.
 * Ends a step.
 */
static enum status keep_devices(struct load_job *job, unsigned n_workers, bool *fits)
{
	*fits = true;
	if (!load_devices_any(job))
		return STATUS_OK;
	const bool ok = load_devices_keep(job, job->first_file, fits);
	const enum status s = comm_agree(job->comm, ok ? STATUS_OK : STATUS_NO_MEMORY);
	return s == STATUS_OK && *fits ? open_outlines(job, false, n_workers) : s;
}

/*
 * Decides which part uses which files. All parts open all files if the order of names differs from
 * that of the files, or if GPUs prevent even rows.
 */
static enum status cut_files(struct load_job *job, unsigned n_workers)
{
	struct comm *c = job->comm;
	enum status s = STATUS_OK;
	bool fits = job->is_split && follow_readers(job, c->n_parts, job->first_file);
	if (fits)
		s = keep_devices(job, n_workers, &fits);
	if (s != STATUS_OK || fits)
		return s;
	if (job->is_split)
		s = open_outlines(job, true, n_workers);
	job->is_split = false;
	if (s == STATUS_OK)
		s = comm_agree(c, cut_rows(job, job->first_file) ? STATUS_OK : STATUS_NO_MEMORY);
	return s;
}

/* Checks this part's files and exchanges the results. */
static void check_all(struct checking *w, uint64_t *threads, unsigned n_workers)
{
	struct load_job *job = w->job;
	for (int i = 0; i <= job->comm->n_parts; i++)
		threads[i] = w->first[job->first_file[i]];
	pool_run(job->files.n, n_workers, check_own, w);
	comm_fill(job->comm, w->found, sizeof *w->found, threads);
	pool_run(job->files.n, n_workers, take_over, w);
	for (size_t i = 0; i < job->files.n; i++)
		load_warn_of_damage(&job->files.at[i]);
}

enum status load_share(struct load_job *job, enum status s, unsigned n_workers)
{
	struct comm *c = job->comm;
	if (comm_agree(c, s) != STATUS_OK)
		return c->failed;
	struct checking w = {.job = job};
	uint64_t *threads = calloc((size_t)c->n_parts + 1, sizeof *threads);
	job->part = c->part;
	job->first_file = calloc((size_t)c->n_parts + 1, sizeof *job->first_file);
	if (!threads || !job->first_file || !prepare(&w)) {
		log_error(NULL, "out of memory");
		s = STATUS_NO_MEMORY;
	}
	if (comm_agree(c, s) == STATUS_OK && cut_files(job, n_workers) == STATUS_OK &&
	    comm_agree_on(c, STATUS_OK, hash_files(job)) == STATUS_OK)
		check_all(&w, threads, n_workers);
	free(w.found);
	free(w.first);
	free(threads);
	return c->failed;
}
