/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for something that another thread of the process holds. The thread holds it for a
 * microsecond, or longer if it makes the measurement file grow or has no processor. Use it only
 * outside our signal handler, which never waits. Do not use it for a lock that a thread may leave
 * locked for ever. Test: tests/unit/common/test_safe.c.
 */
#ifndef COMMON_SAFE_PATIENCE_H
#define COMMON_SAFE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* One for each thing that is waited for. Zero at first. */
struct patience {
	uint64_t start_ns;
	uint32_t n_waits;
};

/*
 * Waits a little: the first 100 calls spin for some cycles (the caller may make two system calls
 * between them), the next 100 yield the processor, and later ones sleep 100 us each. Returns false
 * without waiting when a second has passed. Keeps errno.
 */
bool patience_wait(struct patience *p);

#endif
