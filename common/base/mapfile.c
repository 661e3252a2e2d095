/* SPDX-License-Identifier: BSD-3-Clause */
/* A file mapped for reading; see mapfile.h. The mapping is private, so later writers cannot change
 * what was validated, except by truncating the file. A process may have only 65530 mappings
 * (vm.max_map_count), and a job may have more ranks. Files beyond MOST_MAPS are read instead.
 * Test: tests/unit/common/test_base.c. */
#include "common/base/mapfile.h"

#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_MAPS = 60000, ALIGNMENT = 4096 };
static atomic_uint n_maps;

/* Reads the whole file. Returns NULL and sets errno on failure. */
static void *read_whole(int fd, size_t n_bytes)
{
	void *to = NULL;
	int cause = posix_memalign(&to, ALIGNMENT, n_bytes);
	for (size_t n = 0; !cause && n < n_bytes;) {
		ssize_t got = pread(fd, (char *)to + n, n_bytes - n, (off_t)n);
		if (got > 0)
			n += (size_t)got;
		else if (got == 0 || errno != EINTR)
			cause = got == 0 ? EIO : errno;
	}
	if (!cause)
		return to;
	free(to);
	errno = cause;
	return NULL;
}

/* Maps the file, or reads it if there are too many mappings. NULL and errno if both fail. */
static void *get_bytes(int fd, size_t n_bytes, bool *is_copy)
{
	/* relaxed: only a number; a few mappings more or less do not matter */
	void *p = atomic_load_explicit(&n_maps, memory_order_relaxed) < MOST_MAPS
			  ? mmap(NULL, n_bytes, PROT_READ, MAP_PRIVATE, fd, 0)
			  : MAP_FAILED;
	*is_copy = p == MAP_FAILED;
	if (!*is_copy)
		atomic_fetch_add_explicit(&n_maps, 1, memory_order_relaxed);
	return *is_copy ? read_whole(fd, n_bytes) : p;
}

/*
 * Returns where we take the file to end. Readers go over all bytes, so a hole costs them as much as
 * data. A file with more than MUCH bytes of holes ends at its first large hole.
 */
static uint64_t plausible_end(const char *path, int fd, const struct stat *st)
{
	static const off_t MUCH = (off_t)1 << 30, LARGE = (off_t)64 << 20;
	enum { BLOCK = 512 };
	if (st->st_size < MUCH || st->st_size - MUCH < (off_t)st->st_blocks * BLOCK)
		return (uint64_t)st->st_size;
	for (off_t data = 0, hole; data < st->st_size; ) {
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0 || hole >= st->st_size)
			break;
		data = lseek(fd, hole, SEEK_DATA);
		if (data < 0)
			data = st->st_size;
		if (data - hole < LARGE)
			continue;
		log_warn(path, "a hole of %llu MiB at offset %llu: what lies behind it is not read",
			(unsigned long long)(data - hole) >> 20, (unsigned long long)hole);
		return (uint64_t)hole;
	}
	return (uint64_t)st->st_size;
}

static void log_failure(const char *path, int fd, const struct stat *st)
{
	if (fd >= 0 && !S_ISREG(st->st_mode))
		log_error(path, "not a regular file");
	else
		log_error(path, "%s", strerror(errno));
}

enum status mapfile_open(const char *path, struct mapfile *m)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return STATUS_NOT_FOUND;
	return mapfile_take(fd, path, m);
}

enum status mapfile_take(int fd, const char *path, struct mapfile *m)
{
	struct stat st = {.st_mode = S_IFREG};
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		log_failure(path, fd, &st);
		if (fd >= 0)
			close(fd);
		return STATUS_IO;
	}
	bool is_copy = false;
	size_t n_bytes = (size_t)plausible_end(path, fd, &st);
	void *p = n_bytes > 0 ? get_bytes(fd, n_bytes, &is_copy) : NULL;
	int cause = errno;
	close(fd);
	if (n_bytes > 0 && !p) {
		log_error(path, "cannot be mapped: %s", strerror(cause));
		return STATUS_IO;
	}
	*m = (struct mapfile){p, n_bytes,
			      (uint64_t)st.st_mtim.tv_sec * 1000000000u +
				      (uint64_t)st.st_mtim.tv_nsec,
			      st.st_uid, is_copy};
	return STATUS_OK;
}

void mapfile_close(struct mapfile *m)
{
	if (m->is_copy) {
		free((void *)(uintptr_t)m->bytes);
	} else if (m->bytes) {
		munmap((void *)(uintptr_t)m->bytes, m->n_bytes);
		atomic_fetch_sub_explicit(&n_maps, 1, memory_order_relaxed);
	}
	*m = (struct mapfile){0};
}
