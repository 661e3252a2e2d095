/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies one measurement file; see collect.h. Forked children may write to a file whose maker has
 * ended. Each of them has its part copied again when it ends, and the file stays until the last of
 * them has ended. A file is removed only if it is ours, it is complete, and the target is for its
 * data. Tests: tests/cli/storage/storage_local.sh, tests/cli/storage/storage_proof.sh.
 */
#include "hpcrun-lite/launch/copy/collect.h"

#include "common/base/log.h"
#include "common/format/local_data.h"
#include "common/format/measurement.h"
#include "hpcrun-lite/launch/copy/follow_part.h"
#include "hpcrun-lite/launch/directory/node_local.h"
#include "hpcrun-lite/launch/directory/together.h"

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
	bool is_own;        /* the process that ends asks for this copy */
	bool is_for_user;   /* hpcrun-lite --collect */
	int place, in, out; /* place: the directory of `local` */
	uint64_t size;      /* bytes of the file that are in use */
	bool has_part;      /* the target shows what was copied while the process ran */
	/* the target already has the data; only parts of children may be newer */
	bool is_again;
	bool is_unused;     /* the kernel says that no process writes to the file */
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

/* Copies all but the first page, and skips holes. */
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
 * After a fatal signal the file may have parts that no child has taken. The extent before the parts
 * has the number of taken ones (nursery.c). It is read again for each part, because children in
 * earlier parts may fork.
 */
static bool is_taken(const struct copy *c, uint64_t nursery, uint32_t i)
{
	uint32_t n_taken;
	return !nursery ||
	       !read_exactly(c->in, &n_taken, sizeof n_taken,
			     nursery + sizeof(struct msr_extent)) ||
	       i < n_taken;
}

/*
 * Calls fn with each child's part of the file, even if the child now has its own file. Stops and
 * returns false if fn returns false.
 */
static bool each_child(struct copy *c, bool (*fn)(struct copy *c, uint64_t at,
						      const struct msr_extent *e))
{
	struct msr_extent e;
	uint64_t nursery = 0;
	uint32_t n = 0;
	for (uint64_t at = MSR_HEADER_BYTES; at + sizeof e <= c->size;) {
		if (!read_exactly(c->in, &e, sizeof e, at))
			return true;
		if (e.magic != MSR_EXTENT_MAGIC || e.check != msr_extent_check(&e) ||
		    e.length < sizeof e) {
			at = (at & ~UINT64_C(4095)) + 4096; /* unused space ends at a page */
			continue;
		}
		if (e.kind == MSR_FREE) {
			nursery = at;
			n = 0;
		}
		if (e.kind == MSR_PROCESS && is_taken(c, nursery, n++) && !fn(c, at, &e))
			return false;
		at += e.length;
	}
	return true;
}

/*
 * Once the maker has ended, a taken part has its full length. It is empty until its child begins,
 * or forever if the fork failed. Only the kernel knows which.
 */
static bool count_running(struct copy *c, uint64_t at, const struct msr_extent *e)
{
	struct msr_header h;
	if ((e->length != sizeof *e + MSR_PROCESS_BYTES &&
	     e->length != sizeof *e + MSR_BRIEF_BYTES) ||
	    !read_exactly(c->in, &h, sizeof h, at + sizeof *e))
		return true;
	if (e->used == 0 || (e->used >= sizeof h && !has_magic(&h)))
		c->n_running += !c->is_unused;
	else if (e->used >= sizeof h) /* if 0 < used < sizeof h, the child now has its own file */
		c->n_running += together_is_running(&h);
	return true;
}

static bool copy_child(struct copy *c, uint64_t at, const struct msr_extent *e)
{
	return e->used == 0 || copy_range(c, at, at + e->length);
}

/* Copies all but the first page, in an order that keeps the target readable at any moment. */
static bool copy_over_part(struct copy *c)
{
	struct follow_part p = {0};
	const bool copied = follow_part_open(&p, c->out) &&
			    follow_part_pass(&p, c->in, c->out, true) == FOLLOW_DONE;
	const int cause = errno;
	c->n_bytes += p.n_bytes;
	follow_part_close(&p);
	errno = cause;
	return copied;
}

/* Writes the first page last: until then the target says where the data are. */
static bool copy_all(struct copy *c)
{
	const bool spilled = c->header.allocated > c->size;
	if (c->is_again)
		return each_child(c, copy_child) && fsync(c->out) == 0;
	if (c->has_part && !copy_over_part(c))
		return false;
	if (!spilled && ftruncate(c->out, (off_t)c->size) != 0)
		return false;
	return (c->has_part || copy_data(c)) && fsync(c->out) == 0 &&
	       copy_range(c, 0, MSR_HEADER_BYTES) && fsync(c->out) == 0;
}

static enum collect_result fail(const char *path)
{
	log_error(path, "cannot copy the measurement (%s)", strerror(errno));
	return COLLECT_FAILED;
}

/* True: the file itself was moved or removed. False: its file system may not be mounted now. */
static bool parent_exists(const char *path)
{
	char directory[PATH_MAX];
	snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
	return access(directory, F_OK) == 0;
}

/*
 * Checks the owner, because another user may have written the text that names the path. Does not
 * compare the user id in the path, because containers may number users differently.
 */
static bool is_ours(const struct copy *c, const struct stat *file)
{
	struct stat st;
	unsigned uid;
	unsigned long long key;
	const char *in_local = strrchr(c->local, '/'), *in_target = strrchr(c->target, '/');
	if (!in_local || !in_target || strcmp(in_local, in_target) != 0 ||
	    fstat(c->place, &st) != 0)
		return false;
	const char *name = memrchr(c->local, '/', (size_t)(in_local - c->local));
	return name && sscanf(name, "/hpcrun-lite-%u-%16llx", &uid, &key) == 2 &&
	       !(st.st_mode & 077) && S_ISREG(file->st_mode) &&
	       st.st_uid == file->st_uid && (geteuid() == 0 || geteuid() == st.st_uid);
}

