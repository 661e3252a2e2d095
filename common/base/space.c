/* SPDX-License-Identifier: BSD-3-Clause */
/* See space.h. Test: tests/unit/common/test_space.c. */
#include "common/base/space.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Opens a file without a name. Returns -1 on failure. */
static int open_unnamed(const char *directory)
{
	char path[4096];
	if (!directory ||
	    snprintf(path, sizeof path, "%s/hpctoolkit-lite.XXXXXX", directory) >= (int)sizeof path)
		return -1;
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static void *map_file(const char *directory, size_t n_bytes)
{
	int fd = open_unnamed(directory);
	if (fd < 0)
		return NULL;
	void *at = MAP_FAILED;
	if (posix_fallocate(fd, 0, (off_t)n_bytes) == 0)
		at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* Uses huge pages if the kernel has them: tables get filled, and each page costs a fault. */
static void *map_memory(size_t n_bytes, int more_flags)
{
	void *at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | more_flags, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	madvise(at, n_bytes, MADV_HUGEPAGE);
	return at;
}

bool space_get_memory(struct space *s, size_t n_bytes)
{
	enum { MAPPED = 4 << 20 }; /* large enough for one huge page at any address */
	*s = (struct space){.n_bytes = n_bytes, .is_mapped = n_bytes >= MAPPED};
	s->at = s->is_mapped ? map_memory(n_bytes, 0) : calloc(1, n_bytes ? n_bytes : 1);
	return s->at != NULL;
}

bool space_get(struct space *s, size_t n_bytes)
{
	if (n_bytes <= SPACE_IN_MEMORY)
		return space_get_memory(s, n_bytes);
	*s = (struct space){.n_bytes = n_bytes, .is_mapped = true};
	const char *wanted = getenv("TMPDIR");
	s->at = map_file(wanted && *wanted ? wanted : "/var/tmp", n_bytes);
	if (!s->at)
		s->at = map_file("/tmp", n_bytes);
	s->is_file = s->at != NULL;
	if (!s->at)
		s->at = map_memory(n_bytes, MAP_NORESERVE);
	if (!s->at)
		*s = (struct space){0};
	return s->at != NULL;
}

void space_free(struct space *s)
{
	if (s->is_mapped && s->at)
		munmap(s->at, s->n_bytes);
	else
		free(s->at);
	*s = (struct space){0};
}
