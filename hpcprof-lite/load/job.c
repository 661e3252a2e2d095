/* SPDX-License-Identifier: BSD-3-Clause */
/* See job.h. Test: tests/unit/test_load.c, tests/cli/prof_cli.sh. */
#include "hpcprof-lite/load/job.h"

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
};

static bool has_suffix(const char *name)
{
	size_t n = strlen(name), m = strlen(MSR_SUFFIX);
	return n > m && strcmp(name + n - m, MSR_SUFFIX) == 0;
}

static enum status add_path(struct listing *l, const char *directory, const char *name)
{
	struct stat st;
	char *path;
	if (asprintf(&path, "%s/%s", directory, name) < 0) {
		log_error(directory, "out of memory");
		return STATUS_NO_MEMORY;
	}
	char **slot = NULL;
	bool known = stat(path, &st) == 0 && map_get(&l->seen, st.st_dev, st.st_ino) != MAP_NONE;
	if (!known) {
		map_put(&l->seen, st.st_dev, st.st_ino, 0);
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

struct opening {
	struct listing *l;
	struct load_file *files;
	enum status *results;
	atomic_size_t n_done;
};

static void open_one(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct opening *o = arg;
	o->results[i] = load_file_open(o->l->paths.at[i], &o->files[i]);
	log_progress("reading measurement files", atomic_fetch_add(&o->n_done, 1) + 1, o->l->paths.n);
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

/* Keeps the files that could be read; the first failure that counts decides. */
static enum status keep_sound(struct load_job *job, const enum status *results)
{
	enum status s = STATUS_OK;
	size_t kept = 0;
	for (size_t i = 0; i < job->files.n; i++) {
		if (results[i] == STATUS_OK) {
			struct load_file f = job->files.at[i];
			job->files.at[kept++] = f;
			continue;
		}
		if (results[i] == STATUS_NOT_FOUND)
			job->n_short++;
		else if (s == STATUS_OK)
			s = results[i];
		load_file_close(&job->files.at[i]);
	}
	job->files.n = kept;
	if (s == STATUS_OK && kept == 0) {
		log_error(NULL, "none of the measurement files holds anything");
		s = STATUS_NOT_FOUND;
	}
	return s;
}

static enum status open_all(struct listing *l, unsigned n_workers, struct load_job *job)
{
	struct opening o = {.l = l, .results = calloc(l->paths.n, sizeof *o.results)};
	o.files = vec_extend(&job->files, l->paths.n);
	enum status s = STATUS_NO_MEMORY;
	if (o.results && o.files) {
		pool_run(l->paths.n, n_workers, open_one, &o);
		log_progress(NULL, 0, 0);
		s = keep_sound(job, o.results);
	} else {
		log_error(NULL, "out of memory");
	}
	free(o.results);
	if (s == STATUS_OK)
		qsort(job->files.at, job->files.n, sizeof *job->files.at, compare_files);
	return s;
}

enum status load_job_open(char *const *directories, size_t n_directories, unsigned n_workers, struct load_job *job)
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
	for (size_t i = 0; i < job->files.n; i++)
		load_file_close(&job->files.at[i]);
	vec_free(&job->files);
}
