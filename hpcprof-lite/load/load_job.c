/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_job.h. Test: tests/unit/prof/test_load.c, tests/cli/prof/prof_cli.sh. */
#include "hpcprof-lite/load/load_job.h"

#include "common/base/log.h"
#include "common/base/map.h"
#include "common/base/pool.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct listing {
	VEC(char *) paths; /* owned */
	struct map seen;   /* (device, inode) */
	uint64_t n_bytes;
};

static bool has_suffix(const char *name)
{
	size_t n = strlen(name), m = strlen(MSR_SUFFIX);
	return n > m && strcmp(name + n - m, MSR_SUFFIX) == 0;
}

static enum status add_path(struct listing *l, const char *directory, const char *name)
{
	struct stat st = {0};
	char *path;
	if (asprintf(&path, "%s/%s", directory, name) < 0) {
		log_error(directory, "out of memory");
		return STATUS_NO_MEMORY;
	}
	char **slot = NULL;
	bool known = stat(path, &st) == 0 && map_get(&l->seen, st.st_dev, st.st_ino) != MAP_NONE;
	if (!known) {
		map_put(&l->seen, st.st_dev, st.st_ino, 0);
		l->n_bytes += (uint64_t)st.st_size;
		slot = vec_push(&l->paths);
		if (slot)
			*slot = path;
	}
	if (!slot)
		free(path);
	if (!slot && !known) {
		log_error(directory, "out of memory");
		return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

static enum status list_directory(struct listing *l, const char *directory)
{
	DIR *d = opendir(directory);
	if (!d) {
		log_error(directory, "%s", strerror(errno));
		return STATUS_IO;
	}
	size_t n_before = l->paths.n, n_found = 0;
	enum status s = STATUS_OK;
	for (struct dirent *e; s == STATUS_OK && (e = readdir(d));) {
		if (!has_suffix(e->d_name))
			continue;
		n_found++;
		s = add_path(l, directory, e->d_name);
	}
	closedir(d);
	if (s == STATUS_OK && n_found == 0) {
		log_error(directory, "no measurement files (*" MSR_SUFFIX ") in this directory");
		return STATUS_NOT_FOUND;
	}
	if (s == STATUS_OK && l->paths.n == n_before)
		log_warn(directory, "named twice; its files count once");
	return s;
}

/* A path of the listing: the file, and the processes inside of it. */
struct opened {
	struct load_file file;
	enum status result;
	VEC(struct load_file) inside; /* all of them sound */
	size_t n_short;               /* that hold nothing */
};

struct opening {
	struct listing *l;
	struct opened *opened;
	bool leaves_values;
	atomic_size_t n_done;
};

static enum status open_inside(struct opened *o)
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

/* Giving pages back and mapping them again costs more than small files are worth. */
static bool is_small(uint64_t n_bytes)
{
	return n_bytes <= (uint64_t)256 << 20;
}

static void open_one(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct opening *o = arg;
	struct opened *one = &o->opened[i];
	one->file.stays = is_small(o->l->n_bytes);
	one->file.leaves_values = o->leaves_values;
	one->result = load_file_open(o->l->paths.at[i], &one->file);
	if (one->result == STATUS_OK)
		one->result = open_inside(one);
	log_progress("reading measurement files", atomic_fetch_add(&o->n_done, 1) + 1,
		     o->l->paths.n);
}

static int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_files(const void *pa, const void *pb)
{
	const struct load_file *a = pa, *b = pb;
	int c = compare_i64(a->header.rank, b->header.rank);
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
static bool keep(struct load_job *job, struct opened *o)
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

/* Now that their sizes are known: the data of some may have been on this node. */
static void let_small_stay(struct load_job *job)
{
	uint64_t n_bytes = 0;
	for (size_t i = 0; i < job->files.n; i++)
		n_bytes += job->files.at[i].is_inside ? 0 : job->files.at[i].map.n_bytes;
	for (size_t i = 0; i < job->files.n; i++)
		job->files.at[i].stays = is_small(n_bytes);
}

/* Keeps the files that could be read; the first failure that counts decides. */
static enum status keep_sound(struct load_job *job, struct opened *opened, size_t n)
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

static void close_opened(struct opened *o)
{
	for (size_t i = 0; i < o->inside.n; i++)
		load_file_close(&o->inside.at[i]);
	vec_free(&o->inside);
	load_file_close(&o->file);
}

static enum status open_all(struct listing *l, unsigned n_workers, struct load_job *job)
{
	struct opening o = {.l = l,
			    .opened = calloc(l->paths.n, sizeof *o.opened),
			    .leaves_values = job->leaves_values};
	if (!o.opened) {
		log_error(NULL, "out of memory");
		return STATUS_NO_MEMORY;
	}
	pool_run(l->paths.n, n_workers, open_one, &o);
	log_progress(NULL, 0, 0);
	enum status s = keep_sound(job, o.opened, l->paths.n);
	for (size_t i = 0; i < l->paths.n; i++)
		close_opened(&o.opened[i]);
	free(o.opened);
	let_small_stay(job);
	if (job->files.n)
		qsort(job->files.at, job->files.n, sizeof *job->files.at, compare_files);
	for (size_t i = 0; i < job->files.n && !job->leaves_values; i++)
		load_warn_of_damage(&job->files.at[i]);
	return s;
}

enum status load_job_open(char *const *directories, size_t n_directories, unsigned n_workers,
			  struct load_job *job)
{
	struct listing l = {0};
	enum status s = STATUS_OK;
	for (size_t i = 0; s == STATUS_OK && i < n_directories; i++)
		s = list_directory(&l, directories[i]);
	if (s == STATUS_OK)
		s = open_all(&l, n_workers, job);
	for (size_t i = 0; i < l.paths.n; i++)
		free(l.paths.at[i]);
	vec_free(&l.paths);
	map_free(&l.seen);
	return s;
}

void load_job_close(struct load_job *job)
{
	for (size_t pass = 0; pass < 2; pass++) /* those inside of another first */
		for (size_t i = 0; i < job->files.n; i++)
			if (job->files.at[i].is_inside == (pass == 0))
				load_file_close(&job->files.at[i]);
	vec_free(&job->files);
	free(job->first_file);
	job->first_file = NULL;
}
