/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process may sample a GPU: a second one gets neither samples nor records, or crashes, though CUPTI tells it that all is well (doc/cupti-facts.md A5). So the first takes a lock, on a file that is
 * named by the GPU's UUID and opened for reading alone: it may be another user's. The kernel gives the lock back when the process ends. Test: tests/unit/test_cupti_pc.c, tests/cli/cupti_pc.sh.
 */
#include "hpcrun-lite/gpu/cupti/nv_pc_internal.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#define HEAD "/tmp/hpctoolkit-lite-pc-"
#define HIGH_DESCRIPTOR 200 /* out of the way of programs that count on the lowest ones */

/* The directory is everybody's, so with its sticky bit O_CREAT is refused for files of others: only where there is none. */
static int open_file(const char *path)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd == -ENOENT)
		fd = sys_open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
	return fd == -EEXIST ? sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0) : fd;
}

int nv_pc_lock(const CUuuid *uuid, char *path, size_t path_bytes)
{
	struct text t = text_in(path, path_bytes);
	text_put(&t, HEAD);
	text_put_hex(&t, (const uint8_t *)uuid->bytes, sizeof uuid->bytes);
	int fd = open_file(path);
	if (fd < 0) {
		errno = -fd;
		return -2;
	}
	int high = sys_fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
	if (high >= 0) {
		sys_close(fd);
		fd = high;
	}
	long r = sys_call3(SYS_flock, fd, LOCK_EX | LOCK_NB, 0);
	if (r == 0)
		return fd;
	sys_close(fd);
	errno = (int)-r;
	return r == -EWOULDBLOCK ? -1 : -2;
}
