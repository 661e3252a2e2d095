/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reserves and maps the measurement file; see file_space.h. Must not raise SIGXFSZ, so it reads the
 * limit before the file grows. Tests: tests/unit/run/test_store.c, tests/cli/run/run_space.sh.
 */
#include "hpcrun-lite/store/file_space.h"

#include "common/format/measurement.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define SPACE_MAX_TRIES 100u	/* if others keep taking the name first */
#define SPACE_MAX_SUFFIX (1u << 30)
#define SPACE_LEAST 65536u      /* a smaller growth is not worth a mapping */

static const char too_long[] = "the path is too long";

const char *space_result_text(enum space_result r)
{
	static const char *const text[] = {
		[SPACE_OK] = "no error",
		[SPACE_FULL] = "no space on the device, or over quota",
		[SPACE_LIMIT] = "the file size limit (ulimit -f) is too small",
		[SPACE_NO_MEMORY] = ("the file cannot be mapped (too little room below the limit of "
				     "ulimit -v, or a file system without shared mappings)"),
		[SPACE_LOST] = "the file cannot be written",
	};
	return text[r];
}

static const char *open_error_text(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "the directory is not writable";
	case EROFS:
		return "the file system is read-only";
	case ENOENT:
	case ENOTDIR:
		return "the directory does not exist";
	case EEXIST:
		return "there is a file of that name";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ENOSPC:
	case EDQUOT:
		return "no space on the device, or over quota";
	default:
		return "the file cannot be made";
	}
}

