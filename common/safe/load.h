/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guarded load: reads memory of this process that may not be there. An address that cannot be read gives a short count, never a
 * signal. Signal-safe; errno is as it was. Any thread. Test: tests/unit/test_safe_load.c.
 */
#ifndef COMMON_SAFE_LOAD_H
#define COMMON_SAFE_LOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * Copies up to n_bytes (at most 4096) from `address` to dst and returns how many could be read, counted from the start; the rest of dst is
 * undefined. One system call (process_vm_readv, 0.3 us) when all goes well. Where the kernel refuses it (seccomp, no
 * CONFIG_CROSS_MEMORY_ATTACH) each page is probed with rt_sigprocmask and then read directly; a page that another thread unmaps
 * between the two would fault.
 */
size_t load_guarded(void *dst, uintptr_t address, size_t n_bytes);

/*
 * Gathers n_pieces (at most LOAD_PIECES_MOST), in their order and without gaps, at dst: how many bytes could be read, counted from the first; the rest of dst is undefined. One system call when all
 * goes well: process_vm_writev, to ourselves. There the kernel reads the pieces as it reads what is passed to any system call, 10 to 30 ns each, and looks up pages for dst alone; process_vm_readv
 * looks up a page for each piece, 130 to 350 ns. Where the kernel refuses it, one load_guarded() for each. Unlike that, it reads whatever the program itself could read, device memory too: for addresses that
 * were an object's, not for any number.
 */
size_t load_gathered(void *dst, const struct iovec *piece, size_t n_pieces);
enum { LOAD_PIECES_MOST = 1024 };

/* For tests: true makes these loads use the probe from now on. */
void load_use_probe(int on);

#endif
