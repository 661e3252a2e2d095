/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies one measurement file; see collect.h. Children of fork may write to a file whose maker has
 * ended. Each of them has it copied again when it ends, so their parts are copied again, and the
 * file stays until the last of them has ended. Test: tests/cli/storage/storage_local.sh.
 */
#include "hpcrun-lite/launch/collect.h"

#include "common/base/log.h"
#include "common/format/measurement.h"
#include "hpcrun-lite/launch/together.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES (1u << 20)

struct copy {
	const char *local, *target;
	int in, out;
	uint64_t size;      /* of what the file holds */
	bool is_again;      /* the target has the data; only parts of children may be newer */
	unsigned n_running; /* children that write to the file */
	uint64_t n_bytes;   /* copied */
	struct msr_header header;
};

static bool read_exactly(int fd, void *to, size_t n, uint64_t at)
{
	return pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

static bool has_magic(const struct msr_header *h)
{
	return memcmp(h->magic, MSR_MAGIC, sizeof h->magic) == 0;
}

static bool write_all(struct copy *c, const uint8_t *bytes, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t w = pwrite(c->out, bytes + done, n - done, (off_t)(at + done));
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return false;
		done += (size_t)w;
	}
	c->n_bytes += n;
	return true;
}

static bool copy_range(struct copy *c, uint64_t from, uint64_t end)
{
	static uint8_t buffer[COPY_BYTES];
	while (from < end) {
		size_t n = end - from < sizeof buffer ? (size_t)(end - from) : sizeof buffer;
		ssize_t got = pread(c->in, buffer, n, (off_t)from);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || !write_all(c, buffer, (size_t)got, from))
			return false;
		if (got == 0)
			return true; /* it has become shorter */
		from += (uint64_t)got;
	}
	return true;
}

/* All but the first page, and without the holes. */
static bool copy_data(struct copy *c)
{
	for (uint64_t at = MSR_HEADER_BYTES; at < c->size;) {
		off_t data = lseek(c->in, (off_t)at, SEEK_DATA);
		off_t hole = data < 0 ? data : lseek(c->in, data, SEEK_HOLE);
		if (hole < 0)
			return errno == ENXIO;
		if ((uint64_t)data >= c->size)
			break;
		at = (uint64_t)hole < c->size ? (uint64_t)hole : c->size;
		if (!copy_range(c, (uint64_t)data, at))
			return false;
	}
	return true;
}

/*
 * Calls fn with each child's part of the file, also if the child has left it. Stops and returns
 * false if fn does.
 */
static bool each_child(struct copy *c, bool (*fn)(struct copy *c, uint64_t at,
						      const struct msr_extent *e))
{
	struct msr_extent e;
	for (uint64_t at = MSR_HEADER_BYTES; at + sizeof e <= c->size;) {
		if (!read_exactly(c->in, &e, sizeof e, at))
			return true;
		if (e.magic != MSR_EXTENT_MAGIC || e.check != msr_extent_check(&e) ||
		    e.length < sizeof e) {
			at = (at & ~UINT64_C(4095)) + 4096; /* unused space ends at a page */
			continue;
		}
		if (e.kind == MSR_PROCESS && e.used > 0 && !fn(c, at, &e))
			return false;
		at += e.length;
	}
	return true;
}

static bool count_running(struct copy *c, uint64_t at, const struct msr_extent *e)
{
	struct msr_header h;
	/* A process that has left has a file of its own. */
	if (e->used >= sizeof h && read_exactly(c->in, &h, sizeof h, at + sizeof *e) &&
	    has_magic(&h))
		c->n_running += together_is_running(&h);
	return true;
}

static bool copy_child(struct copy *c, uint64_t at, const struct msr_extent *e)
{
	return copy_range(c, at, at + e->length);
}

/* The first page is last: until then the file in the directory says where the data are. */
static bool copy_all(struct copy *c)
{
	const bool spilled = c->header.allocated > c->size;
	if (c->is_again)
		return each_child(c, copy_child) && fsync(c->out) == 0;
	if (!spilled && ftruncate(c->out, (off_t)c->size) != 0)
		return false;
	return copy_data(c) && fsync(c->out) == 0 && copy_range(c, 0, MSR_HEADER_BYTES) &&
	       fsync(c->out) == 0;
}

static enum collect_result fail(const char *path)
{
	log_error(path, "cannot copy the measurement (%s)", strerror(errno));
	return COLLECT_FAILED;
}

/* If so, the user has removed the file. If not, its file system may not be mounted now. */
static bool parent_exists(const char *path)
{
	char directory[PATH_MAX];
	snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
	return access(directory, F_OK) == 0;
}

/* The file is open and locked: no one else copies it. */
static enum collect_result copy_open(struct copy *c)
{
	struct stat st;
	struct msr_header there = {0};
	if (fstat(c->in, &st) != 0)
		return fail(c->local);
	if (st.st_nlink == 0)
		return COLLECT_DONE; /* someone has copied it while we waited */
	if (!S_ISREG(st.st_mode) || (geteuid() != 0 && st.st_uid != geteuid())) {
		errno = EPERM;
		return fail(c->local);
	}
	if (!read_exactly(c->in, &c->header, sizeof c->header, 0))
		memset(&c->header, 0, sizeof c->header);
	if (has_magic(&c->header) && together_is_running(&c->header))
		return COLLECT_RUNS;
	c->size = (uint64_t)st.st_size;
	if (c->header.allocated >= MSR_HEADER_BYTES && c->header.allocated < c->size)
		c->size = c->header.allocated;
	c->out = open(c->target, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (c->out < 0 && errno == ENOENT && parent_exists(c->target)) {
		unlink(c->local);
		return COLLECT_GONE;
	}
	if (c->out < 0)
		return fail(c->target);
	c->is_again = read_exactly(c->out, &there, sizeof there, 0) && has_magic(&there);
	/* before the copy: who ends after this has the file copied again */
	each_child(c, count_running);
	bool copied = copy_all(c);
	int cause = errno;
	if (close(c->out) != 0 && copied) {
		cause = errno;
		copied = false;
	}
	errno = cause;
	if (!copied)
		return fail(c->target);
	if (c->n_running == 0)
		unlink(c->local);
	return COLLECT_DONE;
}

enum collect_result collect_file(const char *local, const char *target, uint64_t *n_bytes)
{
	struct copy c = {.local = local, .target = target};
	c.in = open(local, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (c.in < 0)
		return errno == ENOENT ? COLLECT_GONE : fail(local);
	while (flock(c.in, LOCK_EX) != 0 && errno == EINTR)
		;
	enum collect_result r = copy_open(&c);
	close(c.in);
	*n_bytes += c.n_bytes;
	return r;
}