static uint64_t soft_limit(int resource)
{
	struct rlimit limit;
	if (sys_call4(SYS_prlimit64, 0, resource, 0, (long)&limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

/*
 * Moves a descriptor to a high number, because programs expect the low ones. Stays at or below
 * 1023, where select() ends and the kernel would enlarge its table.
 */
static int move_high(int fd)
{
	uint64_t limit = soft_limit(RLIMIT_NOFILE);
	uint64_t top = limit < 1024 ? limit : 1024;
	for (uint64_t from = top > 64 ? top - 40 : top; from > 16;
	     from = from > 64 ? from - 40 : 16) {
		int high = sys_fcntl(fd, F_DUPFD_CLOEXEC, (long)from);
		if (high >= 0) {
			sys_close(fd);
			return high;
		}
	}
	return fd;
}

static const char *failure_text(int error)
{
	switch (error) {
	case EROFS: /* ext4, after an error */
		return "it is read-only now";
	case ENOSPC:
	case EDQUOT:
		return "no space on the device, or over quota";
	case EIO:
	case ESTALE:
	case ETIMEDOUT:
		return "input/output error";
	default:
		return NULL;
	}
}

/* Keeps an error that is about the file system and not about our call. */
static long note_error(struct space *s, long result)
{
	if (result < 0 && failure_text((int)-result))
		s->error = (int)-result;
	return result;
}

static bool is_ours(struct space *s, int fd)
{
	struct stat st;
	return note_error(s, sys_call3(SYS_fstat, fd, (long)&st, 0)) == 0 &&
	       st.st_dev == s->device && st.st_ino == s->inode;
}

/*
 * Returns the descriptor. Opens the file again if the program has closed it. Returns -1 on failure.
 */
static int checked_fd(struct space *s)
{
	if (s->fd > 0 && is_ours(s, s->fd - 1))
		return s->fd - 1;
	s->fd = 0;
	int fd = (int)note_error(s, sys_open(s->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0));
	if (fd < 0)
		return -1;
	if (!is_ours(s, fd)) {
		sys_close(fd);
		return -1;
	}
	fd = move_high(fd);
	s->fd = fd + 1;
	return fd;
}

/* The parts of a file's name. A negative rank means that there is none. */
struct file_key {
	const char *directory, *host;
	int rank;
	unsigned pid;
};

static bool name_file(struct space *s, const struct file_key *k, unsigned suffix)
{
	struct text t = text_in(s->path, sizeof s->path);
	text_put(&t, k->directory);
	text_put_char(&t, '/');
	if (k->rank >= 0)
		text_put_padded(&t, (uint64_t)k->rank, 6, '0');
	else
		text_put(&t, "norank");
	text_put_char(&t, '-');
	text_put(&t, k->host);
	text_put_char(&t, '-');
	text_put_u64(&t, k->pid);
	if (suffix) {
		text_put_char(&t, '.');
		text_put_u64(&t, suffix);
	}
	text_put(&t, MSR_SUFFIX);
	return !t.cut;
}

static int make_file(const struct space *s)
{
	return sys_open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Takes over a new file. `fd` is its descriptor, or -errno. */
static bool take_file(struct space *s, int fd, const char **cause)
{
	struct stat st;
	if (fd < 0 || sys_call3(SYS_fstat, fd, (long)&st, 0) != 0) {
		*cause = open_error_text(-fd);
		s->path[0] = '\0';
		return false;
	}
	s->device = st.st_dev;
	s->inode = st.st_ino;
	s->error = 0;
	s->fd = move_high(fd) + 1;
	return true;
}

static bool is_taken(struct space *s, const struct file_key *k, unsigned suffix)
{
	struct stat st;
	return name_file(s, k, suffix) && sys_call4(SYS_newfstatat, AT_FDCWD, (long)s->path,
						    (long)&st, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Returns the first free suffix, if 0 is taken. A pid has several files after exec, or if the pid
 * is reused. Suffixes have no gaps, so a few steps find the end of a chain of thousands.
 */
static unsigned first_free(struct space *s, const struct file_key *k)
{
	unsigned taken = 0, free = 1;
	while (free < SPACE_MAX_SUFFIX && is_taken(s, k, free)) {
		taken = free;
		free *= 2;
	}
	while (free - taken > 1) {
		const unsigned middle = taken + (free - taken) / 2;
		if (is_taken(s, k, middle))
			taken = middle;
		else
			free = middle;
	}
	return free;
}

bool space_create(struct space *s, const char *directory, int rank, const char *host, unsigned pid,
		  const char **cause)
{
	const struct file_key k = {directory, host, rank, pid};
	unsigned suffix = 0;
	int fd = -EEXIST;
	for (unsigned i = 0; fd == -EEXIST && i < SPACE_MAX_TRIES; i++) {
		if (i > 0)
			suffix = first_free(s, &k);
		if (!name_file(s, &k, suffix)) {
			*cause = too_long;
			return false;
		}
		fd = make_file(s);
	}
	return take_file(s, fd, cause);
}

bool space_create_named(struct space *s, const char *directory, const char *name,
			const char **cause)
{
	struct text t = text_in(s->path, sizeof s->path);
	text_put(&t, directory);
	text_put_char(&t, '/');
	text_put(&t, name);
	if (t.cut) {
		*cause = too_long;
		return false;
	}
	return take_file(s, make_file(s), cause);
}

bool space_open(struct space *s, const char *path)
{
	const char *cause;
	struct text t = text_in(s->path, sizeof s->path);
	text_put(&t, path);
	s->leave_bytes = 0;
	return !t.cut &&
	       take_file(s, sys_open(s->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0), &cause);
}

/* Returns false if less than s->leave_bytes would stay free. */
static bool may_take(const struct space *s, int fd, uint64_t n_bytes)
{
	struct statfs fs;
	return !s->leave_bytes || sys_call3(SYS_fstatfs, fd, (long)&fs, 0) != 0 ||
	       (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= s->leave_bytes + n_bytes;
}

/* Writes zeros if the file system has no fallocate; that reserves space as well. */
static int write_zeros(int fd, uint64_t offset, uint64_t n)
{
	static const uint8_t zeros[16384];
	while (n) {
		long done = sys_pwrite(fd, zeros, n < sizeof zeros ? n : sizeof zeros, offset);
		if (done == -EINTR)
			continue;
		if (done <= 0)
			return done == 0 ? -ENOSPC : (int)done;
		offset += (uint64_t)done;
		n -= (uint64_t)done;
	}
	return 0;
}

static int reserve(int fd, uint64_t offset, uint64_t n)
{
	int r = -EINTR;
	for (int attempt = 0; r == -EINTR && attempt < 100; attempt++)
		r = sys_fallocate(fd, 0, offset, n);
	if (r == -EOPNOTSUPP || r == -ENOSYS || r == -EINVAL || r == -ENODEV)
		r = write_zeros(fd, offset, n);
	return r;
}

static enum space_result result_of(int error)
{
	switch (error) {
	case 0:
		return SPACE_OK;
	case -ENOSPC:
	case -EDQUOT:
		return SPACE_FULL;
	case -EFBIG:
		return SPACE_LIMIT;
	default:
		return SPACE_LOST;
	}
}

enum space_result space_add(struct space *s, uint64_t offset, uint64_t *n_bytes, uint8_t **base)
{
	uint64_t limit = soft_limit(RLIMIT_FSIZE), n = *n_bytes;
	int fd = checked_fd(s);
	if (fd < 0)
		return SPACE_LOST;
	if (!may_take(s, fd, n))
		return SPACE_FULL;
	if (limit < offset + n)
		n = limit < offset ? 0 : machine_page_floor(limit - offset);
	if (n < SPACE_LEAST)
		return SPACE_LIMIT;
	for (; !room_take(n); n = machine_page_floor(n / 4))
		if (n / 4 < SPACE_LEAST)
			return SPACE_NO_MEMORY;
	const uint64_t room = n;
	int r = reserve(fd, offset, n);
	for (; result_of(r) == SPACE_FULL && n / 4 >= SPACE_LEAST; r = reserve(fd, offset, n))
		n = machine_page_floor(n / 4);
	room_give(room - (r ? 0 : n));
	if (r != 0)
		return result_of(r);
	long at = sys_mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (sys_is_error(at)) {
		room_give(n);
		return SPACE_NO_MEMORY;
	}
	/* A child of fork has its own file and must not be able to write here. */
	sys_madvise((void *)at, n, MADV_DONTFORK);
	*base = (uint8_t *)at;
	*n_bytes = n;
	return SPACE_OK;
}

enum space_result space_write(struct space *s, const void *bytes, uint64_t n_bytes, uint64_t offset)
{
	int fd = checked_fd(s);
	if (fd < 0)
		return SPACE_LOST;
	if (soft_limit(RLIMIT_FSIZE) < offset + n_bytes)
		return SPACE_LIMIT;
	for (uint64_t done = 0; done < n_bytes;) {
		long n = sys_pwrite(fd, (const uint8_t *)bytes + done, n_bytes - done,
				    offset + done);
		if (n == 0)
			return SPACE_FULL;
		if (n < 0 && n != -EINTR)
			return result_of((int)n);
		done += n > 0 ? (uint64_t)n : 0;
	}
	return SPACE_OK;
}

enum space_result space_map_over(struct space *s, void *at, uint64_t n_bytes)
{
	int fd = checked_fd(s);
	if (fd < 0)
		return SPACE_LOST;
	if (sys_is_error(
		    sys_mmap(at, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0)))
		return SPACE_NO_MEMORY;
	return SPACE_OK;
}

void space_punch(struct space *s, uint64_t offset, uint64_t n_bytes)
{
	int fd = checked_fd(s);
	if (fd >= 0)
		sys_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, n_bytes);
}

void space_cut(struct space *s, uint64_t n_bytes)
{
	int fd = checked_fd(s);
	if (fd >= 0)
		note_error(s, sys_ftruncate(fd, n_bytes));
}

/*
 * sync_file_range() reports whether write-back has failed since the file was opened (Linux 4.16).
 * It waits only for pages in its range, and there are none past the end of the file.
 */
static int write_back_error(int fd)
{
	return (int)sys_call4(SYS_sync_file_range, fd, (long)1 << 60, 4096,
			      SYNC_FILE_RANGE_WAIT_BEFORE);
}

const char *space_failure(struct space *s)
{
	if (s->fd > 0 && is_ours(s, s->fd - 1))
		note_error(s, write_back_error(s->fd - 1));
	return failure_text(s->error);
}

const char *space_failure_later(struct space *s)
{
	checked_fd(s);
	return space_failure(s);
}

bool space_move_fd(struct space *s)
{
	int fd = s->fd - 1;
	if (fd < 0)
		return true;
	int to = sys_fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
	if (to < 0)
		to = sys_fcntl(fd, F_DUPFD_CLOEXEC, 16);
	s->fd = to >= 0 ? to + 1 : 0;
	return to >= 0;
}

void space_rest(struct space *s)
{
	if (s->fd > 0 && is_ours(s, s->fd - 1))
		sys_close(s->fd - 1);
	if (s->fd)
		s->fd = 0;
}

void space_remove(struct space *s)
{
	sys_call3(SYS_unlinkat, -100 /* AT_FDCWD */, (long)s->path, 0);
	space_forget(s);
	s->path[0] = '\0';
}

void space_forget(struct space *s)
{
	space_rest(s);
	s->error = 0;
	s->device = s->inode = 0; /* the file is not opened again */
}
