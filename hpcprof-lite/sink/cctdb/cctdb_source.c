/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of the source files that contexts name, below src/ of the database at their absolute
 * paths, where hpcviewer looks for them. A file is left out if it cannot be read, is not a regular
 * file, is unreasonably large, or may not be read by the owners of the measurement (rights.h). Its
 * path is still in meta.db. So is that of a file that hardly matters. A file is also left out if
 * its path is a directory of another file, because it is in an archive or is gone. A copy is
 * readable only for those who could read the original. A copy that cannot be written fails the
 * sink. Tests: tests/unit/sink/test_sink_cctdb.c, tests/cli/sink/sink_cctdb.sh.
 */
#include "common/base/log.h"
#include "common/base/map.h"
#include "common/base/pool.h"
#include "common/base/vec.h"
#include "common/rights/rights.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/source_find.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SOURCE_BYTES = 16 << 20, COPY_BYTES = 64 << 10 };

/*
 * Less than this of every metric: not copied. A program that imports PyTorch runs lines of 700
 * files once, 13 MB of source.
 */
#define SHARE 0.005

/* A file to copy, and the result. */
struct source {
	uint32_t file;
	char *relative;
	int cause; /* why it could not be written; 0: nothing failed */
	bool is_directory; /* other sources are below it */
	bool is_copied, is_private;
};

struct copying {
	const struct model *m;
	const struct sink_options *o;
	struct rights owners;
	VEC(struct source) sources;
	atomic_bool failed; /* ends the others */
};

/*
 * Makes the directories above a file. Usually the last one exists already, or the one above it.
 * False, with errno, if that fails.
 */
static bool make_parents(char *path, size_t n_root)
{
	char *slash = strrchr(path, '/');
	if (!slash || (size_t)(slash - path) <= n_root)
		return true;
	*slash = '\0';
	bool ok = mkdir(path, 0777) == 0 || errno == EEXIST ||
		  (errno == ENOENT && make_parents(path, n_root) &&
		   (mkdir(path, 0777) == 0 || errno == EEXIST));
	*slash = '/';
	return ok;
}

