/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole file mapped for reading: a regular one, and of a sparse one what lies before its first large
 * hole, which nothing that a program writes has. Test: tests/unit/test_base.c.
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
	bool is_copy;         /* in memory of the heap, as there are too many mappings: its pages must not be given back with madvise() */
};

/*
 * Logs and returns STATUS_IO, also for what is no regular file: a FIFO is not waited for. STATUS_NOT_FOUND,
 * not logged, when there is no such file. On success the caller owns *m.
 */
enum status mapfile_open(const char *path, struct mapfile *m);
void mapfile_close(struct mapfile *m);

#endif