static bool may_be_running(const struct msr_header *h)
{
	char host[sizeof h->host + 1] = "";
	gethostname(host, sizeof host - 1);
	return !h->end_mono_ns &&
	       (strncmp(h->host, host, sizeof h->host) != 0 || together_is_running(h));
}

/*
 * Asks the kernel, which also knows processes in other containers: it refuses a lease on a file
 * that a process has open or mapped for writing (fcntl(2), F_SETLEASE). If leases are not
 * supported, the header says whether the process may still run.
 */
static bool is_in_use(struct copy *c)
{
	if (fcntl(c->in, F_SETLEASE, F_RDLCK) == 0) {
		fcntl(c->in, F_SETLEASE, F_UNLCK);
		c->is_unused = true;
		return false;
	}
	return errno == EAGAIN || !has_magic(&c->header) || may_be_running(&c->header);
}

static bool is_same_process(const struct msr_header *a, const struct msr_header *b)
{
	return a->pid == b->pid && a->exec_seq == b->exec_seq &&
	       a->start_mono_ns == b->start_mono_ns && a->start_real_ns == b->start_real_ns;
}

/*
 * Returns true if the target is for these data: it has a copy of them, names their path, or has no
 * text because none could be written.
 */
static bool is_for_data(struct copy *c)
{
	static union {
		char text[LOCAL_DATA_BYTES];
		struct msr_header header;
	} there;
	static struct local_data l;
	struct stat st;
	const ssize_t n = pread(c->out, &there, sizeof there, 0);
	if (n < 0 || fstat(c->out, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (n >= (ssize_t)sizeof there.header && has_magic(&there.header)) {
		c->is_again = true;
		return is_same_process(&c->header, &there.header);
	}
	c->has_part = n > 0 && local_data_part(&there, (size_t)n);
	if (n > 0 && there.text[0])
		return local_data_read(there.text, (size_t)n, &l) && !strcmp(l.path, c->local);
	return true;
}

/*
 * Data may be copied only to a file of their owner. Otherwise a forged text could make a user copy
 * his data, or root the data of others, to a stranger's file. A server may show another owner for
 * the file that the process itself has made.
 */
static bool is_of_owner(const struct copy *c, const struct stat *data)
{
	struct stat st;
	return fstat(c->out, &st) == 0 &&
	       (st.st_uid == data->st_uid || (!c->is_for_user && node_local_is_server(c->out)));
}

static enum collect_result refuse(struct copy *c)
{
	log_error(c->target, "does not belong to the owner of its data (%s); not copied", c->local);
	close(c->out);
	return COLLECT_FAILED;
}

/* The file is open and locked, so no other process copies it. */
static enum collect_result copy_open(struct copy *c)
{
	struct stat st;
	if (fstat(c->in, &st) != 0)
		return fail(c->local);
	if (st.st_nlink == 0)
		return COLLECT_DONE; /* another process copied it while we waited */
	if (!is_ours(c, &st)) {
		errno = EPERM;
		return fail(c->local);
	}
	if (!read_exactly(c->in, &c->header, sizeof c->header, 0))
		memset(&c->header, 0, sizeof c->header);
	if (c->is_own ? !has_magic(&c->header) || together_is_running(&c->header) : is_in_use(c))
		return COLLECT_RUNS;
	c->size = (uint64_t)st.st_size;
	if (c->header.allocated >= MSR_HEADER_BYTES && c->header.allocated < c->size)
		c->size = c->header.allocated;
	c->out = open(c->target, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (c->out < 0 && errno == ENOENT && !c->is_own && parent_exists(c->target))
		return COLLECT_NO_TARGET;
	if (c->out < 0)
		return fail(c->target);
	if (!is_for_data(c)) {
		close(c->out);
		return COLLECT_NO_TARGET;
	}
	if (!is_of_owner(c, &st))
		return refuse(c);
	/* before the copy: a child that ends after this has the file copied again */
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
		unlinkat(c->place, strrchr(c->local, '/') + 1, 0);
	return COLLECT_DONE;
}

/*
 * Opens the directory first, so that it stays the same even if names above it change. Sets errno on
 * failure.
 */
static bool open_local(struct copy *c)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(c->local, '/');
	errno = ENOENT;
	if (!slash || snprintf(directory, sizeof directory, "%.*s", (int)(slash - c->local),
			       c->local) >= (int)sizeof directory)
		return false;
	c->place = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (c->place < 0)
		return false;
	c->in = openat(c->place, slash + 1,
		       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (c->in >= 0)
		return true;
	const int cause = errno;
	close(c->place);
	errno = cause;
	return false;
}

enum collect_result collect_file(const char *local, const char *target, enum collect_for who,
				 uint64_t *n_bytes)
{
	struct copy c = {.local = local,
			 .target = target,
			 .is_own = who == COLLECT_FOR_OWNER,
			 .is_for_user = who == COLLECT_FOR_USER};
	if (!open_local(&c))
		return errno == ENOENT ? COLLECT_GONE : fail(local);
	int locked;
	do
		locked = flock(c.in, LOCK_EX | (who == COLLECT_FOR_FOLLOWER ? LOCK_NB : 0));
	while (locked != 0 && errno == EINTR);
	const bool waits = locked != 0 && errno == EWOULDBLOCK;
	const enum collect_result r = waits ? COLLECT_RUNS : copy_open(&c);
	close(c.in);
	close(c.place);
	*n_bytes += c.n_bytes;
	return r;
}
