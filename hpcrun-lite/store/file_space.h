/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file under the store: makes it, reserves and maps pieces of it, cuts and punches. Knows nothing of extents.
 * The descriptor lies at a high number, close-on-exec; before each use it is checked that it still is our file, since a program may have
 * closed it and opened its own there. Signal-safe. Tests: tests/unit/test_store.c.
 */
#ifndef HPCRUN_LITE_STORE_FILE_SPACE_H
#define HPCRUN_LITE_STORE_FILE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

enum space_result {
	SPACE_OK,
	SPACE_FULL,      /* disk full or over quota */
	SPACE_LIMIT,     /* RLIMIT_FSIZE, or a bound of ours */
	SPACE_NO_MEMORY, /* mmap refused */
	SPACE_LOST       /* the descriptor is gone and the file could not be opened again, or an I/O error */
};

struct space {
	int fd;          /* descriptor + 1; 0: none, so that zeroed memory is a closed space */
	uint64_t device, inode;
	char path[4352];
};

/* Makes the file, exclusively; false with the cause as a constant string. */
bool space_create(struct space *s, const char *directory, int rank, const char *host, unsigned pid, const char **cause);
/* The same by the name that it has in the directory, which is not taken. */
bool space_create_named(struct space *s, const char *directory, const char *name, const char **cause);

/* Reserves *n_bytes (multiples of 4096; shortened when only less may be had) at `offset`, the end of the file, and maps them. */
enum space_result space_add(struct space *s, uint64_t offset, uint64_t *n_bytes, uint8_t **base);

/* Writes at `offset`; within the limit on file sizes, or nothing. */
enum space_result space_write(struct space *s, const void *bytes, uint64_t n_bytes, uint64_t offset);
/* Maps the file's first bytes over what is mapped at `at` (a page). */
enum space_result space_map_over(struct space *s, void *at, uint64_t n_bytes);

void space_punch(struct space *s, uint64_t offset, uint64_t n_bytes);
void space_cut(struct space *s, uint64_t n_bytes);

/* Another descriptor number for the same file, the old one stays open for the caller to overwrite. False: given up. */
bool space_move_fd(struct space *s);

/* Takes the file away again, after a failure to set it up. */
void space_remove(struct space *s);

/* In the child of fork: closes the descriptor, leaves the file and its path. */
void space_forget(struct space *s);

const char *space_result_text(enum space_result r);

#endif
