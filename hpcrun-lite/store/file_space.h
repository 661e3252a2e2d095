/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Manages the file below the store: creates it, reserves and maps parts of it, cuts it and punches
 * holes. It does not know extents. The descriptor has a high number and is close-on-exec. Before
 * each use we check that it is still our file, because the program may have closed it and opened
 * its own file there. Signal-safe. Test: tests/unit/run/test_store.c.
 */
#ifndef HPCRUN_LITE_STORE_FILE_SPACE_H
#define HPCRUN_LITE_STORE_FILE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

enum space_result {
	SPACE_OK,
	SPACE_FULL,      /* disk full or over quota */
	SPACE_LIMIT,     /* RLIMIT_FSIZE, or a limit of our own */
	SPACE_NO_MEMORY, /* mmap failed */
	/* the descriptor is gone and the file cannot be opened again, or an I/O error */
	SPACE_LOST
};

struct space {
	char path[4352];
	int fd;          /* descriptor + 1; 0: none, so that zeroed memory is a closed space */
	int error;       /* errno of a call that showed that the file system has failed; 0: none */
	uint64_t device, inode;
	uint64_t leave_bytes; /* this much of the file system stays free */
};

/* Creates the file with O_EXCL. Returns false on failure and sets *cause to a constant string. */
bool space_create(struct space *s, const char *directory, int rank, const char *host, unsigned pid,
	const char **cause);
/* Does the same under a given name in the directory. Another file must not have that name. */
bool space_create_named(struct space *s, const char *directory, const char *name,
	const char **cause);

/* Takes an existing file. Returns false on failure. */
bool space_open(struct space *s, const char *path);

/*
 * Reserves *n_bytes at `offset`, the end of the file, and maps them. *n_bytes is a multiple of
 * 4096. It is reduced if less space is available.
 */
enum space_result space_add(struct space *s, uint64_t offset, uint64_t *n_bytes, uint8_t **base);

/* Writes at `offset`. Writes nothing if the limit on file sizes does not allow all of it. */
enum space_result space_write(struct space *s, const void *bytes, uint64_t n_bytes,
	uint64_t offset);
/* Maps the first bytes of the file over the existing mapping at `at` (a page). */
enum space_result space_map_over(struct space *s, void *at, uint64_t n_bytes);

void space_punch(struct space *s, uint64_t offset, uint64_t n_bytes);
void space_cut(struct space *s, uint64_t n_bytes);

/*
 * Returns why the file system has failed since the file was opened, as a constant string, or NULL:
 * write-back or a call of ours met an error. Does not wait for write-back.
 */
const char *space_failure(struct space *s);

/* The same for a space that is at rest (space_rest): opens the file again. */
const char *space_failure_later(struct space *s);

/*
 * Moves the file to another descriptor number. The old one stays open, and the caller overwrites
 * it. Returns false on failure; the space then has no descriptor.
 */
bool space_move_fd(struct space *s);

/* Closes the descriptor; the next use opens the file again. */
void space_rest(struct space *s);

/* Deletes the file again after its set-up failed. */
void space_remove(struct space *s);

/* In the child of fork: closes the descriptor. Does not touch the file or its path. */
void space_forget(struct space *s);

const char *space_result_text(enum space_result r);

#endif
