/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps a whole regular file for reading. Of a sparse file it maps only the part before the first
 * large hole, because no program writes large holes. Test: tests/unit/common/test_base.c.
 */
#ifndef COMMON_BASE_MAPFILE_H
#define COMMON_BASE_MAPFILE_H

#include "common/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapfile {
	const uint8_t *bytes; /* page-aligned; NULL for an empty file */
	size_t n_bytes;
	uint64_t mtime_ns;
	uint32_t owner;       /* user id */
	/* on the heap, because there were too many mappings; never call madvise() on its pages */
	bool is_copy;
};

/*
 * On success the caller owns *m. Returns STATUS_NOT_FOUND, without a message, if there is no such
 * file. Logs other failures and returns STATUS_IO, also if the file is not a regular file. Does not
 * wait for the writer of a FIFO.
 */
enum status mapfile_open(const char *path, struct mapfile *m);
/* The same for an open file, which it closes. fd -1: errno says why. `path` is for messages. */
enum status mapfile_take(int fd, const char *path, struct mapfile *m);
void mapfile_close(struct mapfile *m);

#endif
