/* SPDX-License-Identifier: BSD-3-Clause */
/* A file mapped for reading; see mapfile.h. The mapping is private: later writers do not disturb what was validated, short of truncation.
 * Test: tests/unit/test_base.c. */
#include "common/base/mapfile.h"

#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum status mapfile_open(const char *path, struct mapfile *m)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return STATUS_NOT_FOUND;
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0 || (S_ISDIR(st.st_mode) && (errno = EISDIR))) {
		log_error(path, "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return STATUS_IO;
	}
	void *p = NULL;
	if (st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	int cause = errno;
	close(fd);
	if (p == MAP_FAILED) {
		log_error(path, "cannot be mapped: %s", strerror(cause));
		return STATUS_IO;
	}
	*m = (struct mapfile){p, (size_t)st.st_size, (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec};
	return STATUS_OK;
}

void mapfile_close(struct mapfile *m)
{
	if (m->bytes)
		munmap((void *)(uintptr_t)m->bytes, m->n_bytes);
	*m = (struct mapfile){0};
}
