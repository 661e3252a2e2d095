/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that a sink writes: created exclusively, written at offsets from any thread, the first error logged once as "file: cause", removed when
 * the sink fails. Also directories of ours: made exclusively, removed with all they hold. A write beyond RLIMIT_FSIZE is an error like any
 * other: outfile_create() ignores SIGXFSZ for the process when nobody handles it. Test: tests/unit/test_sink_outfile.c.
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

/* "directory/name" in a new string, or NULL (logged) when memory is short. */
char *outfile_path(const char *directory, const char *name);
/* Logs and returns STATUS_IO when the file exists or cannot be made. On success the caller owns *f and ends it with close or abandon. */
enum status outfile_create(struct outfile *f, const char *directory, const char *name);
/* The same with a mode other than 0666, less the umask. */
enum status outfile_create_as(struct outfile *f, const char *directory, const char *name, mode_t mode);
/* Writes all bytes at the offset. Thread-safe for disjoint ranges. Logs the first failure only. */
enum status outfile_write(struct outfile *f, const void *bytes, size_t n_bytes, uint64_t offset);
/* Ends the file. STATUS_IO when any write failed, now or earlier; the file is then removed. */
enum status outfile_close(struct outfile *f);
/* Ends and removes the file. Does nothing to one that was closed or never created (all zero). */
void outfile_abandon(struct outfile *f);

/* A stream into one range of an outfile; one owner. */
struct outstream {
	struct outfile *file;
	uint64_t at;         /* file offset of bytes[0] */
	uint8_t *bytes;
	size_t n, capacity;
};
/* `offset` is where the first byte goes. STATUS_NO_MEMORY is logged. */
enum status outstream_open(struct outstream *s, struct outfile *f, uint64_t offset, size_t buffer_bytes);
/* Room for the next `n_bytes` (at most the buffer), to be filled in by the caller; flushes before when needed. */
uint8_t *outstream_room(struct outstream *s, size_t n_bytes);
/* File offset behind what was put so far. */
static inline uint64_t outstream_offset(const struct outstream *s)
{
	return s->at + s->n;
}
/* Writes what is left and frees the buffer. */
enum status outstream_close(struct outstream *s);

/* Makes a directory that must not exist. Logs. */
enum status outdir_make(const char *path);
/* Removes a directory and all below it, without following links; silent. */
void outdir_remove(const char *path);

#endif
