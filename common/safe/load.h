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

/* For tests: true makes load_guarded use the probe from now on. */
void load_use_probe(int on);

#endif
