/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_job.h. Test: tests/unit/prof/test_load.c, tests/cli/prof/prof_cli.sh. */
#include "hpcprof-lite/load/job/load_job.h"

#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/load/job/load_opening.h"
#include "hpcprof-lite/load/job/load_ranks.h"
#include "hpcprof-lite/load/job/load_split.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

static enum status open_inside(struct load_opened *o)
{
	for (size_t i = 0; i < o->file.inside.n; i++) {
		struct load_file *f = vec_push(&o->inside);
		if (!f)
			return STATUS_NO_MEMORY;
		enum status s = load_file_inside(&o->file, i, f);
		if (s == STATUS_OK)
			continue;
		load_file_close(f);
		o->inside.n--;
		if (s != STATUS_NOT_FOUND)
			return s;
		o->n_short++;
	}
	return STATUS_OK;
}

/* True if giving pages back and mapping them again would cost more than it saves. */
static bool is_small(uint64_t n_bytes)
{
	return n_bytes <= (uint64_t)256 << 20;
}

static void open_one(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct load_opening *o = arg;
	struct load_opened *one = &o->opened[o->first + i];
	if (one->is_done)
		return;
	one->is_done = true;
	one->file.stays = o->stays;
	one->file.leaves_lines = o->leaves_lines;
	one->file.leaves_values = o->leaves_values;
	one->result = load_file_open(o->l->files.at[o->first + i].path, &one->file);
	if (one->result == STATUS_OK)
		one->result = open_inside(one);
	log_progress("reading measurement files", atomic_fetch_add(&o->n_done, 1) + 1,
		     o->l->files.n);
}

void load_opening_run(struct load_opening *o, unsigned n_workers)
{
	pool_run(o->end - o->first, n_workers, open_one, o);
	log_progress(NULL, 0, 0);
}

static int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_files(const void *pa, const void *pb)
{
	const struct load_file *a = pa, *b = pb;
	int c = compare_i64(a->rank, b->rank);
	if (c == 0)
		c = strcmp(a->header.host, b->header.host);
	if (c == 0)
		c = compare_i64(a->header.pid, b->header.pid);
	if (c == 0)
		c = compare_i64(a->header.exec_seq, b->header.exec_seq);
	if (c == 0)
		c = compare_i64((int64_t)a->header.start_real_ns, (int64_t)b->header.start_real_ns);
	return c ? c : strcmp(a->path, b->path);
}

/* Moves the file and the files inside it into the job. False if memory is short. */
static bool keep(struct load_job *job, struct load_opened *o)
{
	struct load_file *to = vec_extend(&job->files, 1 + o->inside.n);
	if (!to)
		return false;
	to[0] = o->file;
	if (o->inside.n)
		memcpy(to + 1, o->inside.at, o->inside.n * sizeof *to);
	job->n_short += o->n_short;
	o->inside.n = 0;
	memset(&o->file, 0, sizeof o->file);
	return true;
}

/*
 * Sets `stays` now that sizes are known. Before, a file looked small if its data was elsewhere on
 * this node.
 */
static void let_small_stay(struct load_job *job)
{
	uint64_t n_bytes = 0;
	for (size_t i = 0; i < job->files.n; i++)
		if (!job->files.at[i].is_inside && !job->files.at[i].is_outline)
			n_bytes += job->files.at[i].map.n_bytes;
	for (size_t i = 0; i < job->files.n; i++)
		job->files.at[i].stays = is_small(n_bytes);
}

/* Keeps the files that could be read. The first real failure decides the status. */
static enum status keep_sound(struct load_job *job, struct load_opened *opened, size_t n)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < n; i++) {
		enum status result = opened[i].result;
		if (result == STATUS_OK && !keep(job, &opened[i]))
			result = STATUS_NO_MEMORY;
		if (result == STATUS_NOT_FOUND)
			job->n_short++;
		else if (result && s == STATUS_OK)
			s = result;
	}
	if (s == STATUS_OK && job->files.n == 0) {
		log_error(NULL, "none of the measurement files holds anything");
		s = STATUS_NOT_FOUND;
	}
	return s;
}

static void close_opened(struct load_opened *o)
{
	for (size_t i = 0; i < o->inside.n; i++)
		load_file_close(&o->inside.at[i]);
	vec_free(&o->inside);
	load_file_close(&o->file);
}

static enum status open_all(const struct load_list *l, unsigned n_workers, struct load_job *job)
{
	struct load_opening o = {.l = l,
				 .opened = calloc(l->files.n + 1, sizeof *o.opened),
				 .end = l->files.n,
				 .stays = is_small(load_list_n_bytes(l)),
				 .leaves_lines = job->leaves_lines,
				 .leaves_values = job->comm};
	enum status s = o.opened ? STATUS_OK : STATUS_NO_MEMORY;
	if (!o.opened)
		log_error(NULL, "out of memory");
	if (job->comm)
		s = load_split_open(&o, job, s, n_workers);
	else if (s == STATUS_OK)
		load_opening_run(&o, n_workers);
	if (s == STATUS_OK)
		s = keep_sound(job, o.opened, l->files.n);
	for (size_t i = 0; o.opened && i < l->files.n; i++)
		close_opened(&o.opened[i]);
	free(o.opened);
	let_small_stay(job);
	if (!load_rank_files(job) && s == STATUS_OK) {
		log_error(NULL, "out of memory");
		s = STATUS_NO_MEMORY;
	}
	if (job->files.n)
		qsort(job->files.at, job->files.n, sizeof *job->files.at, compare_files);
	return s;
}

enum status load_job_open(char *const *directories, size_t n_directories, unsigned n_workers,
			  struct load_job *job)
{
	struct load_list l = {.skipped = job->skipped};
	enum status s = STATUS_OK;
	if (!job->comm || job->comm->part == 0)
		s = load_list_directories(directories, n_directories, &l);
	if (job->comm)
		s = load_split_list(job->comm, s, &l);
	if (s == STATUS_OK)
		s = open_all(&l, n_workers, job);
	load_list_free(&l);
	if (job->comm)
		return load_share(job, s, n_workers);
	for (size_t i = 0; s == STATUS_OK && i < job->files.n; i++)
		load_warn_of_damage(&job->files.at[i]);
	return s;
}

void load_job_close(struct load_job *job)
{
	for (size_t pass = 0; pass < 2; pass++) /* files inside of another one first */
		for (size_t i = 0; i < job->files.n; i++)
			if (job->files.at[i].is_inside == (pass == 0))
				load_file_close(&job->files.at[i]);
	vec_free(&job->files);
	free(job->first_file);
	job->first_file = NULL;
}
