/* SPDX-License-Identifier: BSD-3-Clause */
/* Guarded load, see load.h. Must not touch errno or call anything that may take a lock. Test: tests/unit/test_safe_load.c. */
#include "common/safe/load.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, KERNEL_SIGSET_BYTES = 8, MAX_BYTES = 4096, GROUP = 16 /* iovecs: the stack of a handler is small */ };

/* Relaxed: a hint; whoever misses the store finds out by itself. */
static atomic_bool use_probe;

void load_use_probe(int on)
{
	atomic_store_explicit(&use_probe, on, memory_order_relaxed);
}

/* The kernel reads the set before it looks at `how`: EFAULT says unreadable, EINVAL readable. (As in abseil's AddressIsReadable.) */
static bool page_is_readable(uintptr_t page)
{
	enum { NO_SUCH_HOW = 0x7fff };
	return syscall(SYS_rt_sigprocmask, NO_SUCH_HOW, page, NULL, KERNEL_SIGSET_BYTES) == -1 && errno != EFAULT;
}

static size_t load_probed(uint8_t *dst, uintptr_t address, size_t n_bytes)
{
	size_t done = 0;
	while (done < n_bytes) {
		const uintptr_t at = address + done;
		size_t n = PAGE - at % PAGE;
		if (n > n_bytes - done)
			n = n_bytes - done;
		if (!page_is_readable(at & ~(uintptr_t)(PAGE - 1)))
			break;
		memcpy(dst + done, (const void *)at, n);
		done += n;
	}
	return done;
}

size_t load_guarded(void *dst, uintptr_t address, size_t n_bytes)
{
	const int saved_errno = errno;
	if (n_bytes > MAX_BYTES)
		n_bytes = MAX_BYTES;
	if (address + n_bytes < address)
		n_bytes = 0;
	size_t done = 0;
	bool probe = atomic_load_explicit(&use_probe, memory_order_relaxed);
	if (!probe && n_bytes) {
		const struct iovec to = {dst, n_bytes};
		/* A transfer stops at the end of the iovec before the bad one, so one for each page. */
		const size_t in_first = PAGE - address % PAGE < n_bytes ? PAGE - address % PAGE : n_bytes;
		const struct iovec from[2] = {{(void *)address, in_first}, {(void *)(address + in_first), n_bytes - in_first}};
		const long got = syscall(SYS_process_vm_readv, (long)getpid(), &to, 1L, from, in_first < n_bytes ? 2L : 1L, 0L);
		if (got > 0)
			done = (size_t)got;
		else if (errno == ENOSYS || errno == EPERM) {
			load_use_probe(1);
			probe = true;
		}
	}
	if (probe)
		done = load_probed(dst, address, n_bytes);
	errno = saved_errno;
	return done;
}

/* A group by one call; less than all: a place cannot be read, or the kernel refuses such calls. */
static size_t load_group(uint8_t *dst, size_t stride, const uintptr_t *places, size_t n_bytes, size_t n)
{
	struct iovec to[GROUP], from[GROUP];
	for (size_t i = 0; i < n; i++) {
		to[i] = (struct iovec){dst + i * stride, n_bytes};
		from[i] = (struct iovec){(void *)places[i], n_bytes};
	}
	const long got = syscall(SYS_process_vm_readv, (long)getpid(), to, n, from, n, 0L);
	return got > 0 ? (size_t)got / n_bytes : 0;
}

size_t load_guarded_many(void *dst, size_t stride, const uintptr_t *places, size_t n_bytes, size_t n_places)
{
	const int saved_errno = errno;
	uint8_t *to = dst;
	size_t done = 0, n = GROUP;
	for (; done < n_places && n == GROUP && !atomic_load_explicit(&use_probe, memory_order_relaxed); done += n)
		n = load_group(to + done * stride, stride, places + done, n_bytes, n_places - done < GROUP ? n_places - done : GROUP);
	while (done < n_places && load_guarded(to + done * stride, places[done], n_bytes) == n_bytes)
		done++;
	errno = saved_errno;
	return done;
}
