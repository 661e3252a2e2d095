/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ensures that only one process samples a GPU. A second one would get neither samples nor records,
 * or crash, although CUPTI reports success (doc/notes/cupti-facts.md A5). Tests:
 * tests/unit/cupti/test_cupti_pc.c, tests/cli/gpu/cupti_pc.sh.
 *
 * The first process locks a file named by the UUID of the GPU. The file is opened read-only,
 * because it may belong to another user. The kernel releases the lock when the process and the
 * children that it forked, which share the lock, have ended; the file may then stay and anybody may
 * open it. The program may close our descriptor or replace it by another file, so we check it
 * before closing it.
 */
#include "hpcrun-lite/gpu/cupti/nv.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#define HEAD "/tmp/hpctoolkit-lite-pc-"
#define TRIES 20u
#define HIGH_DESCRIPTOR 200 /* out of the way of programs that expect low descriptors */

/*
 * Everybody may write to the directory, and it has the sticky bit. There the kernel refuses O_CREAT
 * for other users' files, so we use O_CREAT only if there is no file.
 */
static int open_file(const char *path)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd == -ENOENT) {
		fd = sys_open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
		if (fd >= 0)
			/* independent of the umask, because the file may remain for other users */
			sys_call3(SYS_fchmod, fd, 0444, 0);
	}
	return fd == -EEXIST ? sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
			     : fd;
}

static void put_path(char *path, size_t path_bytes, const CUuuid *uuid)
{
	struct text t = text_in(path, path_bytes);
	text_put(&t, HEAD);
	text_put_hex(&t, (const uint8_t *)uuid->bytes, sizeof uuid->bytes);
}

/* Releasing the lock removes the file, so another process may have created a new one. */
static bool is_still_there(int fd, const char *path)
{
	struct stat a, b;
	return sys_call4(SYS_newfstatat, fd, (long)"", (long)&a, AT_EMPTY_PATH) == 0 &&
	       sys_call4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&b, AT_SYMLINK_NOFOLLOW) ==
		       0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static int move_up(int fd)
{
	int high = sys_fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
	if (high < 0)
		return fd;
	sys_close(fd);
	return high;
}

int nv_gpu_lock(const CUuuid *uuid, char *path, size_t path_bytes)
{
	put_path(path, path_bytes, uuid);
	for (unsigned i = 0; i < TRIES; i++) {
		int fd = open_file(path);
		if (fd < 0) {
			errno = -fd;
			return -2;
		}
		long r = sys_call3(SYS_flock, fd, LOCK_EX | LOCK_NB, 0);
		if (r == 0 && is_still_there(fd, path))
			return move_up(fd);
		sys_close(fd);
		errno = (int)-r;
		if (r != 0)
			return r == -EWOULDBLOCK ? -1 : -2;
	}
	return -1;
}

void nv_gpu_unlock(int lock, const CUuuid *uuid)
{
	char path[NV_GPU_LOCK_BYTES];
	put_path(path, sizeof path, uuid);
	if (!is_still_there(lock, path))
		return; /* the descriptor is no longer ours */
	sys_call3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
	sys_close(lock);
}
