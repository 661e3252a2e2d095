/* SPDX-License-Identifier: BSD-3-Clause */
/* See space.h. Test: tests/unit/common/test_space.c. */
#include "common/base/space.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file without a name, or -1. */
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

bool space_get(struct space *s, size_t n_bytes)
{
	*s = (struct space){.n_bytes = n_bytes};
	if (n_bytes <= SPACE_IN_MEMORY) {
		s->at = calloc(1, n_bytes ? n_bytes : 1);
		return s->at != NULL;
	}
	s->is_mapped = s->is_file = true;
	const char *wanted = getenv("TMPDIR");
	s->at = map_file(wanted && *wanted ? wanted : "/var/tmp", n_bytes);
	if (!s->at)
		s->at = map_file("/tmp", n_bytes);
	if (s->at)
		return true;
	s->is_file = false;
	s->at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->at == MAP_FAILED)
		*s = (struct space){0};
	return s->at != NULL;
}

void space_free(struct space *s)
{
	if (s->is_mapped)
		munmap(s->at, s->n_bytes);
	else
		free(s->at);
	*s = (struct space){0};
}
