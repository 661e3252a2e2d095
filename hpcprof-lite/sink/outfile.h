/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output files of a sink. They are created exclusively and written at offsets from any thread. The
 * first error is logged once as "file: cause". A sink that fails removes its files. Directories are
 * made exclusively and removed with their contents. A write beyond RLIMIT_FSIZE is an ordinary
 * error in a program that ignores SIGXFSZ, as ours do. Test: tests/unit/sink/test_sink_outfile.c.
 */
#ifndef HPCPROF_SINK_OUTFILE_H
#define HPCPROF_SINK_OUTFILE_H

#include "common/base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct outfile {
	int fd;
	char *path;          /* owned */
	atomic_bool failed;  /* an error was logged; later writes do nothing */
};

/* Returns "directory/name" in a new string. NULL if memory is short (logged). */
char *outfile_path(const char *directory, const char *name);
/*
 * Creates the file. Logs and returns STATUS_IO if it exists or cannot be made. On success the
 * caller owns *f and calls outfile_close() or outfile_abandon().
 */
enum status outfile_create(struct outfile *f, const char *directory, const char *name);
/* Creates a file that other processes, also of other nodes, join to write other ranges of it. */
enum status outfile_create_shared(struct outfile *f, const char *directory, const char *name);
/* Opens a file that another process created with outfile_create_shared(). Logs failures. */
enum status outfile_join(struct outfile *f, const char *directory, const char *name);
/* Writes all bytes at the offset. Thread-safe for disjoint ranges. Logs only the first failure. */
enum status outfile_write(struct outfile *f, const void *bytes, size_t n_bytes, uint64_t offset);
/* Closes the file. If any write failed, now or earlier, removes it and returns STATUS_IO. */
enum status outfile_close(struct outfile *f);
/* Closes and removes the file. Does nothing if it was closed or never created (all zero). */
void outfile_abandon(struct outfile *f);

/* A buffered stream into one range of an outfile. It has one owner. */
struct outstream {
	struct outfile *file;
	uint64_t at;         /* file offset of bytes[0] */
	uint8_t *bytes;
	size_t n, capacity;
};
/* `offset` is the place of the first byte. Logs STATUS_NO_MEMORY. */
enum status outstream_open(struct outstream *s, struct outfile *f, uint64_t offset,
	size_t buffer_bytes);
/*
 * Returns room for the next `n_bytes` (at most the buffer size), which the caller fills in. Flushes
 * before that if necessary.
 */
uint8_t *outstream_room(struct outstream *s, size_t n_bytes);
/* File offset after the bytes so far. */
static inline uint64_t outstream_offset(const struct outstream *s)
{
	return s->at + s->n;
}
/*
 * Continues at another offset. A small gap behind the bytes so far may be filled with zeros, so
 * that pieces close together become one write. Nobody else may write into such a gap.
 */
void outstream_move(struct outstream *s, uint64_t offset);
/* Copies any number of bytes into the stream. */
void outstream_put(struct outstream *s, const void *bytes, size_t n_bytes);
/* Writes the remaining bytes and frees the buffer. */
enum status outstream_close(struct outstream *s);

/* Makes a directory that must not exist. Logs failures. */
enum status outdir_make(const char *path);
/* Removes a directory and all below it. Does not follow links and does not log. */
void outdir_remove(const char *path);

#endif
