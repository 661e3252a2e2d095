/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of the source files that contexts name, below src/ of the database at their absolute
 * paths, where hpcviewer looks for them. A file that cannot be read, is no regular file, is
 * unreasonably large, or is not for the owners of the measurement (source_rights.h) is left out:
 * its path still stands in meta.db. A copy is for no one who could not read the original. A copy
 * that cannot be written fails the sink. Tests: tests/unit/sink/test_sink_cctdb.c,
 * tests/cli/sink/sink_cctdb.sh.
 */
#include "common/base/log.h"
#include "common/base/map.h"
#include "common/base/pool.h"
#include "common/base/vec.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/source_find.h"
#include "hpcprof-lite/sink/source_rights.h"

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

/* A file to copy, and what became of it. */
struct source {
	uint32_t file;
	char *relative;
	bool is_copied, is_private;
};

struct copying {
	const struct model *m;
	const struct sink_options *o;
	struct source_owners owners;
	VEC(struct source) sources;
	_Atomic int status; /* enum status: the first failure, which ends the others */
};

/*
 * Makes the directories above a file. Mostly the last one is there already, or the one above it.
 * False, with errno, when that cannot be.
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

/* Creates the copy. *can: false with STATUS_OK: another file is where a directory should be. */
static enum status create(const char *directory, const char *relative, mode_t mode, bool *can,
			  struct outfile *out)
{
	char *path = outfile_path(directory, relative);
	*can = true;
	if (!path)
		return STATUS_NO_MEMORY;
	const bool made = make_parents(path, strlen(directory) + strlen("/src"));
	const int error = errno;
	free(path);
	if (made)
		return outfile_create_as(out, directory, relative, mode);
	*can = false;
	if (error == ENOTDIR || error == ENAMETOOLONG)
		return STATUS_OK;
	log_error(directory, "%s: %s", relative, strerror(error));
	return STATUS_IO;
}

/* Fails only if writing fails, and logs that. */
static enum status copy(const struct copying *c, struct source *s)
{
	const char *directory = c->o->directory;
	char archived[PATH_MAX];
	uint8_t buffer[COPY_BYTES];
	struct outfile out;
	struct stat st;
	mode_t mode;
	bool can;
	int fd = source_open(
		&c->owners,
		source_find(c->o, s->relative, c->m->files[s->file].path, archived), &st, &mode);
	if (fd >= 0 && st.st_size > MAX_SOURCE_BYTES)
		close(fd), fd = -1;
	if (fd < 0)
		return STATUS_OK;
	enum status status = create(directory, s->relative, mode, &can, &out);
	if (!can || status != STATUS_OK) {
		close(fd);
		return status;
	}
	s->is_private = !(mode & S_IROTH);
	uint64_t offset = 0;
	ssize_t n;
	while ((n = read(fd, buffer, COPY_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || outfile_write(&out, buffer, (size_t)n, offset) != STATUS_OK)
			break;
		offset += (uint64_t)n;
	}
	close(fd);
	if (n < 0) { /* unreadable half-way: as if it were not there */
		outfile_abandon(&out);
		return STATUS_OK;
	}
	status = outfile_close(&out);
	s->is_copied = status == STATUS_OK;
	return status;
}

static void copy_one(void *arg, size_t i, unsigned worker)
{
	struct copying *c = arg;
	int ok = STATUS_OK;
	(void)worker;
	if (atomic_load_explicit(&c->status, memory_order_relaxed) != STATUS_OK)
		return;
	const enum status status = copy(c, &c->sources.at[i]);
	if (status != STATUS_OK)
		atomic_compare_exchange_strong(&c->status, &ok, (int)status);
}

static bool *named_files(const struct model *m)
{
	bool *named = calloc(m->n_files ? m->n_files : 1, sizeof *named);
	if (!named)
		return NULL;
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		if (c->file < m->n_files)
			named[c->file] = true;
		if (c->kind == MODEL_CONTEXT_FUNCTION && c->function < m->n_functions &&
		    m->functions[c->function].file < m->n_files)
			named[m->functions[c->function].file] = true;
	}
	return named;
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
		char *relative = named[i] ? source_relative(c->m->files[i].path) : NULL;
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
	map_free(&seen);
	return ok;
}

/* Says which files have a copy. False: out of memory. */
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
	enum status status = (enum status)atomic_load(&c.status);
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
	source_owners_free(&c.owners);
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
