/* SPDX-License-Identifier: BSD-3-Clause */
/* Guarded loads, see load.h. Must not touch errno or call anything that may take a lock. Test:
 * tests/unit/common/test_safe_load.c. */
#include "common/safe/load.h"

#include "common/safe/sys.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

enum { PAGE = MACHINE_LEAST_PAGE, KERNEL_SIGSET_BYTES = 8, MAX_BYTES = 4096 };

/* Relaxed: these are hints. A thread that misses a store finds out by itself. */
static atomic_bool use_probe, use_no_gather;

void load_use_probe(int on)
{
	atomic_store_explicit(&use_probe, on, memory_order_relaxed);
	atomic_store_explicit(&use_no_gather, on, memory_order_relaxed);
}

/* A seccomp filter may return any error. Only EFAULT is about the address; ENOMEM may pass. */
static bool is_refused(long result)
{
	return result < 0 && result != -EFAULT && result != -ENOMEM;
}

/* Names the process by the calling thread. The main thread may have ended, and the kernel finds no
 * memory for a zombie. */
static long self(void)
{
	return sys_gettid();
}

/* The kernel reads the signal set before it looks at `how`. So EFAULT means unreadable, and EINVAL
 * readable. (As in abseil's AddressIsReadable.) */
bool load_is_readable(uintptr_t address)
{
	enum { NO_SUCH_HOW = 0x7fff };
	const uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
	return sys_call4(SYS_rt_sigprocmask, NO_SUCH_HOW, (long)page, 0, KERNEL_SIGSET_BYTES) ==
	       -EINVAL; /* 0 for page 0: a NULL set is valid */
}

static size_t load_probed(uint8_t *dst, uintptr_t address, size_t n_bytes)
{
	size_t done = 0;
	while (done < n_bytes) {
		const uintptr_t at = address + done;
		size_t n = PAGE - at % PAGE;
		if (n > n_bytes - done)
			n = n_bytes - done;
		if (!load_is_readable(at))
			break;
		memcpy(dst + done, (const void *)at, n);
		done += n;
	}
	return done;
}

size_t load_guarded(void *dst, uintptr_t address, size_t n_bytes)
{
	if (n_bytes > MAX_BYTES)
		n_bytes = MAX_BYTES;
	if (address + n_bytes < address)
		n_bytes = 0;
	size_t done = 0;
	bool probe = atomic_load_explicit(&use_probe, memory_order_relaxed);
	if (!probe && n_bytes) {
		const struct iovec to = {dst, n_bytes};
		/* A transfer stops at the end of the iovec before the bad one, so use one iovec for
		 * each page. */
		const size_t in_first =
			PAGE - address % PAGE < n_bytes ? PAGE - address % PAGE : n_bytes;
		const struct iovec from[2] = {{(void *)address, in_first},
					      {(void *)(address + in_first), n_bytes - in_first}};
		const long got = sys_call6(SYS_process_vm_readv, self(), (long)&to, 1, (long)from,
					   in_first < n_bytes ? 2 : 1, 0);
		if (got > 0)
			done = (size_t)got;
		else if (is_refused(got)) {
			atomic_store_explicit(&use_probe, true, memory_order_relaxed);
			probe = true;
		}
	}
	if (probe)
		done = load_probed(dst, address, n_bytes);
	return done;
}

size_t load_gathered(void *dst, const struct iovec *piece, size_t n_pieces)
{
	uint8_t *to = dst;
	size_t n_bytes = 0, done = 0;
	long got = -1;
	for (size_t i = 0; i < n_pieces; i++)
		n_bytes += piece[i].iov_len;
	if (n_bytes && !atomic_load_explicit(&use_no_gather, memory_order_relaxed)) {
		const struct iovec all = {dst, n_bytes};
		got = sys_call6(SYS_process_vm_writev, self(), (long)piece, (long)n_pieces,
				(long)&all, 1, 0);
		if (is_refused(got))
			atomic_store_explicit(&use_no_gather, true, memory_order_relaxed);
	}
	if (got > 0)
		return (size_t)got;
	/* The first piece cannot be read, or an address can belong to no program, or the kernel
	 * refuses the call. load_guarded() finds out. */
	for (size_t i = 0; i < n_pieces; i++)
		for (size_t in_piece = 0; in_piece < piece[i].iov_len;) {
			const size_t part = piece[i].iov_len - in_piece < MAX_BYTES
						    ? piece[i].iov_len - in_piece
						    : MAX_BYTES;
			const size_t n = load_guarded(
				to + done, (uintptr_t)piece[i].iov_base + in_piece, part);
			done += n;
			in_piece += n;
			if (n < part)
				return done;
		}
	return done;
}
