/* SPDX-License-Identifier: BSD-3-Clause */
/* Files and directories that a sink writes; see outfile.h.
 * Test: tests/unit/sink/test_sink_outfile.c. */
#include "hpcprof-lite/sink/outfile.h"

#include "common/base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

char *outfile_path(const char *directory, const char *name)
{
	size_t n = strlen(directory) + strlen(name) + 2;
	char *path = malloc(n);
	if (path)
		snprintf(path, n, "%s/%s", directory, name);
	else
		log_error(name, "out of memory");
	return path;
}

static enum status open_file(struct outfile *f, const char *directory, const char *name, int flags,
			     mode_t mode)
{
	*f = (struct outfile){.fd = -1};
	char *path = outfile_path(directory, name);
	if (!path)
		return STATUS_NO_MEMORY;
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, mode);
	if (fd < 0) {
		log_error(path, "%s", strerror(errno));
		free(path);
		return STATUS_IO;
	}
	f->fd = fd;
	f->path = path;
	return STATUS_OK;
}

enum status outfile_create(struct outfile *f, const char *directory, const char *name)
{
	return open_file(f, directory, name, O_CREAT | O_EXCL, 0666);
}

/*
 * A node that writes a part of a page over NFS may write the whole page, with zeros where another
 * node has written. It does not do so for a file with O_DSYNC (Linux, nfs_can_extend_write()).
 */
static int shared_flags(const char *directory)
{
	struct statfs fs;
	return statfs(directory, &fs) == 0 && fs.f_type == NFS_SUPER_MAGIC ? O_DSYNC : 0;
}

enum status outfile_create_shared(struct outfile *f, const char *directory, const char *name)
{
	return open_file(f, directory, name, O_CREAT | O_EXCL | shared_flags(directory), 0666);
}

enum status outfile_join(struct outfile *f, const char *directory, const char *name)
{
	return open_file(f, directory, name, shared_flags(directory), 0);
}

static enum status fail(struct outfile *f, int error)
{
	if (!atomic_exchange(&f->failed, true))
		log_error(f->path, "%s", strerror(error));
	return STATUS_IO;
}

enum status outfile_write(struct outfile *f, const void *bytes, size_t n_bytes, uint64_t offset)
{
	const uint8_t *p = bytes;
	if (atomic_load_explicit(
		    &f->failed,
		    memory_order_relaxed)) /* only saves work; the verdict is read by the closer */
		return STATUS_IO;
	while (n_bytes) {
		ssize_t n = pwrite(f->fd, p, n_bytes, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(f, n < 0 ? errno : ENOSPC);
		p += n;
		offset += (uint64_t)n;
		n_bytes -= (size_t)n;
	}
	return STATUS_OK;
}

enum status outfile_close(struct outfile *f)
{
	if (close(f->fd) != 0 && errno != EINTR)
		fail(f, errno);
	bool failed = atomic_load(&f->failed);
	if (failed)
		unlink(f->path);
	free(f->path);
	*f = (struct outfile){.fd = -1};
	return failed ? STATUS_IO : STATUS_OK;
}

void outfile_abandon(struct outfile *f)
{
	if (!f->path)
		return;
	atomic_store(&f->failed, true);
	outfile_close(f);
}

enum status outstream_open(struct outstream *s, struct outfile *f, uint64_t offset,
			   size_t buffer_bytes)
{
	*s = (struct outstream){
		.file = f, .at = offset, .bytes = malloc(buffer_bytes), .capacity = buffer_bytes};
	if (s->bytes)
		return STATUS_OK;
	log_error(f->path, "out of memory");
	atomic_store(&f->failed, true);
	return STATUS_NO_MEMORY;
}

static enum status flush(struct outstream *s)
{
	enum status status = outfile_write(s->file, s->bytes, s->n, s->at);
	s->at += s->n;
	s->n = 0;
	return status;
}

void outstream_move(struct outstream *s, uint64_t offset)
{
	enum { SMALL_GAP = 64 };
	const uint64_t at = outstream_offset(s);
	if (s->n && offset >= at && offset - at <= SMALL_GAP && offset - at <= s->capacity - s->n) {
		memset(s->bytes + s->n, 0, offset - at);
		s->n += offset - at;
		return;
	}
	flush(s);
	s->at = offset;
}

uint8_t *outstream_room(struct outstream *s, size_t n_bytes)
{
	if (s->capacity - s->n < n_bytes)
		flush(s);
	uint8_t *room = s->bytes + s->n;
	s->n += n_bytes;
	return room;
}

void outstream_put(struct outstream *s, const void *bytes, size_t n_bytes)
{
	for (const uint8_t *from = bytes; n_bytes;) {
		if (s->n == s->capacity)
			flush(s);
		size_t room = s->capacity - s->n, n = n_bytes < room ? n_bytes : room;
		memcpy(s->bytes + s->n, from, n);
		s->n += n;
		from += n;
		n_bytes -= n;
	}
}

enum status outstream_close(struct outstream *s)
{
	enum status status = flush(s);
	free(s->bytes);
	s->bytes = NULL;
	return status;
}

enum status outdir_make(const char *path)
{
	if (mkdir(path, 0777) == 0)
		return STATUS_OK;
	log_error(path, "%s", strerror(errno));
	return STATUS_IO;
}

/* Closes `fd`. */
static void remove_below(int fd)
{
	DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return;
	}
	for (struct dirent *e; (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) == 0)
			continue;
		int sub = openat(dirfd(d), e->d_name,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			remove_below(sub);
		unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}

void outdir_remove(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		remove_below(fd);
	rmdir(path);
}
