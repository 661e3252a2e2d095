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
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/source_find.h"
#include "hpcprof-lite/sink/source_rights.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SOURCE_BYTES = 16 << 20, COPY_BYTES = 256 << 10 };

/* Makes the directories above directory/relative. False, with errno, when that cannot be. */
static bool make_parents(const char *directory, const char *relative)
{
	char *path = outfile_path(directory, relative);
	if (!path) {
		errno = ENOMEM;
		return false;
	}
	bool ok = true;
	for (char *slash = path + strlen(directory) + sizeof "/src";
	     ok && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ok = mkdir(path, 0777) == 0 || errno == EEXIST;
		*slash = '/';
	}
	free(path);
	return ok;
}

struct copying {
	const struct sink_options *o;
	struct source_owners owners;
	uint8_t *buffer; /* of COPY_BYTES */
};

/* Sets *copied. Fails only if writing fails, and logs that. */
static enum status copy(const struct copying *c, const char *path, const char *relative,
			bool *copied)
{
	const char *directory = c->o->directory;
	struct outfile out;
	struct stat st;
	mode_t mode;
	int fd = source_open(&c->owners, path, &st, &mode);
	*copied = false;
	if (fd >= 0 && st.st_size > MAX_SOURCE_BYTES)
		close(fd), fd = -1;
	if (fd < 0)
		return STATUS_OK;
	if (!make_parents(directory, relative)) {
		int error = errno;
		close(fd);
		if (error == ENOTDIR || error == ENAMETOOLONG)
			return STATUS_OK;
		log_error(directory, "%s: %s", relative, strerror(error));
		return STATUS_IO;
	}
	enum status status = outfile_create_as(&out, directory, relative, mode);
	if (c->o->is_private && !(mode & S_IROTH))
		*c->o->is_private = true;
	if (status != STATUS_OK) {
		close(fd);
		return status;
	}
	uint64_t offset = 0;
	ssize_t n;
	while ((n = read(fd, c->buffer, COPY_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || outfile_write(&out, c->buffer, (size_t)n, offset) != STATUS_OK)
			break;
		offset += (uint64_t)n;
	}
	close(fd);
	if (n < 0) { /* unreadable half-way: as if it were not there */
		outfile_abandon(&out);
		return STATUS_OK;
	}
	status = outfile_close(&out);
	*copied = status == STATUS_OK;
	return status;
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

/* Copies the named files. Several file ids may mean one path. */
static enum status copy_named(const struct model *m, const struct sink_options *o,
			      const bool *named, struct cctdb_sources *s)
{
	struct map seen = {0}; /* hash of the path below src -> file id + whether it was copied */
	enum status status = STATUS_OK;
	struct copying c = {.o = o, .buffer = malloc(COPY_BYTES)};
	char archived[PATH_MAX];
	bool ready = source_owners_find(m, &c.owners) && c.buffer;
	for (uint32_t i = 0; ready && i < m->n_files && status == STATUS_OK; i++) {
		char *relative = named[i] ? source_relative(m->files[i].path) : NULL;
		if (!relative)
			continue;
		uint64_t key = hash_bytes(relative, strlen(relative)), check = strlen(relative),
			 first = map_get(&seen, key, check);
		bool copied = false;
		if (first == MAP_NONE) {
			status = copy(&c, source_find(o, relative, m->files[i].path, archived),
				      relative, &copied);
			if (map_put(&seen, key, check, i) == MAP_NONE)
				status = STATUS_NO_MEMORY;
		} else {
			copied = s->relative[first] && strcmp(s->relative[first], relative) == 0;
		}
		if (copied && status == STATUS_OK)
			s->relative[i] = relative;
		else
			free(relative);
	}
	if (!ready || status == STATUS_NO_MEMORY) {
		log_error(o->directory, "out of memory");
		status = STATUS_NO_MEMORY;
	}
	free(c.buffer);
	source_owners_free(&c.owners);
	map_free(&seen);
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
