/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guarded loads: read memory of this process that may not be mapped. An unreadable address gives a
 * short count, never a signal. Signal-safe; errno is unchanged. Any thread. Test:
 * tests/unit/common/test_safe_load.c.
 */
#ifndef COMMON_SAFE_LOAD_H
#define COMMON_SAFE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * Copies up to n_bytes (at most 4096) from `address` to `dst`. Returns how many bytes from the
 * start could be read; the rest of `dst` is undefined. Normally one system call, process_vm_readv,
 * 0.3 us.
 *
 * If the kernel refuses that call (seccomp, no CONFIG_CROSS_MEMORY_ATTACH), each page is probed
 * with rt_sigprocmask and then read directly. A page that another thread unmaps in between would
 * fault.
 */
size_t load_guarded(void *dst, uintptr_t address, size_t n_bytes);

/*
 * Returns true if the page of `address` can be read at this moment. A tenth of the cost of
 * load_guarded(), for memory that nobody is likely to unmap.
 */
bool load_is_readable(uintptr_t address);

/*
 * Copies n_pieces (at most LOAD_PIECES_MOST) to `dst`, in order and without gaps. Returns how many
 * bytes from the start could be read; the rest of `dst` is undefined.
 *
 * Normally one system call: process_vm_writev to this process. It reads each piece like the
 * argument of any system call, in 10 to 30 ns, and looks up pages for `dst` only. process_vm_readv
 * would look up a page for each piece, in 130 to 350 ns. If the kernel refuses the call, each piece
 * is read with load_guarded().
 *
 * Unlike load_guarded(), it reads whatever the program could read, including device memory. Use it
 * for addresses that belonged to an object, not for arbitrary numbers.
 */
size_t load_gathered(void *dst, const struct iovec *piece, size_t n_pieces);
enum { LOAD_PIECES_MOST = 1024 };

/* For tests: a true value makes both functions use the probe from now on. */
void load_use_probe(int on);

#endif
