/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for what another thread of the process holds for a microsecond, or for longer if it makes
 * the measurement file grow or has no processor. For code outside of our signal handler, which
 * never waits. Not for what a thread may leave behind locked. Test: tests/unit/common/test_safe.c.
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
 * Waits a little: 100 times for some cycles (a turn of a caller may cost two system calls), 100
 * times by giving way, then 100 us each. Returns false, without a wait, when a second is over.
 * Keeps errno.
 */
bool patience_wait(struct patience *p);

#endif