/* Returns 0 or errno. */
static int write_all(int fd, const uint8_t *bytes, size_t n)
{
	while (n) {
		const ssize_t done = write(fd, bytes, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? errno : ENOSPC;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

static ssize_t read_some(int fd, uint8_t *bytes)
{
	ssize_t n;
	do
		n = read(fd, bytes, COPY_BYTES);
	while (n < 0 && errno == EINTR);
	return n;
}

/*
 * Returns 0 or the errno of a write that failed. *is_whole: false if the original could not be read
 * to its end; then it counts as missing.
 */
static int write_copy(int from, const char *path, mode_t mode, bool *is_whole)
{
	uint8_t buffer[COPY_BYTES];
	const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (to < 0)
		return errno;
	ssize_t n = 0;
	int cause = 0;
	while (!cause && (n = read_some(from, buffer)) > 0)
		cause = write_all(to, buffer, (size_t)n);
	if (close(to) != 0 && errno != EINTR && !cause)
		cause = errno;
	*is_whole = n == 0 && !cause;
	if (!*is_whole)
		unlink(path);
	return cause;
}

/* True if a name is too long here, or if names that differ only in case are the same here. */
static bool has_no_place(int cause)
{
	return cause == ENAMETOOLONG || cause == EEXIST || cause == ENOTDIR;
}

/* Returns 0 or errno. */
static int create(const struct copying *c, struct source *s, int from, mode_t mode)
{
	const char *directory = c->o->directory;
	char *path = outfile_path(directory, s->relative);
	if (!path)
		return ENOMEM;
	int cause = make_parents(path, strlen(directory) + strlen("/src"))
			    ? write_copy(from, path, mode, &s->is_copied)
			    : errno;
	free(path);
	return has_no_place(cause) ? 0 : cause;
}

static void copy_one(void *arg, size_t i, unsigned worker)
{
	struct copying *c = arg;
	struct source *s = &c->sources.at[i];
	char archived[PATH_MAX];
	struct stat st;
	mode_t mode;
	(void)worker;
	if (s->is_directory ||
	    atomic_load_explicit(&c->failed, memory_order_relaxed)) /* only saves work */
		return;
	const int fd = rights_open(
		&c->owners,
		source_find(c->o, s->relative, c->m->files[s->file].path, archived), &st, &mode);
	if (fd < 0)
		return;
	if (st.st_size <= MAX_SOURCE_BYTES)
		s->cause = create(c, s, fd, mode);
	close(fd);
	s->is_private = s->is_copied && !(mode & S_IROTH);
	if (s->cause)
		atomic_store_explicit(&c->failed, true, memory_order_relaxed);
}

/* Logs one cause for all, because several workers may have failed. */
static enum status say_first_cause(const struct copying *c)
{
	for (size_t i = 0; i < c->sources.n; i++) {
		const struct source *s = &c->sources.at[i];
		if (s->cause && s->cause != ENOMEM)
			log_error(c->o->directory, "%s: %s", s->relative, strerror(s->cause));
		if (s->cause)
			return s->cause == ENOMEM ? STATUS_NO_MEMORY : STATUS_IO;
	}
	return STATUS_OK;
}

static void name_files(const struct model *m, uint32_t context, bool *named)
{
	const struct model_context *c = &m->contexts[context];
	if (c->file < m->n_files)
		named[c->file] = true;
	if (c->kind == MODEL_CONTEXT_FUNCTION && c->function < m->n_functions &&
	    m->functions[c->function].file < m->n_files)
		named[m->functions[c->function].file] = true;
}

/* The files of contexts that have at least SHARE of a metric. NULL: memory is short. */
static bool *named_files(const struct model *m)
{
	bool *named = calloc(m->n_files ? m->n_files : 1, sizeof *named);
	double *whole = calloc((size_t)m->n_metrics + 1, sizeof *whole);
	for (size_t i = 0; named && whole && i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		if (t->context == 0) /* the root's come first */
			whole[t->metric] = t->sum[MODEL_EXECUTION];
		if (t->sum[MODEL_EXECUTION] >= SHARE * whole[t->metric])
			name_files(m, t->context, named);
	}
	if (!whole) {
		free(named);
		named = NULL;
	}
	free(whole);
	return named;
}

/* Marks the sources whose path will be a directory. seen: as in list_sources(). */
static void mark_directories(const struct copying *c, const struct map *seen)
{
	for (size_t i = 0; i < c->sources.n; i++) {
		const char *path = c->sources.at[i].relative;
		for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
			const size_t n = (size_t)(end - path);
			const uint64_t at = map_get(seen, hash_bytes(path, n), n);
			if (at != MAP_NONE && memcmp(c->sources.at[at].relative, path, n) == 0)
				c->sources.at[at].is_directory = true;
		}
	}
}

/*
 * Lists each path of the named files once. `first` is, for each named file, 1 + the index of its
 * path. False: out of memory.
 */
static bool list_sources(struct copying *c, const bool *named, uint32_t *first)
{
	struct map seen = {0}; /* hash of the path below src -> index */
	bool ok = true;
	for (uint32_t i = 0; ok && i < c->m->n_files; i++) {
		char *relative = NULL;
		ok = !named[i] || source_relative(c->m->files[i].path, &relative);
		if (!relative)
			continue;
		const uint64_t key = hash_bytes(relative, strlen(relative)),
			       check = strlen(relative), at = map_get(&seen, key, check);
		if (at != MAP_NONE) {
			first[i] = strcmp(c->sources.at[at].relative, relative) == 0
					   ? (uint32_t)at + 1
					   : 0;
			free(relative);
			continue;
		}
		struct source *s = vec_push(&c->sources);
		ok = s && map_put(&seen, key, check, c->sources.n - 1) != MAP_NONE;
		if (s)
			*s = (struct source){.file = i, .relative = relative};
		else
			free(relative);
		first[i] = (uint32_t)c->sources.n;
	}
	mark_directories(c, &seen);
	map_free(&seen);
	return ok;
}

/* Notes which files have a copy. False: out of memory. */
static bool note_copied(const struct copying *c, const uint32_t *first, struct cctdb_sources *s)
{
	bool ok = true;
	for (uint32_t i = 0; i < c->m->n_files; i++) {
		const struct source *from = first[i] ? &c->sources.at[first[i] - 1] : NULL;
		if (!from || !from->is_copied)
			continue;
		s->relative[i] = strdup(from->relative);
		ok = ok && s->relative[i];
	}
	return ok;
}

/* Copies the named files. Several file ids may mean one path. */
static enum status copy_named(const struct model *m, const struct sink_options *o,
			      const bool *named, struct cctdb_sources *s)
{
	struct copying c = {.m = m, .o = o};
	uint32_t *first = calloc(m->n_files ? m->n_files : 1, sizeof *first);
	bool ok = source_owners_find(m, &c.owners) && first && list_sources(&c, named, first);
	if (ok) {
		pool_run(c.sources.n, o->n_workers, copy_one, &c);
		ok = note_copied(&c, first, s);
	}
	enum status status = say_first_cause(&c);
	if (!ok || status == STATUS_NO_MEMORY) {
		log_error(o->directory, "out of memory");
		status = STATUS_NO_MEMORY;
	}
	for (size_t i = 0; i < c.sources.n; i++) {
		if (c.sources.at[i].is_private && o->is_private)
			*o->is_private = true;
		free(c.sources.at[i].relative);
	}
	vec_free(&c.sources);
	rights_free(&c.owners);
	free(first);
	return status;
}

enum status cctdb_copy_sources(const struct model *m, const struct sink_options *o,
			       struct cctdb_sources *s)
{
	char *root = outfile_path(o->directory, "src");
	bool *named = named_files(m);
	*s = (struct cctdb_sources){
		.relative = calloc(m->n_files ? m->n_files : 1, sizeof *s->relative),
		.n = m->n_files};
	enum status status = STATUS_NO_MEMORY;
	if (!root || !named || !s->relative)
		log_error(o->directory, "out of memory");
	else if ((status = outdir_make(root)) == STATUS_OK) {
		status = o->no_sources ? STATUS_OK : copy_named(m, o, named, s);
		if (status != STATUS_OK)
			outdir_remove(root);
	}
	free(named);
	free(root);
	if (status != STATUS_OK)
		cctdb_sources_free(s);
	return status;
}

void cctdb_sources_free(struct cctdb_sources *s)
{
	for (uint32_t i = 0; s->relative && i < s->n; i++)
		free(s->relative[i]);
	free(s->relative);
	*s = (struct cctdb_sources){0};
}
