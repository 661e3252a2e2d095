/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guarded load: reads memory of this process that may not be there. An address that cannot be read gives a short count, never a
 * signal. Signal-safe; errno is as it was. Any thread. Test: tests/unit/test_safe_load.c.
 */
#ifndef COMMON_SAFE_LOAD_H
#define COMMON_SAFE_LOAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies up to n_bytes (at most 4096) from `address` to dst and returns how many could be read, counted from the start; the rest of dst is
 * undefined. One system call (process_vm_readv, 0.3 us) when all goes well. Where the kernel refuses it (seccomp, no
 * CONFIG_CROSS_MEMORY_ATTACH) each page is probed with rt_sigprocmask and then read directly; a page that another thread unmaps
 * between the two would fault.
 */
size_t load_guarded(void *dst, uintptr_t address, size_t n_bytes);

/*
 * The same for n_places of n_bytes (at least 1) each, which go to dst, dst + stride ...: how many of them could be read whole, counted from the first. One system call for each 16,
 * 0.15 us a place.
 */
size_t load_guarded_many(void *dst, size_t stride, const uintptr_t *places, size_t n_bytes, size_t n_places);

/* For tests: true makes load_guarded use the probe from now on. */
void load_use_probe(int on);

#endif
