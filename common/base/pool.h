/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a function over the indices 0 .. n-1 on several threads.
 * Test: tests/unit/common/test_base.c. */
#ifndef COMMON_BASE_POOL_H
#define COMMON_BASE_POOL_H

#include <stddef.h>

/*
 * Calls work(arg, i, worker) once for every i < n and returns when all calls are done. Indices are
 * handed out in order, one at a time. `worker` is the number of the calling thread, from 0 to
 * n_workers-1. n_workers 0 means one for each CPU that this process may use.
 *
 * Never fails: with one worker, or if threads cannot be created, the caller's thread does the work.
 * Returns the number of workers used.
 */
unsigned pool_run(size_t n, unsigned n_workers, void (*work)(void *arg, size_t i, unsigned worker),
		  void *arg);
/* The same, with a progress line from log_progress(). `label` names the work. */
unsigned pool_run_shown(const char *label, size_t n, unsigned n_workers,
			void (*work)(void *arg, size_t i, unsigned worker), void *arg);
/* Number of CPUs that this process may use; at least 1. */
unsigned pool_n_cpus(void);

#endif
